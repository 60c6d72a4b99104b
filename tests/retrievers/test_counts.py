"""Counts that are kept from one list of candidates to the next."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.memory_store import MemoryStore
from tests.retrievers.world import SOLAR, store_of
from trivium.graph.records import TermCounts
from trivium.retrievers.chunk_cache import KnownCounts

STORE = store_of(SOLAR, {})
CHUNKS = [*STORE.chunk_uris(), "Gone#chunk-1"]
TERMS = ["mar", "moon", "found"]


def same(first: TermCounts, second: TermCounts) -> bool:
    return all(
        np.array_equal(getattr(first, name), getattr(second, name))
        for name in TermCounts.__dataclass_fields__
    )


@settings(deadline=None, max_examples=60)
@given(asked=st.lists(st.lists(st.sampled_from(CHUNKS)), max_size=4))
def test_they_are_what_the_store_says_however_often_asked(asked: list[list[str]]) -> None:
    """Also of chunks asked for twice, of unknown ones and of none."""
    known = KnownCounts(STORE, TERMS)
    for chunks in asked:
        assert same(known.of(chunks), STORE.term_counts(chunks, TERMS))


def test_no_chunk_is_asked_for_twice() -> None:
    calls: list[str] = []

    class Watched(MemoryStore):
        def term_counts(self, chunks: list[str], terms: list[str]) -> TermCounts:  # type: ignore[override]
            calls.extend(chunks)
            return STORE.term_counts(chunks, terms)

    known = KnownCounts(Watched(), TERMS)
    known.of(CHUNKS[:3])
    known.of(CHUNKS[1:5])
    assert calls == CHUNKS[:5]
