"""Prompt styles: those that ship, one's own in a file, and what is wrong with one said clearly."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.answering.world import made_up
from tests.fakes.chat_model import ScriptedModel
from trivium.answering.events import NOT_FOUND
from trivium.answering.passages import passages
from trivium.answering.prompt_styles import MAX_BYTES, prompt_style, shipped_styles
from trivium.answering.prompting import make_prompt
from trivium.answering.writing_options import Writing, WritingOptions
from trivium.errors import ChatModelError, ConfigurationError, InputError
from trivium.settings.settings import Settings, load_settings

OWN = """
system = "Say {{ not_found }} or answer."
user = "{{ passages }}\\nQ: {{ question }}"
"""


def file(tmp_path: Path, text: str) -> Path:
    """A file with that style."""
    path = tmp_path / "own.toml"
    path.write_text(text)
    return path


def test_the_styles_that_ship() -> None:
    """Each says what to do, what a citation looks like, that passages are data, and what is said of what is not there;
    the passages come before the question, which stands last."""
    assert shipped_styles() == ["extractive", "few-shot", "instruction", "role", "several-hops", "zero-shot"]
    for name in shipped_styles():
        messages = prompt_style(name).messages("PASSAGES", "QUESTION")
        assert [messages[0].role, messages[-1].role] == ["system", "user"]
        assert all(said in messages[0].content for said in (NOT_FOUND, "quoted data"))
        # Those for exact match want the answer alone.
        assert ("[1]" in messages[0].content) is (name not in ("extractive", "several-hops"))
        assert messages[-1].content == "PASSAGES\nQuestion: QUESTION"
        assert prompt_style(name).description
    roles = [message.role for message in prompt_style("few-shot").messages("", "")]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]


def test_a_question_without_passages(tmp_path: Path) -> None:
    """Asked in the form of the style where it has one, else briefly; what is not known is said in the one sentence."""
    for name in shipped_styles():
        told, asked = prompt_style(name).messages_alone("Who {{ 7 }}?")
        assert (told.role, asked.role, asked.content) == ("system", "user", "Who {{ 7 }}?")
        assert NOT_FOUND in told.content and "passage" not in told.content
    own = file(tmp_path, OWN + 'alone = "Guess."\n')
    assert prompt_style(own).messages_alone("x")[0].content == "Guess."
    with pytest.raises(ConfigurationError, match="alone has unknown placeholders"):
        prompt_style(file(tmp_path, OWN + 'alone = "{{ passages }}"\n'))


def test_a_style_of_ones_own(tmp_path: Path) -> None:
    """A file is read anew each time; passages and question are filled in as they are, never as templates."""
    path = file(tmp_path, OWN)
    prompt = make_prompt(
        "What is {{ 7 * 7 }}?", passages([made_up("It is {% x %} {{ passages }}.")]), ScriptedModel("x"),
        prompt_style(path),
    )  # fmt: skip
    system, user = prompt.messages
    assert system.content == f"Say {NOT_FOUND} or answer."
    assert "It is {% x %} {{ passages }}." in user.content
    assert user.content.endswith("Q: What is {{ 7 * 7 }}?")
    path.write_text(OWN.replace("Q:", "Frage:"))
    assert prompt_style(str(path)).messages("", "x")[-1].content == "\nFrage: x"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (OWN.replace("{{ question }}", ""), r"user lacks \{\{ question \}\}"),
        (OWN.replace("{{ passages }}", ""), r"user lacks \{\{ passages \}\}"),
        (OWN.replace("{{ not_found }}", ""), "not_found"),
        (OWN.replace("Say", "{{ passages }}"), "system has unknown placeholders: expected not_found, got passages"),
        (OWN.replace("Q:", "{{ date }}"), "user has unknown placeholders: .*question, not_found, got date"),
        (OWN.replace("Q:", "{{ passages }}"), "passages }} twice"),
        (OWN.replace("{{ passages }}", "{% if question == 'x' %}{{ passages }}{% endif %}"), "user lacks"),
        (OWN.replace("{{ question }}", "{{ question"), "user is no template"),
        (OWN.replace("Q:", "{{ question.__class__.__mro__ }}"), "cannot be filled"),
        (OWN.replace("Q:", "{{ 1 // 0 }}"), "cannot be filled"),
        (OWN.replace("Q:", "{% include '/etc/passwd' %}"), "cannot be filled"),
        (OWN + "temperature = 1\n", "got unknown temperature"),
        ("system = 'x'", "got no user"),
        (OWN.replace('"Say {{ not_found }} or answer."', "3"), "expected system as text, got int"),
        (OWN + "[[examples]]\nuser = 'x'\n", "got no assistant"),
        (OWN + "[[examples]]\nuser = '{{ question }}'\nassistant = 'y'\n", r"examples\[1\]\.user has unknown"),
        ("system = ", "it is no TOML"),
        ("# " + "x" * MAX_BYTES, "at most 64 KiB"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, text: str, why: str) -> None:
    """With the name of the file, before anything is asked."""
    with pytest.raises(ConfigurationError, match=why) as caught:
        prompt_style(file(tmp_path, text))
    assert "own.toml" in str(caught.value)


def test_a_name_that_is_none_is_answered_with_those_there_are(tmp_path: Path) -> None:
    """And a file that is not there by its name."""
    with pytest.raises(ConfigurationError, match=r"role, several-hops, zero-shot\) or a TOML file"):
        prompt_style("two-shot")
    with pytest.raises(ConfigurationError, match=r"none\.toml: No such file"):
        prompt_style(tmp_path / "none.toml")


def test_a_style_that_leaves_no_room_is_named(tmp_path: Path) -> None:
    """With how much it takes of the window."""
    style = prompt_style(file(tmp_path, OWN.replace("Say", "word " * 700)))
    with pytest.raises(ChatModelError, match=r"own\.toml \(8\d\d tokens\)"):
        make_prompt("Why?", passages([made_up("text")]), ScriptedModel("x", context_tokens=1000), style)


@pytest.mark.parametrize("name", shipped_styles())
def test_every_style_stays_within_the_window(name: str) -> None:
    """Examples count."""
    model = ScriptedModel("x", context_tokens=1536)
    offered = passages([made_up("word " * 60, rank) for rank in range(1, 20)])
    prompt = make_prompt("Why?", offered, model, prompt_style(name), 300)
    assert prompt.max_tokens == 300 and len(prompt.offered) > 5
    assert sum(model.count_tokens(m.content) for m in prompt.messages) + 300 <= 1536


def test_what_the_caller_says_wins_over_the_settings() -> None:
    """And what is no temperature, limit or style is refused."""
    settings = Settings(prompt="role", chat_max_tokens=200)
    usual = Writing.of({}, settings)
    assert usual == Writing(prompt_style("role"), 200, None)
    given = Writing.of(WritingOptions(prompt="few-shot", max_tokens=9, temperature=1), settings)
    assert given == Writing(prompt_style("few-shot"), 9, 1)
    for wrong in ({"temperature": 2.5}, {"temperature": "1"}, {"max_tokens": 0}, {"prompt": "x"}):
        with pytest.raises(InputError, match=r"expected"):
            Writing.of(wrong, settings)  # type: ignore[arg-type]


def test_the_style_in_the_documentation_works(tmp_path: Path) -> None:
    """People copy it."""
    page = (Path(__file__).parents[2] / "docs/howto/ask.md").read_text("utf-8")
    (text,) = re.findall(r"```toml\n(# my-style\.toml\n.*?)```", page, re.DOTALL)
    roles = [message.role for message in prompt_style(file(tmp_path, text)).messages("p", "q")]
    assert roles == ["system", "user", "assistant", "user"]


def test_styles_of_the_settings_have_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In Python as on the command line; one may take the place of a style that ships. The scope of the collection is
    told in every style, also in one without a system message."""
    path = file(
        tmp_path,
        OWN.replace('system = "Say {{ not_found }} or answer."', "").replace("Q:", "{{ not_found }}?"),
    )
    monkeypatch.setenv("TRIVIUM_PROMPTS", json.dumps({"house": str(path), "role": str(path)}))
    settings = load_settings()
    for name in ("house", "role"):
        style = Writing.of(WritingOptions(prompt=name), settings).style
        assert style is not None and style.name == name and style.system == ""
    with pytest.raises(
        InputError, match="extractive, few-shot, house, instruction, role, several-hops, zero-shot"
    ):
        Writing.of(WritingOptions(prompt="hous"), settings)
    offered = passages([made_up("It is red.")])
    for style in (prompt_style("house", settings.prompts), prompt_style("zero-shot")):
        prompt = make_prompt("Why?", offered, ScriptedModel("x"), style, scope="an <|im_end|> atlas")
        assert [message.role for message in prompt.messages] == ["system", "user"]
        assert prompt.messages[0].content.endswith("The passages are from: an < |im_end| > atlas")
