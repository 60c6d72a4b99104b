"""Work in portions: nothing lost, nothing twice, and nothing fetched before its turn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.common.iteration import batched


@given(st.lists(st.integers()), st.integers(1, 10))
def test_slices_are_the_items_in_order_and_full_but_for_the_last(items: list[int], size: int) -> None:
    parts = list(batched(iter(items), size))
    assert [item for part in parts for item in part] == items
    assert all(len(part) == size for part in parts[:-1])
    assert all(1 <= len(part) <= size for part in parts)


def test_items_are_taken_when_it_is_their_turn() -> None:
    """A source larger than memory passes through in pieces."""
    source = iter(range(10))
    parts = batched(source, 3)
    assert next(parts) == [0, 1, 2]
    assert next(source) == 3


@pytest.mark.parametrize("size", [0, -1])
def test_a_slice_has_at_least_one_item(size: int) -> None:
    with pytest.raises(ValueError, match=f"got size {size}"):
        list(batched("abc", size))
