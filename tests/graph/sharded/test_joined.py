"""The strings of several tables as one."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.graph.sharded.joined import JoinedRows, JoinedStrings
from trivium.graph.string_table import StringTable

_tables = st.lists(st.lists(st.text("ab#é😀", max_size=3), max_size=8, unique=True), min_size=1, max_size=4)


@settings(deadline=None)  # the loop is compiled at first
@given(_tables, st.integers(0, 3))
def test_strings_are_those_of_all_tables_sorted_once_each(lists: list[list[str]], changed: int) -> None:
    """Places lead back to them; a table that was changed in memory is one like any other."""
    tables = [StringTable.of(sorted(some)) for some in lists]
    number = changed % len(tables)
    more = sorted({"b#", "ab", "zz"} - set(lists[number]))
    tables[number], _ = tables[number].patched(StringTable.of([]).parts.starts, more)
    joined = JoinedStrings(tables)
    assert list(joined) == sorted({text for table in tables for text in table})
    for table, places in zip(tables, joined.places, strict=True):
        assert [joined[place] for place in places.tolist()] == list(table)
    rows = JoinedRows(joined, lambda text: len(text) % len(tables) - 1)
    assert [rows[text] for text in joined] == list(range(len(joined)))
    assert rows.get("nowhere") is None and rows.get("nowhere", -1) == -1
