"""What documents and their users say of them, kept within bounds."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.errors import InputError
from trivium.metadata import MAX_KEYS, check, clean, parse_assignments, parse_object


def test_what_cannot_be_kept_is_left_out_or_cut() -> None:
    values: dict[str, object] = {
        "day": date(2024, 5, 1),
        "moment": datetime(2024, 5, 1, 10, tzinfo=UTC),
        "tags": ["a", 2, None, ["x"]],
        "nan": float("nan"),
        "huge": 1 << 70,
        "none": None,
        "nested": {"a": 1},
        " long ": "x" * 2_000,
        "k" * 101: 1,
        "": 2,
        "half": "a\ud800b\x00",
    }
    assert clean(values) == {
        "day": "2024-05-01",
        "moment": "2024-05-01T10:00:00+00:00",
        "tags": "a, 2",
        "long": "x" * 1_000,
        "half": "a?b",
    }
    assert len(clean({str(number): number for number in range(1_000)})) == MAX_KEYS


@given(
    st.dictionaries(
        st.text(), st.one_of(st.none(), st.text(), st.floats(), st.integers(), st.lists(st.text()))
    )
)
def test_what_was_cleaned_is_clean(values: dict[str, object]) -> None:
    assert clean(clean(values)) == clean(values)


@pytest.mark.parametrize("wrong", ["year", "=3", "x=" + "y" * 1_001])
def test_assignments_that_are_none_are_refused(wrong: str) -> None:
    with pytest.raises(InputError, match="metadata"):
        parse_assignments([wrong])


@pytest.mark.parametrize("wrong", ["", "[1]", '{"a": {"b": 1}}', '{"": null}', "{" * 10_000, '{"a": NaN}'])
def test_objects_that_are_none_are_refused(wrong: str) -> None:
    with pytest.raises(InputError, match="metadata"):
        parse_object(wrong)


def test_what_a_user_says_is_checked() -> None:
    assert check({"year": 2020, "draft": False}) == {"year": 2020, "draft": False}
    with pytest.raises(InputError, match="list"):
        check([1])
