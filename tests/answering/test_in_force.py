"""Which of two documents that say different things about the same answers."""

from __future__ import annotations

from pathlib import Path

import pytest

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


def test_a_number_without_point_or_name_is_no_version(tmp_path: Path) -> None:
    """The third lesson does not replace the second."""
    files = {
        f"lesson {number}.md": f"# Lesson {number}\n\nThe exam of lesson {number} takes {minutes} minutes.\n"
        for number, minutes in ((2, 40), (3, 15))
    }
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.add_files(files, workers=1)
        assert "40" in engine.ask("How long does the exam of lesson 2 take?").text
