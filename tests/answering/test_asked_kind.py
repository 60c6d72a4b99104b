"""What is asked of somebody or something must be said of them: a value of another kind, or another fact, is no answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.answering.test_follow_ups import talk
from tests.built_stores import EMBEDDER
from trivium.answering.answer_parts import Part
from trivium.answering.asked_kind import lacks_kind
from trivium.answering.passages import passages
from trivium.engine import Engine
from trivium.types import ChunkKind, Hit

MINUTES = """Velm Rowing Club
Minutes of the committee, 4 June 2025

The boathouse is painted. It cost 1,900 crowns in the end.
Ada Kern reported that two oars were lost in May. The town pays 260 crowns.
"""
REGATTA = "The regatta is on 12 July on the island of Orrey. Everybody brings a cake.\n"
RULES = "# Boat rules\n\nApproved by Ada Kern on 3 May 2024.\n\nBoats are booked with Bo Lind.\n"
PRICES = "Boat,Hour,Day\nSkiff,8.50,40\nGig,12.00,65\nPunt,6.25,31\nCanoe,5.00,22\n"
FILES = {"minutes.txt": MINUTES, "regatta.txt": REGATTA, "rules.md": RULES, "prices.csv": PRICES}


def part(text: str, kind: str = "sentence") -> Part:
    hit = Hit("a", text, 1.0, 1, "A", "A", ChunkKind.PARAGRAPH, 0, len(text))
    return Part(passages([hit])[0], kind, 0, len(text), text)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("question", "answering", "other"),
    [
        ("When is the regatta?", "It is on Sunday.", "It is on the island."),
        ("Since when is it closed?", "Closed since 1978.", "Closed to cars."),
        ("Where does the Orr flow?", "The Orr flows past Velm.", "The Orr was mapped by Ada Kern."),
        ("And where?", "It is on the island of Orrey.", "It is on 12 July, in summer."),
        ("How many boats have we?", "We have twelve boats.", "On 12 July 2025 at 18:00 all boats sail."),
        ("How many boats for 3 people?", "Boats for 3 people: 4.", "Boats for 3 people."),
        ("How much does it cost?", "It costs 260 crowns.", "It was painted in 2024."),
        ("How long is the pier?", "The pier is 40 m long.", "The pier cost 1,900 crowns."),
        ("Wie viele Boote gibt es?", "Es gibt zwölf.", "Es gibt Boote."),
        ("¿Cuántos barcos hay?", "Hay doce barcos.", "Los barcos son azules."),
        ("Сколько лодок в клубе?", "В клубе пять лодок.", "В клубе есть лодки."),
        ("Πόσα σκάφη υπάρχουν;", "Υπάρχουν τρία σκάφη.", "Τα σκάφη είναι μπλε."),
        ("كم عدد القوارب؟", "خمسة قوارب.", "القوارب زرقاء."),
        ("कितनी नावें हैं?", "पाँच नावें हैं।", "नावें नीली हैं।"),
        ("มีเรือกี่ลำ", "มีเรือ 5 ลำ", "เรือเป็นของสโมสร"),
        ("Kaç tekne var?", "Beş tekne var.", "Tekneler mavi."),
        ("Có bao nhiêu thuyền?", "Có tám thuyền.", "Thuyền màu xanh."),
        ("有多少船？", "有五艘船。", "船是蓝色的。"),
        ("How old is Bo Lind?", "Bo Lind was born in May 1990.", "Boats are booked with Bo Lind."),
    ],
)
def test_a_value_of_another_kind_is_told_apart(question: str, answering: str, other: str) -> None:
    assert lacks_kind(question, part(other))
    assert not lacks_kind(question, part(answering))


def test_only_the_head_of_a_question_asks_and_cells_are_no_prose() -> None:
    assert not lacks_kind("Why can't I row when it is icy?", part("Rowing is forbidden, because oars slip."))
    assert not lacks_kind("Where is the skiff from?", part("Boat: Skiff; Origin: Velm", "row"))
    assert not lacks_kind("How long is the play?", part("26-05 | A Mill for Two | 110"))
    assert lacks_kind("How tall is Bo Lind?", part("Name: Bo Lind; Post: Cook", "row"))


@pytest.fixture(scope="module")
def club(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine.create(tmp_path_factory.mktemp("club") / "store", EMBEDDER) as engine:
        engine.add_files(FILES, workers=1)
        yield engine


@pytest.mark.parametrize(
    "question",
    [
        "When was Ada Kern born?",
        "How old is Bo Lind?",
        "How much does the regatta cost?",
        "Where were the rules approved?",
        "Who is Ada Kern married to?",
    ],
)
def test_another_fact_about_the_same_is_no_answer(question: str, club: Engine) -> None:
    assert club.ask(question).outcome != "answered"


def test_what_is_said_still_answers_in_one_sentence(club: Engine) -> None:
    for question, said, beside in [
        ("Who approved the boat rules?", "Ada Kern", "Bo Lind"),
        ("When is the regatta?", "12 July", "260"),
        ("How much did the painting of the boathouse cost?", "1,900", "12 July"),
    ]:
        found = club.ask(question)
        assert found.outcome == "answered", question
        assert said in found.text and beside not in found.text


def test_a_follow_up_asks_for_what_it_lacks_only(club: Engine) -> None:
    _, where, who = talk(club, "When is the regatta?", "And where?", "And who pays?")
    assert where.searched_for == "Where is the regatta?" and "Orrey" in where.text
    assert who.searched_for is not None and "And where" not in who.searched_for
    _, skiff, gig = talk(club, "What does the Skiff cost for an hour?", "And the Gig?", "And the Kayak?")
    assert "12.00" in skiff.text and "8.50" not in skiff.text
    assert gig.outcome != "answered"
    _, born = talk(club, "Who approved the boat rules?", "And where was she born?")
    assert born.outcome != "answered"


def test_all_rows_that_a_question_names_are_shown_and_how_sure(club: Engine) -> None:
    found = club.ask("What do the skiff, the punt and the canoe cost?")
    assert found.outcome == "answered" and found.confidence is not None
    assert all(said in found.text for said in ("8.50", "6.25", "5.00")) and "12.00" not in found.text


def test_the_item_of_a_list_answers_and_not_the_list(tmp_path: Path) -> None:
    items = (
        "The year:\n\n- Takings were 61,300 crowns.\n- Members lost were 12.\n- A gig was bought in Orrey.\n"
    )
    with Engine.create(tmp_path / "store", EMBEDDER) as engine:
        engine.add_files({"year.md": f"# The year\n\n{items}"}, workers=1)
        found = engine.ask("What were the takings?")
    assert "61,300" in found.text and "Orrey" not in found.text
