"""Which of two documents that say different things about the same answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from trivium.answering.stated_values import differ
from trivium.engine import Engine


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("manual 2.9.md", "manual 2.10.md"),
        ("manual v1.md", "manual v2.md"),
        ("manual 2024-05.md", "manual 2025-01.md"),
    ],
)
def test_the_later_date_or_version_of_the_same_name_answers(older: str, newer: str, tmp_path: Path) -> None:
    files = {
        older: "# Hut prices\n\nThe guest room of the hut costs 32 euros per night.\n",
        newer: "# Prices of the hut\n\nThe guest room of the hut costs 41 euros per night.\n",
    }
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.add_files(files, workers=1)
        found = engine.ask("What does the guest room of the hut cost per night?")
    assert found.outcome == "answered" and "41" in found.text and "32" not in found.text


@pytest.mark.parametrize(
    ("one", "other", "relation"),
    [
        ("prices 2025.md", "prices 2026.md", "earlier"),
        ("prices.md", "hut.md", "unknown"),
    ],
)
def test_what_another_document_says_instead_is_shown(
    one: str, other: str, relation: str, tmp_path: Path
) -> None:
    files = {
        one: "# Hut prices\n\nThe guest room of the hut costs 32 euros per night.\n",
        other: "# Prices of the hut\n\nThe guest room of the hut costs 41 euros per night.\n",
    }
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.add_files(files, workers=1)
        found = engine.ask("What does the guest room of the hut cost per night?")
    (instead,) = found.disagreements
    assert instead.relation == relation
    assert instead.document != found.citations[0].document
    assert instead.text in files[instead.document]
    assert instead.text not in found.text


@pytest.mark.parametrize(
    "other",
    [
        "The guest room of the hut costs EUR 32.00 per night.",
        "The guest room of the hut costs 3 euros per night less for members.",
        "The guest room of the hut has 4 beds and a stove.",
        "The guest room of the hut was painted in 2024, which cost 700 euros.",
        "Breakfast costs 11 euros per person.",
    ],
)
def test_what_is_about_something_else_is_no_disagreement(other: str, tmp_path: Path) -> None:
    files = {
        "prices.md": "# Hut prices\n\nThe guest room of the hut costs 32 euros per night.\n",
        "hut.md": f"# The hut\n\n{other}\n",
    }
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.add_files(files, workers=1)
        found = engine.ask("What does the guest room of the hut cost per night?")
    assert found.outcome == "answered" and found.disagreements == ()


def test_a_row_chosen_by_a_condition_gives_way_to_a_newer_document(tmp_path: Path) -> None:
    """Whose columns have other heads."""
    files = {
        "prices 2025.csv": "Wine,Bottle (EUR),Case (EUR)\nStony Row,13.50,77.00\nLate Lamp,19.00,108.00",
        "prices 2026.csv": "Wine,Sugar (g/l),Bottle (EUR)\nStony Row,6.8,14.30\nLate Lamp,80,21.00",
    }
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.add_files(files, workers=1)
        found = engine.ask("What is the price of a bottle of Stony Row?")
    assert found.outcome == "answered" and "14.30" in found.text and "13.50" not in found.text
    assert [(one.document, one.relation) for one in found.disagreements] == [("prices 2025.csv", "earlier")]


@pytest.mark.parametrize(
    ("one", "other", "days", "expected"),
    [
        ("The price rises from 32 to 36 euros.", "Guest flat; Amount (EUR): 32", False, True),
        ("The price rises from 32 to 36 euros.", "Guest flat; Amount (EUR): 36", False, False),
        ("It closes at 17:30.", "Open from 10:00 to 18:00.", False, True),
        ("Within 20 minutes instead of 25.", "Within 25 min.", False, True),
        ("They lapse on 31 March.", "They lapse on 30 June.", True, True),
        ("They lapse on 31 March.", "They lapse on 30 June.", False, False),
        ("Carries 1,500 kg.", "Carries 1500 kg.", False, False),
        ("A loan costs 4 euros.", "Item: Loan; Price: 4.50 €", False, True),
        ("Founded in 1987.", "Founded in 1988.", False, False),
        ("Membership is 40 a year instead of 36.", "It costs 36 a year (18 below 25).", False, True),
        ("It costs €40 a year.", "It costs 36 a year.", False, True),
        ("It costs 36 a year.", "It lasts 2 years.", False, False),
        ("It costs 36 a year.", "A locker costs 3 per month.", False, False),
        ("The fee goes up from 240 to 260 euros.", "Animal: Adult dog; Fee: 240.00", False, True),
        ("The fee is 260 euros.", "Animal: Adult dog; Fee: 260.00; Age: 4", False, False),
        ("7.3 Call 0555 2300-77.", "6.1 Call 0555 2300-12.", False, False),
        ("A cluster has 3 nodes.", "Nodes: 5", False, False),
        ("Lunch is 4 euros.", "Lunch; 2025 (EUR): 4; 2026 (EUR): 5", False, True),
        ("Launched on 19 January 2006.", "It left in January 2006 and arrived on 14 July 2015.", True, False),
        ("Launched on 19 January 2006.", "It was launched on 14 July 2015.", True, True),
    ],
)
def test_values_of_one_kind_differ(one: str, other: str, days: bool, expected: bool) -> None:
    assert differ(one, other, days) == differ(other, one, days) == expected


def test_a_number_without_point_or_name_is_no_version(tmp_path: Path) -> None:
    """The third lesson does not replace the second."""
    files = {
        f"lesson {number}.md": f"# Lesson {number}\n\nThe exam of lesson {number} takes {minutes} minutes.\n"
        for number, minutes in ((2, 40), (3, 15))
    }
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.add_files(files, workers=1)
        assert "40" in engine.ask("How long does the exam of lesson 2 take?").text
