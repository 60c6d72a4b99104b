"""Ranges of consecutive places, written one after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.common.arrays import expand_ranges


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5))))
def test_every_place_of_every_range_is_there(ranges: list[tuple[int, int]]) -> None:
    starts, lengths = (np.array([pair[side] for pair in ranges], dtype=np.int64) for side in (0, 1))
    of, places = expand_ranges(starts, lengths)
    assert of.tolist() == [number for number, (_, length) in enumerate(ranges) for _ in range(length)]
    assert places.tolist() == [place for start, length in ranges for place in range(start, start + length)]


def test_a_range_of_a_damaged_file_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        expand_ranges(np.array([0, 3]), np.array([2, -1]))


@pytest.mark.parametrize("starts", [[], [0], [0, 1, 2]])
def test_each_start_has_a_length(starts: list[int]) -> None:
    """The compiled loop would read what lies behind the shorter array."""
    with pytest.raises(ValueError, match="equally many"):
        expand_ranges(np.array(starts, dtype=np.int64), np.array([1, 2]))
