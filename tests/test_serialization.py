"""Hits as a table."""

from __future__ import annotations

import sys

import pytest

from trivium.errors import MissingExtraError
from trivium.serialization import HitFields, hit_json, to_pandas
from trivium.types import Hit

FIRST = Hit("A#1", "a", 2.0, 1, "A", "A", "paragraph", 0, 1, {"vector": 1.5}, {"walk": "B"}, 0.5, 0.9)
SECOND = Hit("B#1", "b", 1.0, 2, "B", "B", "table", 3, 4)


def test_a_hit_has_the_fields_of_the_contract() -> None:
    """No more, no fewer, in their order."""
    assert list(hit_json(FIRST)) == list(HitFields.__annotations__)


def test_hits_are_lines_and_what_is_by_retriever_has_a_column_each() -> None:
    """NaN where a retriever says nothing of a hit."""
    pytest.importorskip("pandas")
    frame = to_pandas([FIRST, SECOND])
    assert list(frame["uri"]) == ["A#1", "B#1"]
    assert list(frame["score"]) == [2.0, 1.0] and list(frame["rank"]) == [1, 2]
    assert frame["contributions.vector"][0] == 1.5 and frame["contributions.vector"].isna()[1]
    assert frame["provenance.walk"][0] == "B"
    assert "contributions" not in frame


def test_no_hits_are_a_table_with_columns_and_no_lines() -> None:
    """What is done with the columns goes on working."""
    pytest.importorskip("pandas")
    frame = to_pandas([])
    assert len(frame) == 0 and {"uri", "text", "score", "rank"} <= set(frame.columns)


def test_without_pandas_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an extra."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'trivium\[pandas\]'"):
        to_pandas([FIRST])
