"""Where rows go when others are removed and inserted, and lists of rows after that."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.graph import row_moves as module
from trivium.graph.arrays.columns import Csr
from trivium.graph.row_moves import Moves

NONE = np.empty(0, dtype=np.int64)


def changed(before: int, random: Random) -> tuple[Moves, list[int]]:
    """Random changes of a table and, by the definition, the old row of each new one, -1 for those added."""
    share = random.choice([0, 0.1, 0.6, 1])
    gone = [row for row in range(before) if random.random() < share]
    places = sorted(random.choices(range(before + 1), k=random.choice([0, 1, 6])))
    was: list[int] = []
    for row in range(before + 1):
        was += [-1] * places.count(row)
        was += [row] if row < before and row not in gone else []
    return Moves.of(before, np.array(gone, dtype=np.int64), np.array(places, dtype=np.int64)), was


@pytest.fixture(params=["compared", "looked up one by one", "in a table"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each of the ways in which rows are mapped, in blocks of which even a few rows fill several."""
    monkeypatch.setattr(module, "_BLOCK", 3)
    monkeypatch.setattr(module, "FEW", 10**6 if request.param == "looked up one by one" else 0)
    monkeypatch.setattr(module, "MOST_COMPARED", 0 if request.param == "in a table" else 10**6)
    for shortest in ("SHORTEST_COPIED", "SHORTEST_FOLLOWED"):
        monkeypatch.setattr(module, shortest, 10**6 if request.param == "in a table" else 0)
    return str(request.param)


@settings(max_examples=150, deadline=None)
@given(before=st.integers(0, 12), random=st.randoms(use_true_random=False))
def _follows_the_definition(before: int, random: Random) -> None:
    moves, was = changed(before, random)
    now = [was.index(row) if row in was else -1 for row in range(before)]
    assert (moves.before, moves.after) == (before, len(was))
    assert moves.added.tolist() == [row for row, old in enumerate(was) if old < 0]
    assert moves.gone.tolist() == [row for row, new in enumerate(now) if new < 0]
    assert moves.stays == (now == list(range(before)))
    assert moves.unchanged == (was == list(range(before)))
    asked = np.array([random.randrange(-1, before) for _ in range(9)], dtype=np.int32)
    wanted = [-1 if row < 0 else now[row] for row in asked.tolist()]
    followed = moves.follow(asked)
    assert (followed.tolist(), followed.dtype) == (wanted, np.int32)
    assert moves.removed_in(asked).tolist() == [
        place for place, row in enumerate(asked.tolist()) if row >= 0 and now[row] < 0
    ]
    assert moves.back(np.arange(len(was))).tolist() == was
    column = np.arange(2 * before).reshape(before, 2)
    assert moves.carry(column, 7).tolist() == [[7, 7] if old < 0 else [2 * old, 2 * old + 1] for old in was]


def test_rows_are_followed_as_the_definition_says(way: str) -> None:
    """Removed, inserted and replaced rows anywhere, also of an empty table and all of them."""
    _follows_the_definition()


@settings(max_examples=100, deadline=None)
@given(random=st.randoms(use_true_random=False))
def _columns_hold_rows_of_another_table(random: Random) -> None:
    (owners, was), (entries, _) = (
        changed(random.randrange(6), random),
        changed(random.randrange(1, 6), random),
    )
    column = np.array([random.randrange(-1, entries.before) for _ in range(owners.before)], dtype=np.int32)
    carried = owners.carry(column, -5, entries)
    assert carried.dtype == np.int32
    followed = entries.follow(column).tolist()
    assert carried.tolist() == [-5 if old < 0 else followed[old] for old in was]


def test_row_numbers_in_a_column_follow_their_own_table(way: str) -> None:
    """Also where only one of the two tables has changed."""
    _columns_hold_rows_of_another_table()


@settings(max_examples=150, deadline=None)
@given(random=st.randoms(use_true_random=False))
def _lists_follow(random: Random) -> None:
    (owners, was), (entries, _) = changed(random.randrange(7), random), changed(random.randrange(6), random)
    lists = [
        [random.randrange(entries.before) for _ in range(random.choice([0, 1, 4]) if entries.before else 0)]
        for _ in range(owners.before)
    ]
    csr = Csr(
        np.concatenate([[0], np.cumsum([len(own) for own in lists], dtype=np.int64)]).astype(np.int64),
        np.array([entry for own in lists for entry in own], dtype=np.int32),
    )
    replaced = {
        row: np.array([random.randrange(9)] * random.randrange(3), dtype=np.int64)
        for row in range(owners.after)
        if random.random() < 0.3
    }
    patched = csr.patched(owners, entries, replaced)
    now = [
        [row for row in entries.follow(np.array(own, dtype=np.int64)).tolist() if row >= 0] for own in lists
    ]
    wanted = [
        replaced[row].tolist() if row in replaced else [] if old < 0 else now[old]
        for row, old in enumerate(was)
    ]
    assert [patched.row(row).tolist() for row in range(owners.after)] == wanted
    assert (patched.indptr.dtype, patched.indices.dtype) == (np.int64, np.int32)
    assert len(patched.indices) == patched.indptr[-1] == sum(map(len, wanted))


def test_lists_follow_their_rows_and_their_entries(way: str) -> None:
    """Rows with lists of their own, lists that lose entries, rows that are added, removed or replaced in place."""
    _lists_follow()


@given(random=st.randoms(use_true_random=False))
def test_tables_one_below_the_other_move_together(random: Random) -> None:
    (upper, first), (lower, second) = (
        changed(random.randrange(6), random),
        changed(random.randrange(6), random),
    )
    both = upper.beside(lower)
    was = [*first, *(-1 if row < 0 else row + upper.before for row in second)]
    assert both.back(np.arange(both.after)).tolist() == was
    assert both.added.tolist() == [row for row, old in enumerate(was) if old < 0]
    assert both.stays == all(was.index(row) == row if row in was else False for row in range(both.before))


def test_what_has_not_changed_is_shared() -> None:
    """Not copied: neither a column nor lists, and not even where new rows only come at the end."""
    column, csr = np.arange(3), Csr(np.array([0, 1, 1, 2]), np.array([2, 0], dtype=np.int32))
    same, longer = Moves.of(3, NONE, NONE), Moves.of(3, NONE, np.array([3]))
    assert same.carry(column) is column and same.carry(column, -1, longer) is column
    assert csr.patched(same, longer, {}) is csr
