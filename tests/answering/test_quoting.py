"""What is quoted, and under which name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.answering.world import ground, hit
from tests.retrievers.world import page, store_of
from trivium.answering.answer import answer
from trivium.answering.events import Done


def test_a_document_is_named_as_people_write_it() -> None:
    """Its uri escapes the sign that begins a section."""
    store = store_of([page("C# guide", lead=[("LINQ is a query language for collections.", [])])], {})
    (chunk,) = store.chunk_uris()
    assert "%23" in chunk
    *_, last = answer("What is LINQ?", ground(store, [hit(store, chunk, 1)]), (), None)
    assert isinstance(last, Done)
    assert "C# guide: LINQ is a query language for collections." in last.answer.text


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What does clause 3.1 say?", "3.1 A guest leaves the key at the desk."),
        ("what is in section 3.1.2", "3.1.2 Lost keys cost 20 euro."),
        ("What is step 2?", "2. Turn the tap."),
        ("What does 3.1.2 of the house rules say?", "3.1.2 Lost keys cost 20 euro."),
        ("house rules, 3.1", "3.1 A guest leaves the key at the desk."),
        ("What does 3.12 of the rules say?", "3.12 We need:\na light\na bell"),
    ],
)
def test_a_numbered_sentence_answers_a_question_for_its_number(question: str, expected: str) -> None:
    clauses = (
        "3.1 A guest leaves the key at the desk.\n3.1.2 Lost keys cost 20 euro.\n3.11 Keys are numbered.\n"
        "3.12 We need:\na light\na bell\n\n3.13 That is all."
    )
    store = store_of([page("House", lead=[(clauses, []), ("1. Open the lid.\n2. Turn the tap.", [])])], {})
    hits = [hit(store, chunk, rank) for rank, chunk in enumerate(sorted(store.chunk_uris()), start=1)]
    *_, last = answer(question, ground(store, hits), (), None)
    assert isinstance(last, Done)
    assert last.answer.outcome == "answered" and expected in last.answer.text
    assert "3.11" not in last.answer.text


def test_a_numbered_heading_is_an_item_of_minutes_that_the_question_names() -> None:
    pages = [
        page("Minutes May", sections={"5. Roof": [("It leaks.", [])]}),
        page("Bylaws", sections={"5. Dogs": [("On a lead.", [])], "Opening": [("5. Unlock.", [])]}),
    ]
    store = store_of(pages, {})
    hits = [hit(store, chunk, rank) for rank, chunk in enumerate(sorted(store.chunk_uris()), start=1)]
    for asked, expected in [("Item 5 of the minutes", "It leaks."), ("What is item 5?", "5. Unlock.")]:
        *_, last = answer(asked, ground(store, hits), (), None)
        assert isinstance(last, Done)
        assert last.answer.form == "clause" and expected in last.answer.text


def test_what_is_inside_a_section_is_told_apart_from_the_same_number_elsewhere() -> None:
    items = {
        "§ 4 Gates": "(2) They shut at 8.",
        "§ 5 Burials": "(1) First.\n(2) Not before 48 hours.\n(3) Last.",
    }
    sections = {name: [(text, [])] for name, text in items.items()}
    store = store_of([page("Statute", lead=[("2. A rule.", [])], sections=sections)], {})
    hits = [hit(store, chunk, rank) for rank, chunk in enumerate(sorted(store.chunk_uris()), start=1)]
    *_, last = answer("What does § 5 (2) of the statute say?", ground(store, hits), (), None)
    assert isinstance(last, Done)
    assert last.answer.form == "clause" and last.answer.text.endswith("(2) Not before 48 hours. [3]")


def test_a_wished_risk_decides_what_is_an_answer() -> None:
    """The same part answers, with its probability, or is shown as one of the closest, if that is below what is asked."""
    said = "The harbour office opens at 8 in the morning."
    store = store_of([page("Harbour", lead=[(said, []), ("Boats are hired by the hour.", [])])], {})
    hits = [hit(store, chunk, rank) for rank, chunk in enumerate(sorted(store.chunk_uris()), start=1)]
    outcomes = {}
    for risk in (None, 1.0, 0.001):
        context = replace(ground(store, hits), risk=risk)
        *_, last = answer("When does the harbour office open?", context, (), None)
        assert isinstance(last, Done)
        assert said in last.answer.text
        outcomes[risk] = last.answer.outcome, last.answer.confidence
    assert outcomes[None] == outcomes[1.0] != outcomes[0.001] == ("closest", None)
    outcome, confidence = outcomes[None]
    assert outcome == "answered" and confidence is not None and 0 < confidence < 1


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("Who repairs the engines?", True),
        ("Who says hello?", False),  # the sentence itself has a word of it
        ("How are the engines repaired?", False),
    ],
)
def test_a_heading_that_says_who_is_quoted_with_what_stands_below_it(question: str, shown: bool) -> None:
    sections = {"Jonas Aker repairs the engines": [("Say hello when you are on board.", [])]}
    store = store_of([page("Crew", lead=[("The ferry sails at 8.", [])], sections=sections)], {})
    hits = [hit(store, chunk, rank) for rank, chunk in enumerate(sorted(store.chunk_uris()), start=1)]
    *_, last = answer(question, ground(store, hits), (), None)
    assert isinstance(last, Done)
    assert ("Crew > Jonas Aker repairs the engines: Say hello" in last.answer.text) is shown, last.answer
