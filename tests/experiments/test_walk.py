"""The graphs of experiments/walk: with the product's edges and settings they rank like the product."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tests.fakes.memory_store import MemoryStore
from tests.retrievers.world import SOLAR, ask, page, store_of
from trivium.datasets.gold import Gold
from trivium.retrievers.walk import WalkRetriever, WalkSettings

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments" / "walk"))

from asked import Seeds, Set, see
from graphs import Edges, Links, read_links, solve, transition
from runs import Setting, answer

PAGES = [
    *SOLAR,
    page("Asaph Hall", lead=[("Hall was born in Goshen.", ["Goshen"]), ("He saw Mars.", ["Mars"])]),
    page("Goshen", lead=[("A town.", [])], relations=[("twin", "Asaph Hall")]),
    page("Hub", sections={"Links": [("Mars, Goshen.", ["Mars", "Goshen"]), ("Sun.", ["Sun"])]}),
]


@pytest.fixture(scope="module")
def store() -> MemoryStore:
    return store_of(PAGES, {"Mars#chunk-1": 0.8, "Earth#chunk-1": 0.78, "Goshen#chunk-1": 0.75, "Moon": 0.5})


def column(links: Links, edges: Edges, node: int) -> dict[int, float]:
    """Where a walker on a node goes."""
    way = transition(links, edges)[:, [node]].toarray().ravel()
    return {int(row): float(way[row]) for row in np.flatnonzero(way)}


@pytest.mark.parametrize("text", ["Is the Red Planet near the Sun?", "which one is it?"])
@pytest.mark.parametrize(("damping", "own_page_weight"), [(0.3, 8.0), (0.5, 1.0), (0.5, 8.0), (0.8, 8.0)])
def test_with_the_products_edges_and_settings_it_ranks_like_the_walk(
    store: MemoryStore, text: str, damping: float, own_page_weight: float
) -> None:
    """Whether the question names entities or not; the push is asked for a high precision."""
    query = ask(store, text)
    gold = Gold.of([["Mars#chunk-1"]])
    one = Set("made-up", read_links(store), np.diff(store.adjacency().indptr), (see(query, "1", gold),))
    settings = WalkSettings(
        damping=damping, temperature=0.02, entity_share=0.25, own_page_weight=own_page_weight, eps=1e-9
    )
    expected = [candidate.uri for candidate in WalkRetriever(settings).retrieve(query, 30)]
    assert len(expected) > 5
    assert answer(one, Setting(Edges(own_page_weight=own_page_weight), seeds=Seeds(), damping=damping)) == [
        expected
    ]


def test_every_column_leads_somewhere_and_sums_to_one(store: MemoryStore) -> None:
    links = read_links(store)
    for edges in (Edges(), Edges(own=2, hub=0.5, following=1, relations=1), Edges(sections="instead")):
        total = transition(links, edges).sum(axis=0)
        linked = total > 0
        assert total[linked] == pytest.approx(np.ones(linked.sum()))
        assert linked[: len(links.chunks)].all()


def test_weights_by_kind_by_hand(store: MemoryStore) -> None:
    """Hall's first chunk cites Goshen (1), is on its page (2) and comes before his second chunk (0.5)."""
    graph, links = store.adjacency(), read_links(store)
    first, second = graph.chunk_rows["Asaph Hall#chunk-1"], graph.chunk_rows["Asaph Hall#chunk-2"]
    page_node = len(graph.chunks) + graph.entity_rows["Asaph Hall"]
    town = len(graph.chunks) + graph.entity_rows["Goshen"]
    assert column(links, Edges(own=2, following=0.5), first) == pytest.approx(
        {town: 1 / 3.5, page_node: 2 / 3.5, second: 0.5 / 3.5}
    )


def test_the_own_page_weighs_only_on_the_way_from_the_page_to_its_chunks(store: MemoryStore) -> None:
    """From Goshen to its chunk (2), to Hall's chunk that cites it and to the hub's (1 each); the way back stays."""
    graph, links = store.adjacency(), read_links(store)
    town = len(graph.chunks) + graph.entity_rows["Goshen"]
    own, citing, listing = (
        graph.chunk_rows[uri] for uri in ("Goshen#chunk-1", "Asaph Hall#chunk-1", "Hub#Links#chunk-1")
    )
    assert column(links, Edges(own_page_weight=2), town) == pytest.approx(
        {own: 2 / 4, citing: 1 / 4, listing: 1 / 4}
    )
    for chunk in (own, citing, listing):
        assert column(links, Edges(own_page_weight=2), chunk) == column(links, Edges(), chunk)


def test_a_hub_is_entered_less_often(store: MemoryStore) -> None:
    """From Hall's first chunk to Goshen (3 edges) and to his page (his 2 chunks, Mars, Phobos: 4 edges), each by the
    inverse of that: as 1/3 to 1/4."""
    graph, links = store.adjacency(), read_links(store)
    page_node = len(graph.chunks) + graph.entity_rows["Asaph Hall"]
    town = len(graph.chunks) + graph.entity_rows["Goshen"]
    ways = column(links, Edges(hub=1.0), graph.chunk_rows["Asaph Hall#chunk-1"])
    assert ways == pytest.approx({town: 4 / 7, page_node: 3 / 7})


def test_sections_instead_of_the_page_put_one_node_between(store: MemoryStore) -> None:
    """Chunks under Hub > Links reach their page only through the section; chunks right under a page keep their edge."""
    graph, links = store.adjacency(), read_links(store)
    chunk = graph.chunk_rows["Hub#Links#chunk-1"]
    page_node = len(graph.chunks) + graph.entity_rows["Hub"]
    ways = column(links, Edges(sections="instead"), chunk)
    (section,) = [node for node in ways if node >= len(graph.chunks) + len(graph.entities)]
    assert page_node not in ways
    assert page_node in column(links, Edges(sections="instead"), section)
    assert page_node in column(links, Edges(sections="beside"), chunk)
    lead = graph.chunk_rows["Goshen#chunk-1"]
    assert column(links, Edges(sections="instead"), lead) == column(links, Edges(), lead)


def test_several_dampings_at_once_are_each_the_same_as_alone(store: MemoryStore) -> None:
    links = read_links(store)
    matrix = transition(links, Edges())
    seeds = np.zeros((links.size, 1))
    seeds[0] = 1.0
    both = solve(matrix, seeds, [0.3, 0.7], links.size, 1e-9)
    for damping, mass in both.items():
        alone = solve(matrix, seeds, [damping], links.size, 1e-9)[damping]
        assert mass == pytest.approx(alone)
        # The defining equation: what leaves a node comes back from the seeds or along an edge.
        assert mass == pytest.approx((1 - damping) * seeds + damping * (matrix @ mass), abs=1e-8)
