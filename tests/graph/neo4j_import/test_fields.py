"""Fields of bulk files: what is written is what an independent reader gets back."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.errors import StoreError
from trivium.graph.neo4j_import.tables import SEPARATOR, text_field, texts_field, vector_field

_strings = st.text(st.characters(exclude_categories=["Cs"]))
_elements = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=SEPARATOR), min_size=1)


def _read(field: str) -> str:
    """By Python's own reader."""
    ((value, after),) = csv.reader(io.StringIO(f"{field},end", newline=""), strict=True)
    assert after == "end"
    return value


@given(_strings)
def test_any_string_comes_back(value: str) -> None:
    """Quotes, commas, line ends of all kinds, backslashes and control characters included."""
    assert _read(text_field(value)) == value


def test_the_empty_string_is_not_the_absent_one() -> None:
    """The importer tells "" from nothing."""
    assert text_field("") == '""'
    assert texts_field([]) == ""


@given(st.lists(_elements, min_size=1))
def test_any_list_of_strings_comes_back(values: list[str]) -> None:
    """In order, repeats kept."""
    assert _read(texts_field(values)).split(SEPARATOR) == values


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_every_single_precision_number_comes_back(values: list[float]) -> None:
    """Nine digits are enough for each of them, to the last bit."""
    written = vector_field(np.array(values, np.float32)).split(SEPARATOR)
    assert [np.float32(float(number)) for number in written] == [np.float32(value) for value in values]


def test_a_vector_that_is_not_there_is_no_field() -> None:
    """Stores give a row of NaN for a node without a vector."""
    assert vector_field(np.full(3, np.nan, np.float32)) == ""


@pytest.mark.parametrize(
    ("values", "said"), [(["a", "b\x1fc"], "U\\+001F"), (["\x1f"], "U\\+001F"), ([""], "empty")]
)
def test_lists_the_importer_would_misread_are_refused(values: list[str], said: str) -> None:
    """Better no export than another graph."""
    with pytest.raises(StoreError, match=said):
        texts_field(values)
