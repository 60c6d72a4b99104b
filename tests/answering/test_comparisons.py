"""Questions that compare two things are answered by what the passages say of each, unless a sentence says it of both."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.answering.world import ground, hit, sentence_of
from tests.retrievers.world import page, store_of
from trivium.answering.answer import answer
from trivium.answering.answer_parts import part_of_row
from trivium.answering.comparisons import about_each, comparison_of, decides
from trivium.answering.events import Done
from trivium.answering.judge_parts import Judged
from trivium.answering.passages import NumberedPassage, passages
from trivium.answering.table_rows import rows_of
from trivium.types import Answer

PAGES = {
    "Program": "Ada Lovelace wrote the first long program of numbers. It was printed. It was read.",
    "Alan Turing": "Alan Turing was a mathematician. Alan Turing, born in 1912, was older than computers. He ran.",
    "Ada Lovelace": "Ada Lovelace wrote the first program. Ada Lovelace was born in 1815, long ago. She liked numbers.",
    "Computing": "Computing is old. Ada Lovelace and Alan Turing are pioneers of computing. Many were born later.",
    "Both": "Ada Lovelace is older than Alan Turing. She wrote notes. He wrote papers. Both are known. Others are not.",
    "Ada (programming language)": "Ada is a language. It is called after Ada Lovelace.",
}
STORE = store_of([page(title, lead=[(text, [])]) for title, text in PAGES.items()], {})
PROGRAM, ALAN, ADA, COMPUTING, BOTH, LANGUAGE = (f"{title}#chunk-1" for title in PAGES)


def asked(question: str, *uris: str) -> Answer:
    """The answer from some passages, without a model."""
    hits = [hit(STORE, uri, rank) for rank, uri in enumerate(uris, start=1)]
    *_, last = answer(question, ground(STORE, hits), (), None)
    assert isinstance(last, Done)
    return last.answer


@pytest.mark.parametrize(
    ("question", "what", "names"),
    [
        (
            "Who was born first: Ada Lovelace or Alan Turing ?",
            "Who was born first",
            ("Ada Lovelace", "Alan Turing"),
        ),
        ("which is larger, Mars, Venus, or the Moon?", "which is larger", ("Mars", "Venus", "Moon")),
        ("What is faster, tcp or udp", "What is faster", ("tcp", "udp")),
        ("Are Verdi and Ambroise Thomas both composers?", "Are both composers", ("Verdi", "Ambroise Thomas")),
        ("Do Ann and Bob have the same boss?", "Do have the same boss", ("Ann", "Bob")),
        ("Are Ann, Bob, and the Moon of the same age?", "Are of the same age", ("Ann", "Bob", "Moon")),
        ("Were Ann and Bob born in the same city?", "Were born in the same city", ("Ann", "Bob")),
        (
            "Who was born first, Ann B. Green or P. J. O'Rourke?",
            "Who was born first",
            ("Ann B. Green", "P. J. O'Rourke"),
        ),
        ("Is R-01 or R-02 the roomier unit?", "Is the roomier unit", ("R-01", "R-02")),
        ("Does the skiff or the cutter sail faster?", "Does sail faster", ("skiff", "cutter")),
        ("Is it cheaper to rent in Lund or in Malmö (per day)?", "Is it cheaper to rent", ("Lund", "Malmö")),
        ("In 2025, which was drier, May or June?", "which was drier In 2025", ("May", "June")),
        ("What's the difference between a sloop and a ketch?", "What's the difference", ("sloop", "ketch")),
        ("Which is dearer, the 20 or the 28 cm one?", "Which is dearer", ("20", "28 cm")),
        ("Is the skiff faster than the cutter?", "Is faster", ("skiff", "cutter")),
        ("Was May more humid than June?", "Was more humid", ("May", "June")),
        ("Who came first, Tom and Jerry or Popeye?", "Who came first", ("Tom and Jerry", "Popeye")),
    ],
)
def test_what_is_compared(question: str, what: str, names: tuple[str, ...]) -> None:
    """After a comma or colon, or before what is asked of all."""
    assert comparison_of(question) == (what, names)


@pytest.mark.parametrize(
    "question",
    [
        "What could be sued for under civil or criminal law?",
        "What types of parks receive special protection against damage or degradation?",
        "How many interviews are there before an offer to a candidate, internal or external?",
        "Cleopatra, Arsinoe or Berenice were common names for whom?",
        "Tea, coffee or milk?",
        "Who, or what, is it?",
        "Is it the same?",
        "Both?",
        " or ",
        "",
        "Which is it, this or that?",
        "Is Titan a moon of Saturn, Jupiter or Neptune?",
        "Is Mars, Venus or Mercury closer to the Sun?",
        "Is the diameter 5,150 or 5,260 kilometres?",
        "What is Io, and who found or named it?",
        "Who is older, Ann or him?",
        "Is the fee higher than 20 euros?",
        "Is she older than him?",
        "Was May colder than usual?",
        "Were sales higher than in 2020?",
        "Are cash or cards accepted?",
        "Did Ann and Bob win both prizes?",
        "Which rivers and lakes are in both countries?",
        f"Which is longer, {'A ' * 9}or B?",
    ],
)
def test_other_questions_compare_nothing(question: str) -> None:
    """Also those with the same words."""
    assert comparison_of(question) is None


def test_more_than_six_things_are_not_compared() -> None:
    """Otherwise a question could have thousands."""
    assert comparison_of("Which is larger" + ", B" * 5 + " or C?") is not None
    assert comparison_of("Which is larger" + ", B" * 6 + " or C?") is None


def said(passage: NumberedPassage, place: int) -> Judged:
    """One of its sentences."""
    return Judged(sentence_of(passage, passage.sentences[place]), 1.0)


def test_each_is_asked_for_by_itself_and_answered_by_a_part_of_its_own() -> None:
    comparison = comparison_of("Who is older, Ada Lovelace or Alan Turing?")
    assert comparison is not None
    asked_for: list[str] = []

    def quoted(*uris: str) -> list[str]:
        offered = passages([hit(STORE, uri, rank) for rank, uri in enumerate(uris, start=1)])
        asked_for.clear()

        def judge(question: str) -> list[Judged]:
            asked_for.append(question)
            return [said(passage, place) for passage in offered for place in (0, 1)]

        return [one.passage.hit.uri for one in about_each(comparison, judge)]

    assert quoted(ALAN, ADA) == [ADA, ALAN]
    assert asked_for == ["Who is older Ada Lovelace?", "Who is older Alan Turing?"]
    assert quoted(LANGUAGE, COMPUTING) == [LANGUAGE, COMPUTING]
    assert quoted(COMPUTING) == [COMPUTING]


def test_things_are_compared_by_their_rows() -> None:
    """A row has a thing if it says what tells it apart from the others."""
    text = "Item: Big bag; Price: 4\nItem: Small bag; Price: 3"
    (passage,) = passages([replace(hit(STORE, PROGRAM), text=text, kind="table")])
    rows = [Judged(part_of_row(row), 1.0) for row in rows_of(passage)]

    def each(question: str) -> list[str]:
        comparison = comparison_of(question)
        assert comparison is not None
        return [one.text.split("; ")[0] for one in about_each(comparison, lambda _: rows)]

    assert each("Which is dearer, a small bag or a big one?") == ["Item: Small bag", "Item: Big bag"]


def test_what_is_said_of_each_is_set_side_by_side() -> None:
    """In the order of the question, as no sentence says it of both."""
    alone = asked("Who wrote the first program, Ada Lovelace?", ADA, ALAN, COMPUTING)
    assert alone.text.startswith("Ada Lovelace wrote the first program.")
    whole = asked("Who is older than computers, Ada Lovelace or Alan Turing?", ALAN, ADA)
    assert whole.outcome == "answered"
    assert [part.number for part in whole.parts] == [2, 1]


def test_a_sentence_that_names_both_and_says_what_is_asked_is_the_answer() -> None:
    """That both are named is not enough, see above: they are pioneers."""
    whole = asked("Who is older, Ada Lovelace or Alan Turing?", ALAN, BOTH, ADA)
    assert whole.outcome == "answered" and "Ada Lovelace is older than Alan Turing." in whole.text
    assert [part.number for part in whole.parts] == [2]


def test_that_both_are_named_is_not_enough() -> None:
    """Something of what is asked has to be said, too."""
    (passage,) = passages([hit(STORE, COMPUTING)])
    named = said(passage, 1)
    for question, told in (("Who is older", False), ("Who are the pioneers of trees", True)):
        comparison = comparison_of(f"{question}, Ada Lovelace or Alan Turing?")
        assert comparison is not None and decides(named, comparison) is told


def test_what_is_about_one_only_leaves_the_closest_passages() -> None:
    """Three of them, as for other questions."""
    whole = asked("Who was older than computers, Alan Turing or Hopper?", COMPUTING, ALAN, ADA)
    assert whole.outcome == "closest"
    assert [statement.citations for statement in whole.statements] == [(1,), (2,), (3,)]
