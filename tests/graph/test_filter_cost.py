"""What a condition costs: little more for many values than for one, and no more than the time limit allows."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any as AnyValue

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.common.stopping import Stop, StoppedError
from trivium.errors import InputError
from trivium.graph.filter_conditions import All, Any, Comparison, Condition, Field, Operator
from trivium.graph.filter_language import MAX_COMPARISONS, parse
from trivium.graph.filter_matching import Allowed, ChunkFacts, Coded, matching
from trivium.graph.records import PageRecord
from trivium.types import MetadataValue


def _facts(values: Sequence[MetadataValue], *, pages: int = 1) -> ChunkFacts:
    records = [
        PageRecord(f"P{row:06}", "", None, "", path=f"a/b/{value}", metadata={"x": value})
        for row, value in enumerate(values)
    ]
    return ChunkFacts(
        [f"{record.uri}#chunk-1" for record in records],
        lambda: records,
        lambda: (Coded.of(["paragraph"] * len(records)), np.full((len(records), 2), pages)),
    )


VALUES: st.SearchStrategy[MetadataValue] = st.one_of(
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([1.0, 2024, 2024.5]),
    st.sampled_from(["1", "1.0", "true", "True", "2024", "2024-05", "2024-05-01", "a", "a, b", "b"]),
    st.sampled_from(["2024-05-01T10:00:00Z", "2024-05-01T12:00:00+02:00", "2024-13-01T10:00:00Z", "a*"]),
)


@given(st.lists(VALUES, min_size=1, max_size=6), st.lists(VALUES, min_size=1, max_size=6))
def test_a_list_of_values_is_each_of_them(values: list[MetadataValue], asked: list[MetadataValue]) -> None:
    """Looked up together, values mean what each means alone, whatever their types."""
    facts = _facts(values)
    for field, key in ((None, "x"), (Field.PATH, "")):
        alone = [matching(Comparison(field, key, Operator.EQUAL, (value,)), facts) for value in asked]
        together = Comparison(field, key, Operator.IN, tuple(asked))
        assert matching(together, facts).tolist() == reduce(np.logical_or, alone).tolist()
        either: list[Condition] = [Comparison(field, key, Operator.EQUAL, (value,)) for value in asked]
        assert matching(Any(tuple(either)), facts).tolist() == matching(together, facts).tolist()
        unequal: list[Condition] = [Comparison(field, key, Operator.UNEQUAL, (value,)) for value in asked]
        apart = [matching(part, facts) for part in unequal]
        assert matching(All(tuple(unequal)), facts).tolist() == reduce(np.logical_and, apart).tolist()


def test_pages_of_a_list_are_each_of_them() -> None:
    """By hand: a chunk on pages 2 to 4 is on page 3, and on none of 1 and 5."""
    facts = ChunkFacts(
        ["P#chunk-1", "P#chunk-2"],
        lambda: [PageRecord("P", "", None, "")],
        lambda: (Coded.of(["paragraph"] * 2), np.array([[2, 4], [0, 0]])),
    )
    assert matching(parse("page in (1, 3, 5)"), facts).tolist() == [True, False]
    assert matching(parse("page in (5, 1)"), facts).tolist() == [False, False]
    assert matching(parse("page != 1 and page != 5"), facts).tolist() == [True, False]


NAMES = [f"{a}{b}" for a in "abcdefghijklmnopqrstuvw" for b in "bcdfghjklmpqtuvwxyz0123456789"]


@pytest.mark.parametrize(
    "text",
    [
        "x in ({list})",
        "not x in ({list})",
        "path in ({list})",
        "title in ({list})",
        "source in ({list})",
        "x in ({numbers})",
        "{or}",
        "{and}",
        "page in ({numbers})",
    ],
)
def test_hundreds_of_values_cost_little_more_than_one(text: str) -> None:
    facts = _facts([f"k{row}, m{row % 7}, n{row % 5}, o" for row in range(4_000)], pages=5)

    def seconds(count: int) -> float:
        condition = parse(
            text.format(
                list=",".join(NAMES[:count]),
                numbers=",".join(map(str, range(1_000, 1_000 + count))),
                **{
                    "or": " or ".join(f"x={name}" for name in NAMES[:count]),
                    "and": " and ".join(f"x!={name}" for name in NAMES[: count * 3 // 4]) or "x!=b",
                },
            )
        )
        begin = time.process_time()
        matching(condition, facts)
        return time.process_time() - begin

    one = min(seconds(1) for _ in range(4))
    many = min(seconds(380) for _ in range(4))
    assert many < 4 * one + 0.05


@pytest.mark.parametrize("sign", ["=", "like"])
def test_comparisons_and_patterns_are_limited(sign: str) -> None:
    """Each is a pass over all documents."""
    some = " or ".join(f"k{number} {sign} a" for number in range(MAX_COMPARISONS))
    assert len(parse(some).parts) == MAX_COMPARISONS  # type: ignore[union-attr]
    for text in (
        f"{some} or z {sign} a",
        f"not ({some} or z {sign} a)",
        "x in (" + ",".join(f"'*{number}'" for number in range(MAX_COMPARISONS + 1)) + ")",
    ):
        with pytest.raises(InputError, match="may have 100 comparisons and values with an asterisk, got 101"):
            parse(text)


@pytest.mark.parametrize(
    "text", ["x = a", "title like 'P*1'", "section = a", "kind = list", "page = 1", "not (x = 1 and y = 2)"]
)
def test_a_condition_stops_when_its_search_does(text: str) -> None:
    """Also when it is asked to in the middle of a pass."""
    stop = Stop()
    facts = _facts([f"k{row}" for row in range(2_000)])
    with stop.in_force():
        Allowed.of(parse(text), facts)
        stop.ask()
        with pytest.raises(StoppedError):
            Allowed.of(parse(text), facts)


class _Pages(list[PageRecord]):
    """Pages of which the first one read ends the search."""

    def __init__(self, pages: Sequence[PageRecord], stop: Stop) -> None:
        super().__init__(pages)
        self.read = 0
        self._stop = stop

    def __iter__(self) -> Iterator[PageRecord]:
        for page in super().__iter__():
            self.read += 1
            self._stop.ask()
            yield page


def test_a_pass_over_documents_asks_for_the_time_limit() -> None:
    stop = Stop()
    facts = _facts([1] * 2_000)
    pages = _Pages(facts.pages, stop)
    with stop.in_force(), pytest.raises(StoppedError):
        matching(parse("x = 1"), ChunkFacts(facts.chunks, lambda: pages, facts.read_details))
    assert 0 < pages.read < 1_000


def test_a_field_is_read_once_however_many_comparisons_ask_for_it() -> None:
    """A chain over few distinct values tests each of them, not each document."""

    class Counted(dict[str, MetadataValue]):
        reads = 0

        def get(self, *names: AnyValue) -> AnyValue:
            Counted.reads += 1
            return super().get(*names)

    records = [PageRecord(str(row), "", None, "", metadata=Counted(year=row % 7)) for row in range(200)]
    details = Coded.of(["list"] * 200), np.ones((200, 2), dtype=np.int32)
    facts = ChunkFacts([f"{row}#chunk-1" for row in range(200)], lambda: records, lambda: details)
    chain = " or ".join(f"year > {year}" for year in range(5, 5 + MAX_COMPARISONS))
    assert matching(parse(chain), facts).tolist() == [row % 7 == 6 for row in range(200)]
    assert Counted.reads == 200
    for key in range(100):  # what is kept of unknown keys is bounded
        assert not matching(parse(f"key{key} = 1"), facts).any()
    assert len(facts.columns) <= 16
