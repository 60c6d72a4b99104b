"""Sorted strings as a block of bytes."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.graph import string_table
from trivium.graph.string_table import StringRows, StringTable, pack_strings, unpack_strings


def table(strings: list[str]) -> StringTable:
    return unpack_strings("some", pack_strings("some", strings))


@given(st.lists(st.text(st.characters(codec="utf-8")), unique=True))
def test_every_string_is_found_at_its_place(strings: list[str]) -> None:
    """In the order of code points; what is not in the table is in no row."""
    ordered = sorted(strings)
    made = table(ordered)
    assert list(made) == ordered
    assert made.find_all(ordered).tolist() == list(range(len(ordered)))
    assert made.find("".join(ordered) + "more") == -1
    assert dict(StringRows(made)) == {text: row for row, text in enumerate(ordered)}


def test_the_memory_of_a_table_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many rows were read or looked up, and what was forgotten is found again."""
    monkeypatch.setattr(string_table, "REMEMBERED", 10)
    strings = [f"{number:03}" for number in range(200)]
    made = table(strings)
    for _ in range(2):
        assert list(made) == strings
        assert [made.find(text) for text in strings] == list(range(200))
    assert max(len(made._rows), len(made._texts)) <= 10


def test_strings_that_were_read_before_are_taken_with_others() -> None:
    made = table(["a", "b", "c", "d"])
    for rows in ([1], [1], [3, 1, 0], [1, 1, 2, 3], [0, 1, 2, 3]):
        assert made.take(rows) == ["abcd"[row] for row in rows]
        assert [made[row] for row in rows] == made.take(rows)
    assert made[-1] == "d"
    assert "d" in StringRows(made)
    assert "e" not in StringRows(made)
    assert 3 not in StringRows(made)


@given(
    st.sets(st.text(st.characters(codec="utf-8"))),
    st.sets(st.text(st.characters(codec="utf-8"))),
    st.randoms(),
)
def test_a_patched_table_is_that_of_the_new_strings(before: set[str], new: set[str], random: Random) -> None:
    """Also where a string goes and comes back, and it says where each is."""
    ordered = sorted(before)
    gone = sorted(row for row, text in enumerate(ordered) if text in new or random.random() < 0.3)
    made, moves = table(ordered).patched(np.array(gone, dtype=np.int64), sorted(new))
    assert list(made) == sorted(new | {text for row, text in enumerate(ordered) if row not in gone})
    assert [made[place] for place in moves.added.tolist()] == sorted(new)
    for row, now in enumerate(moves.follow(np.arange(len(ordered))).tolist()):
        assert now == -1 if row in gone else made[now] == ordered[row]
    again, _ = made.patched(moves.added, [ordered[row] for row in gone])
    assert list(again) == ordered
    assert again.find_all(ordered).tolist() == list(range(len(ordered)))
