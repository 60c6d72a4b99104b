"""Candidates of two queries are united and scored by one of them, on every store alike."""

from __future__ import annotations

import numpy as np
import pytest

from tests.contract.graphs import embed_pending, graph, unit
from tests.fakes.memory_store import MemoryStore
from trivium.fusion.score_table import Table
from trivium.graph.filter_language import parse
from trivium.graph.protocols import GraphStore, SearchStore
from trivium.retrievers.query import Query
from trivium.retrievers.registry import make_retrievers
from trivium.search.candidates import gather

PAGES = [
    graph(
        f"Page {number}",
        [(f"planet {number} turns once in {number} hours", [f"Page {(number + 1) % 8}"])],
        {"Bills": [(f"price of {number} by the hour", [f"Page {(number + 3) % 8}"])]},
        source=f"{'odd' if number % 2 else 'even'}.txt",
    )
    for number in range(8)
]
MATCH, RECALL = "planet turns", "price of Page 6"
DEPTH = 3
RETRIEVERS = make_retrievers()


def _filled(store: GraphStore) -> GraphStore:
    store.write(PAGES)
    embed_pending(store)
    return store


@pytest.fixture(scope="module")
def oracle() -> MemoryStore:
    """The obvious store, with the same pages."""
    store = MemoryStore()
    _filled(store)
    return store


def _query(store: SearchStore, text: str) -> Query:
    return Query(text, unit(text), store)


def _tables(store: SearchStore) -> tuple[Table, Table, Table]:
    match, recall = _query(store, MATCH), _query(store, RECALL)
    both = gather(match, RETRIEVERS, DEPTH, recall=recall)
    return both, gather(_query(store, MATCH), RETRIEVERS, DEPTH), gather(recall, RETRIEVERS, DEPTH)


@pytest.mark.parametrize("condition", [None, "source = 'even.txt'"])
def test_candidates_of_both_are_there_and_have_the_scores_of_the_match_query(
    store: GraphStore, oracle: MemoryStore, condition: str | None
) -> None:
    """The recall query brings passages that the other one does not; they stand behind, best first, and those that were
    there keep their places. Under a condition both find only what fulfils it."""
    _filled(store)

    def view(of: GraphStore) -> SearchStore:
        return of if condition is None else of.within(parse(condition))

    both, own, more = _tables(view(store))
    assert set(both.chunks) == {*own.chunks, *more.chunks} > set(own.chunks)
    query = _query(view(store), MATCH)
    for column, (name, retriever) in enumerate(RETRIEVERS.items()):
        np.testing.assert_allclose(
            both.raw[:, column], retriever.score(query, both.chunks), rtol=1e-5, atol=1e-7
        )
        ranks = dict(zip(both.chunks, both.ranks[:, column].tolist(), strict=True))
        first = {
            uri: rank for uri, rank in zip(own.chunks, own.ranks[:, column].tolist(), strict=True) if rank
        }
        assert {uri: ranks[uri] for uri in first} == first, name
        behind = sorted((rank, uri) for uri, rank in ranks.items() if rank > len(first))
        assert [rank for rank, _ in behind] == list(range(len(first) + 1, len(first) + 1 + len(behind)))
        scores = [both.raw[both.chunks.index(uri), column] for _, uri in behind]
        assert scores == sorted(scores, reverse=True), name
    if condition is not None:
        assert all(int(uri[5]) % 2 == 0 for uri in both.chunks)
    expected = _tables(view(oracle))[0]
    assert both.chunks == expected.chunks
    np.testing.assert_allclose(both.raw, expected.raw, rtol=1e-3, atol=1e-4)
