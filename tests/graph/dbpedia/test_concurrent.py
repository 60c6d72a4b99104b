"""A store may be filled while it is enriched: what comes in meanwhile is left for the next time."""

from __future__ import annotations

import numpy as np
import pytest

from tests.graph.dbpedia.world import Given, fact, store_of
from tests.retrievers.world import page
from trivium.graph.build_page_graph import build
from trivium.graph.dbpedia import enrich
from trivium.graph.dbpedia.mapping import Mentions
from trivium.graph.page_graph import RelationEdge
from trivium.graph.records import Adjacency


def test_a_page_that_comes_after_the_graph_was_read_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its names lead to an entity that the graph did not have."""
    store = store_of({"Ada": ["London"]})
    read = store.adjacency()
    store.write([build(page("Newcomer", [("text", ["London"])], aliases=["Newbie"]))])
    monkeypatch.setattr(store, "adjacency", lambda: read)
    report = enrich(store, Given(fact("Ada", "birthPlace", "London"), fact("Newbie", "near", "London")))
    assert store.relations(["Ada", "Newcomer"]) == [RelationEdge("Ada", "birth place", "London")]
    assert (report.mapped, report.added) == (1, 1)


def test_chunks_of_a_page_that_came_between_entities_and_chunks_are_left_out() -> None:
    """Rows: chunks 0 and 1, then Ada 2 and London 3. Both chunks cite London, and only Ada is a known page."""
    graph = Adjacency(
        chunks=["Ada#chunk-1", "Newcomer#chunk-1"],
        entities=["Ada", "London"],
        indptr=np.array([0, 2, 3, 4, 6]),
        indices=np.array([2, 3, 3, 0, 0, 1], dtype=np.int32),
        own_chunks=np.array([[0, 0], [0, 0], [0, 1], [0, 0]]),
        chunk_rows={"Ada#chunk-1": 0, "Newcomer#chunk-1": 1},
        entity_rows={"Ada": 0, "London": 1},
    )
    mentions = Mentions.of(graph)
    assert mentions.indptr.tolist() == [0, 1, 2]
    assert mentions.pages.tolist() == [0, 0]
