"""Fetching memory in advance is a hint: any place may be named, and nothing changes."""

import numpy as np
import pytest

from trivium.common.compiled import compiled
from trivium.common.prefetch import prefetch


@compiled
def _sum_fetching(array: np.ndarray, places: np.ndarray) -> float:
    total = 0.0
    for place in places:
        prefetch(array, place)
        total += place
    return total


@pytest.mark.parametrize("shape", [(7,), (7, 3)])
@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float32, np.float64])
def test_any_place_may_be_named_and_no_number_changes(shape: tuple[int, ...], kind: type[np.generic]) -> None:
    array = np.arange(np.prod(shape)).reshape(shape).astype(kind)
    array.flags.writeable = False
    places = np.array([0, 6, 7, -1, 10**12, -(10**12)])
    assert _sum_fetching(array, places) == places.sum()
    assert (array.ravel() == np.arange(array.size)).all()
