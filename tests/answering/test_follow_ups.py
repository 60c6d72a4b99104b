"""Follow-ups mean what the last answer was about; complete questions stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.answering.table_files import in_excel, in_html, in_word
from tests.built_stores import EMBEDDER, ROOT, copy_of_sample
from tests.fakes.memory_store import MemoryStore
from trivium.answering.events import CLOSEST
from trivium.answering.follow_up_questions import complete
from trivium.answering.named_in_answer import name_of, thing_of
from trivium.engine import Engine
from trivium.types import Answer, Turn

FIRST = "Who discovered the two moons of Mars?"
_ROW = re.compile(r"\| [^|]*\| (\*[^|]+\*) \| \*([^|]+)\* \|")


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """The sample that ``trivium demo`` loads."""
    with Engine.open(copy_of_sample(tmp_path_factory.mktemp("talk") / "store")) as engine:
        yield engine


def documented() -> list[tuple[str, str]]:
    """The follow-ups in the guide, and what it says is searched for."""
    guide = (ROOT / "docs/howto/ask.md").read_text("utf-8")
    rows = _ROW.findall(guide[guide.index(f"example after *{FIRST}*") :])
    return [(question, searched) for cell, searched in rows for question in re.findall(r"\*([^*]+)\*", cell)]


def test_follow_ups_are_searched_for_as_documented(sample: Engine) -> None:
    assert len(documented()) == 9
    first = sample.ask(FIRST)
    assert "Asaph Hall" in first.text and "Schiaparelli" not in first.text
    for question, searched in documented():
        found = sample.ask(question, history=[{"question": FIRST, "answer": first.text}])
        assert found.searched_for == searched, question
    born = sample.ask("When was he born?", history=[{"question": FIRST, "answer": first.text}])
    assert born.outcome == "answered" and "1829" in born.text


def test_a_name_or_code_takes_the_place_of_the_one_asked_for_before() -> None:
    """If there is one only, and nothing else is asked; any other question that goes on stands behind the one before."""
    store = MemoryStore()
    for asked, said, completed in [
        ("What should I do about W510?", "And E511?", "What should I do about E511?"),
        ("What is due for level 2 at 9?", "and for level 3?", "What is due for level 3 at 9?"),
        ("Is level 2 like level 3?", "and level 4?", "Is level 2 like level 3? and level 4?"),
        ("Is W510 like W511?", "And E511?", "Is W510 like W511? And E511?"),
        ("Who is the matron of Otter?", "And in Quarry?", "Who is the matron of Quarry?"),
        ("How long must they proof?", "Why not warmer?", "How long must they proof? Why not warmer?"),
        ("When is it late?", "And if that happens again?", "When is it late? And if that happens again?"),
        ("Does one win?", "And what's the price?", "Does one win? And what's the price?"),
        ("Does one win?", "And what do three long poems cost?", "And what do three long poems cost?"),
        (
            "What should I do about W510?",
            "And E511 in winter?",
            "What should I do about W510? And E511 in winter?",
        ),
    ]:
        assert complete(said, [Turn(asked, "Wait. [1]")], store) == completed


def test_a_question_without_what_it_asks_for_asks_for_the_same() -> None:
    """Whichever verb it has; "which" with a noun behind it is complete."""
    asked = Turn("Which boats need a B licence?", "Hut: Lys; Licence: B\nHut: Orn; Licence: B [1]")
    for said, completed in [
        ("And which need an A licence?", "Which boats need an A licence?"),
        ("But which have more than 2 seats?", "Which boats have more than 2 seats?"),
        ("And which huts have a stove?", "And which huts have a stove?"),
    ]:
        assert complete(said, [asked], MemoryStore()) == completed


def test_them_are_the_rows_last_listed() -> None:
    """By one answer, or by several of one row each; not what only the closest passages say."""
    several = Turn("Which are dry?", "Huts: Hut: Lys; Beds: 4 [1]\nHut: Orn; Beds: 9 [1]")
    lys, orn = Turn("Dry?", "Hut: Lys; Beds: 4 [1]"), Turn("Cold?", "Hut: Orn; Beds: 9 [1]")
    named = "Which of Lys and Orn is cheaper?"
    for history in ([several], [lys, orn], [several, lys, orn]):
        assert complete("Which of them is cheaper?", history, MemoryStore()) == named
    closest = Turn(several.question, f"{CLOSEST}\n{several.answer}")
    for history in ([lys], [closest]):
        assert "Lys" not in complete("Which of them is cheaper?", history, MemoryStore())


CREW = [
    ("Post", "Name", "Cabin", "Hired"),
    ("Master", "Ulla Finch", "2", "2011"),
    ("Chief mate", "Jonas Brandt", "5", "2015"),
    ("Cook", "Mireille Ode", "9", "2019"),
]


FILES: Mapping[str, str | bytes] = {
    "crew.csv": "\n".join(map(",".join, CREW)),
    "crew.html": in_html("Crew", CREW),
    "crew.docx": in_word("Crew", CREW),
    "crew.xlsx": in_excel(CREW),
}
MANUAL = (
    "# Manual of the winch\n\n## Starting\n\n1. Open the oil cock.\n2. Push the lever down.\n\n"
    "## Log\n\nThe winch room was locked in 2021 because a belt had snapped.\n"
)


def talk(engine: Engine, *questions: str) -> list[Answer]:
    """The answers to questions, each in the context of those before it."""
    answers: list[Answer] = []
    for question in questions:
        before = [{"question": one.question, "answer": one.text} for one in answers]
        answers.append(engine.ask(question, history=before))
    return answers


@pytest.mark.parametrize("name", FILES)
def test_a_row_just_quoted_answers_again_and_no_other(name: str, tmp_path: Path) -> None:
    with Engine.create(tmp_path / "store", EMBEDDER) as engine:
        engine.add_files({name: FILES[name], "winch.md": MANUAL}, workers=1)
        _, cabin, other, hired, start = talk(
            engine,
            "Who is the cook?",
            "Which cabin does she have?",
            "Who is the chief mate?",
            "When was he hired?",
            "How do I start the winch?",
        )
        row = {"question": "Who is the cook?", "answer": "Crew: Post: Cook; Name: Mireille Ode [1]"}
        when = engine.ask("And how long has she been on board?", history=[row])
    assert when.outcome == "answered" and "2019" in when.text  # the row has no word of the question
    assert cabin.searched_for == "Which cabin does Mireille Ode have?"
    assert cabin.outcome == "answered" and "Cabin: 9" in cabin.text and "Ulla" not in cabin.text
    assert other.searched_for == other.question and "Jonas Brandt" in other.text
    assert hired.searched_for == "When was Jonas Brandt hired?" and "2015" in hired.text
    assert start.searched_for == start.question
    assert start.text.index("oil cock") < start.text.index("Push the lever")


def test_a_reason_just_quoted_and_the_next_of_two_are_answered(tmp_path: Path) -> None:
    with Engine.create(tmp_path / "store", EMBEDDER) as engine:
        engine.add_files({"crew.csv": FILES["crew.csv"], "winch.md": MANUAL}, workers=1)
        _, why = talk(engine, "When was the winch room locked?", "Why?")
        _, cook = talk(engine, "Who is the chief mate?", "And the cook?")
    assert why.outcome == "answered" and "belt had snapped" in why.text
    assert "Mireille Ode" in cook.text


@pytest.mark.parametrize(
    "question",
    [
        "How do I start the winch?",
        "What is the code of the oil cock?",
        "Which crane owes its name to a river?",
        "and which crane owes its name to a river?",
        "Where did Asaph Hall take his degree?",
        "What are grab cranes, the ones that dig?",
        "How many tonnes did the Crew carry?",
    ],
)
def test_a_complete_question_is_not_changed(question: str, sample: Engine) -> None:
    before = [
        {
            "question": "Who is the head of winches?",
            "answer": "Crew: Post: Head of winches; Name: Ola Rik; Cabin: 4 [1]",
        },
    ]
    assert sample.ask(question, history=before).searched_for == question


def test_the_person_of_an_answer_is_the_one_nearest_to_what_was_asked() -> None:
    said = "One morning Ada Kern found the leak, while far away in Oslo the plumber Bo Lind slept."
    assert name_of("Who found the leak?", said, []) == "Ada Kern"
    assert (
        name_of("Who found the leak?", "The leak was found by Bo Lind, not by me, said Ada Kern.", [])
        == "Bo Lind"
    )
    assert name_of("Who is Ada Kern?", "Ada Kern is a baker.", ["Ada Kern"]) is None
    assert name_of("Who won?", "Ada Kern and Bo Lind.", []) is None
    assert name_of("Who leads it?", "Nobody.", []) is None
    assert (
        name_of("Who is the caretaker?", "Call the caretaker, Rosa Al-Amin, before noon.", [])
        == "Rosa Al-Amin"
    )


def test_the_thing_of_an_answer_is_a_row_or_the_subject_of_its_sentence() -> None:
    assert thing_of("How deep is it?", "Guide: Lake: Orva; Depth: 12") == "Orva"
    assert thing_of("How large is it?", "Flat: 7/50; Rooms: 5") == "Flat 7/50"
    assert thing_of("What is there?", "Lake: Orva; Depth: 12\nLake: Ulm; Depth: 3") is None
    assert thing_of("How long does a lease last?", "A lease lasts ten years.") == "a lease"
    assert thing_of("How long does it last?", "A lease lasts ten years.") is None
    assert thing_of("", "") is None
