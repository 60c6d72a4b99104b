"""Sorted strings as a block of bytes."""

from __future__ import annotations

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
    assert len(made._rows) <= 10
