"""Selectors choose only what was offered, whether they match words or ask a language model."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import pytest

from trivium.errors import ChatModelError, ConfigurationError
from trivium.graph.schema import headings_of
from trivium.llm.chat_model import Message
from trivium.llm.json_replies import JsonSchema
from trivium.retrievers.llm_path_selectors import LlmSelector, make_selector, prompt, read_choice
from trivium.retrievers.path import MatchSelector, MatchSettings, Option, OptionKind, word_overlap


def section(uri: str, cosine: float = 0.0) -> Option:
    names = tuple(headings_of(uri))
    return Option(OptionKind.SECTION, uri, " > ".join(names), names, (uri,), cosine)


OPTIONS = [
    section("Mars"),
    section("Mars#Moons"),
    section("Washington, D.C.#History"),
    Option(OptionKind.PATH, "Mars -[moon]-> Phobos", "Mars -[moon]-> Phobos", ("Mars", "Phobos"), (), 0.0),
]


class Scripted:
    """A chat model that says what it is told to, and keeps what it was asked."""

    name = "scripted"

    def __init__(self, answer: str | ChatModelError) -> None:
        self.answer = answer
        self.asked: list[Message] = []

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        schema: JsonSchema | None = None,
    ) -> str:
        self.asked = list(messages)
        self.schema = schema or {}
        assert temperature == 0.0
        if isinstance(self.answer, ChatModelError):
            raise self.answer
        return self.answer


# -- language model ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "numbers"),
    [
        ("2", [2]),
        ("4, 2", [4, 2]),
        ("[2, 4]", [2, 4]),
        ("2 and 4", [2, 4]),
        ("1.\n2.", [1, 2]),
        ("- 2. Mars > Moons\n- 4) Mars -[moon]-> Phobos", [2, 4]),
        ("#2", [2]),
        ("2, 2, 2", [2]),
        ("<think>Perhaps 1, 3?</think>\n2", [2]),
        ('{"places": [4, 2, 4]}', [4, 2]),
        ('Here you are: {"places": [2, 9, 0, "1", true, 2.0]}', [2]),
        ('<think>{"places": [1]}</think>{"places": [3]}', [3]),
    ],
)
def test_answers_are_read_leniently(answer: str, numbers: list[int]) -> None:
    assert read_choice(answer, OPTIONS) == [OPTIONS[number - 1] for number in numbers]


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "none",
        "None.",
        "0",
        "5",
        "-1 to 9",
        "99999999999999999999",
        "Venus#Moons",
        "I looked at 4 places",
        "2 of these fit, maybe",
        "2.5",
        "<think>2",
        "DROP TABLE chunk",
        '{"places": []}',
        '{"places": "2"}',
        '{"places": [2',
    ],
)
def test_anything_else_is_nothing(answer: str) -> None:
    assert read_choice(answer, OPTIONS) == []


def test_the_prompt_numbers_what_is_offered_and_names_the_question() -> None:
    model = Scripted("2,4")
    assert LlmSelector(model).select("Which moons?", OPTIONS) == [OPTIONS[1], OPTIONS[3]]
    system, user = model.asked
    assert system.role == "system" and "at most 3" in system.content and '{"places": [...]}' in system.content
    assert model.schema["properties"]["places"]["items"]["enum"] == [1, 2, 3, 4]
    assert user.role == "user" and "Which moons?" in user.content
    assert "1. Mars\n2. Mars > Moons\n3. Washington, D.C. > History\n4. Mars -[moon]-> Phobos" in user.content


def test_braces_in_titles_and_questions_are_only_text() -> None:
    """Formatting happens before foreign text comes in."""
    _, user = prompt("What is {most}?", [section("Set {0}")], 2)
    assert "{most}" in user.content and "Set {0}" in user.content


def test_no_more_than_the_most_are_taken() -> None:
    assert LlmSelector(Scripted("1,2,3,4"), most=2).select("?", OPTIONS) == OPTIONS[:2]


def test_a_model_that_fails_chooses_nothing_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert LlmSelector(Scripted(ChatModelError("no route"))).select("?", OPTIONS) == []
    assert "scripted" in caplog.text and "no route" in caplog.text


def test_nothing_offered_is_nothing_asked() -> None:
    model = Scripted("1")
    assert LlmSelector(model).select("?", []) == []
    assert model.asked == []


# -- matching ---------------------------------------------------------------------------------------------


def test_word_overlap_by_hand() -> None:
    """Of {mar, moon} the question has moon; stemming makes Moons and moon one word."""
    assert word_overlap(frozenset({"moon", "how"}), ("Mars", "Moons")) == 0.5
    assert word_overlap(frozenset({"moon"}), ("?!",)) == 0.0


def test_scores_are_standardised_cosine_plus_weighted_overlap() -> None:
    """Cosines .2 and .4 are -1 and 1; the first has both its words in the question: -1 + 2 x 1 = 1."""
    selector = MatchSelector(MatchSettings(overlap=2.0))
    options = [section("Red#Planet", 0.2), section("Blue#Giant", 0.4)]
    assert selector.scores("the red planet", options).round(6).tolist() == [1.0, 1.0]


def test_an_option_that_stands_out_is_chosen_with_those_close_behind() -> None:
    options = [section(f"P#Section {i}", 0.3) for i in range(20)]
    options += [section("P#A", 0.8), section("P#B", 0.79), section("P#C", 0.5)]
    assert [option.identifier for option in MatchSelector().select("?", options)] == ["P#A", "P#B"]


def test_when_nothing_stands_out_nothing_is_chosen() -> None:
    assert MatchSelector().select("?", [section(f"P#{i}", 0.5) for i in range(8)]) == []
    assert MatchSelector().select("?", []) == []


def test_no_more_than_the_set_number_are_chosen_ties_by_identifier() -> None:
    options = [section(f"P#{i}", 0.9) for i in "dcba"] + [section(f"P#x{i}", 0.1) for i in range(40)]
    chosen = MatchSelector(MatchSettings(options=2)).select("?", options)
    assert [option.identifier for option in chosen] == ["P#a", "P#b"]


@pytest.mark.parametrize("values", [{"overlap": -1.0}, {"margin": float("nan")}, {"options": 0}])
def test_settings_out_of_range_are_refused(values: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError, match=f"path.match.{next(iter(values))}"):
        MatchSettings(**values)  # type: ignore[arg-type]


# -- instructions of one's own ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "identifiers"),
    [
        ("Mars > Moons; mars", ["Mars#Moons", "Mars"]),
        (
            "- Washington, D.C. > History\n2. Mars -[moon]-> Phobos",
            ["Washington, D.C.#History", "Mars -[moon]-> Phobos"],
        ),
        ("ND", []),
        ("Mars > Seas; `Mars`.", ["Mars"]),
        ('{"places": [2]}', ["Mars#Moons"]),
    ],
)
def test_by_own_instructions_a_reply_may_name_places(answer: str, identifiers: list[str]) -> None:
    """As they were listed, in any case; what was not offered is left out; numbers in JSON count as ever. The instructions
    stand in place of ours, and no form of the reply is imposed."""
    model = Scripted(answer)
    found = LlmSelector(model, None, "Name the places; ND if none.").choose("Which moons?", OPTIONS)
    assert [option.identifier for option in found] == identifiers
    assert model.asked[0] == Message("system", "Name the places; ND if none.") and model.schema == {}
    assert "2. Mars > Moons" in model.asked[1].content
    assert LlmSelector(Scripted("Mars > Moons; Mars")).choose("Which moons?", OPTIONS) == []


def test_the_setting_names_their_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The thesis's are such a file; an empty, a binary and a missing one are refused by name."""
    thesis = Path(__file__).parents[2] / "experiments" / "thesis" / "prompts" / "path.txt"
    monkeypatch.setenv("TRIVIUM_CHAT_MODEL", "openai:x")
    monkeypatch.setenv("TRIVIUM_CHAT_BASE_URL", "http://localhost:9/v1")
    monkeypatch.setenv("TRIVIUM_PATH_PROMPT", str(thesis))
    made = make_selector("llm-all")
    assert isinstance(made, LlmSelector) and made.most is None
    assert made.instructions == thesis.read_text("utf-8").strip()
    for content, said in ((b"", "an empty file"), (b"\xff\xfe", "other bytes"), (None, "No such file")):
        file = tmp_path / "own.txt"
        file.unlink(missing_ok=True)
        if content is not None:
            file.write_bytes(content)
        monkeypatch.setenv("TRIVIUM_PATH_PROMPT", str(file))
        with pytest.raises(ConfigurationError, match=said):
            make_selector("llm")
