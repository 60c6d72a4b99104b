"""walk starts where the question points and ranks chunks by where links lead."""

from __future__ import annotations

import math
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from tests.fakes.memory_store import MemoryStore
from tests.retrievers.world import SOLAR, ask, page, store_of
from trivium.errors import ConfigurationError
from trivium.graph.build_page_graph import build
from trivium.graph.records import Neighbour
from trivium.graph.schema import Hop
from trivium.retrievers.query import Query
from trivium.retrievers.walk import WalkRetriever, WalkSettings, softmax, walk_seeds

# Two hops: the question names the Red Planet, its moon's page the discoverer, and the answer is on his page.
HOPS = [
    *SOLAR,
    page("Asaph Hall", lead=[("Hall was born in Goshen.", ["Goshen"])]),
    page("Goshen", lead=[("A town.", [])]),
]


def seeds_by_uri(query: Query, settings: WalkSettings) -> dict[str, float]:
    graph = query.adjacency
    nodes, masses = walk_seeds(query, settings)
    names = [*graph.chunks, *graph.entities]
    return {names[node]: mass for node, mass in zip(nodes.tolist(), masses.tolist(), strict=True)}


def test_softmax_by_hand() -> None:
    """0.03 behind at temperature 0.03 is e times less."""
    shares = softmax([Neighbour("a", 0.80), Neighbour("b", 0.77)], 0.03)
    assert shares.tolist() == pytest.approx([math.e / (1 + math.e), 1 / (1 + math.e)])
    assert softmax([], 0.03).tolist() == []


def test_half_the_seed_mass_is_on_chunks_half_on_named_entities() -> None:
    """The alias Red Planet resolves to Mars; Sun is named too: a quarter each."""
    query = ask(
        store_of(HOPS, {"Mars#chunk-1": 0.8, "Earth#chunk-1": 0.77}), "Is the Red Planet near the Sun?"
    )
    seeds = seeds_by_uri(query, WalkSettings(seed_chunks=2, temperature=0.03, entity_share=0.5))
    assert seeds == pytest.approx(
        {
            "Mars#chunk-1": 0.5 * math.e / (1 + math.e),
            "Earth#chunk-1": 0.5 / (1 + math.e),
            "Mars": 0.25,
            "Sun": 0.25,
        }
    )


def test_without_a_name_the_nearest_entities_are_seeds() -> None:
    query = ask(store_of(HOPS, {"Mars#chunk-1": 0.8, "Moon": 0.5, "Sun": 0.47}), "which one is it?")
    seeds = seeds_by_uri(
        query, WalkSettings(seed_chunks=1, seed_entities=2, temperature=0.03, entity_share=0.5)
    )
    assert seeds == pytest.approx(
        {"Mars#chunk-1": 0.5, "Moon": 0.5 * math.e / (1 + math.e), "Sun": 0.5 / (1 + math.e)}
    )


def test_a_named_entity_the_graph_does_not_have_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_of(HOPS, {"Mars#chunk-1": 0.8, "Moon": 0.5})
    monkeypatch.setattr(store, "lookup_names", lambda names: {n: "Gone" for n in names if n == "mars"})
    seeds = seeds_by_uri(
        ask(store, "What is Mars?"), WalkSettings(seed_chunks=1, seed_entities=1, entity_share=0.5)
    )
    assert seeds == pytest.approx({"Mars#chunk-1": 0.5, "Moon": 0.5})


def test_a_side_without_seeds_cedes_its_share() -> None:
    query = ask(store_of(HOPS, {"Mars#chunk-1": 0.8}), "Mars")
    assert seeds_by_uri(query, WalkSettings(seed_chunks=1, entity_share=0.0)) == {"Mars#chunk-1": 1.0}
    assert seeds_by_uri(query, WalkSettings(seed_chunks=1, entity_share=1.0)) == {"Mars": 1.0}


@pytest.mark.parametrize("names", [False, True])
@pytest.mark.parametrize("own_page_weight", [0.5, 1.0, 8.0])
def test_scores_are_those_of_networkx_on_the_same_graph(
    own_page_weight: float, names: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nodes: chunks and entities; edges: chunk - cited entity, chunk - own page, the way from the page to the chunk
    ``own_page_weight`` times as heavy; damping 0.5. With names, the way to an entity without a page weighs .25, divided
    by the root of the number of chunks that cite it."""
    store = store_of(HOPS, {"Phobos#chunk-1": 0.8})
    links = replace(store.adjacency(), names=names)
    monkeypatch.setattr(store, "adjacency", lambda: links)
    pages = {each.title for each in HOPS}
    query = ask(store, "What is near Mars?")
    graph = nx.DiGraph()
    for each in HOPS:
        for node in store.expand([each.title], Hop.BELOW)[each.title]:
            for entity in {each.title, *store.cited([node])[node]}:
                row = len(links.chunks) + links.entity_rows[entity]
                passages = int(links.indptr[row + 1] - links.indptr[row])
                weight = 0.25 / math.sqrt(passages) if names and entity not in pages else 1.0
                graph.add_edge(("chunk", node), ("entity", entity), weight=weight)
                own = own_page_weight if entity == each.title else 1.0
                graph.add_edge(("entity", entity), ("chunk", node), weight=own)
    seeds = {("chunk", "Phobos#chunk-1"): 0.5, ("entity", "Mars"): 0.5}
    theirs = nx.pagerank(graph, 0.5, seeds, tol=1e-14, max_iter=500)
    chunks = store.chunk_uris()
    settings = WalkSettings(
        seed_chunks=1, eps=1e-10, entity_share=0.5, damping=0.5, own_page_weight=own_page_weight
    )
    ours = WalkRetriever(settings).score(query, chunks)
    np.testing.assert_allclose(ours, [theirs["chunk", uri] for uri in chunks], atol=1e-8)


def test_a_name_without_a_page_is_a_quarter_of_a_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Goshen has no page here. Where names in texts are entities, the page that the question names has four times its
    seed mass; elsewhere they have the same."""
    store = store_of([*SOLAR, page("Asaph Hall", lead=[("Hall was born in Goshen.", ["Goshen"])])], {})
    settings = WalkSettings(entity_share=1.0)
    assert seeds_by_uri(ask(store, "Goshen and Mars"), settings) == {"Goshen": 0.5, "Mars": 0.5}
    graph = replace(store.adjacency(), names=True)
    monkeypatch.setattr(store, "adjacency", lambda: graph)
    assert seeds_by_uri(ask(store, "Goshen and Mars"), settings) == pytest.approx(
        {"Goshen": 0.2, "Mars": 0.8}
    )


def test_a_name_is_asked_for_with_a_capital(monkeypatch: pytest.MonkeyPatch) -> None:
    """County is a name without a page. Where names in texts are entities, a question that has capitals does not mean it
    by "county"; one without any may. Mars has a page, which titles of common things have as well."""
    store = store_of([*SOLAR, page("Asaph Hall", lead=[("Hall was born in the County.", ["County"])])], {})
    for text in ("Which county is like Mars?", "Is mars in the county of Hall?"):
        assert "County" in ask(store, text).named_entities
    graph = replace(store.adjacency(), names=True)
    monkeypatch.setattr(store, "adjacency", lambda: graph)
    monkeypatch.setattr(MemoryStore, "entities", "rules")
    assert ask(store, "Which county is like Mars?").named_entities == ["Mars"]
    assert ask(store, "Is mars in the county of Hall?").named_entities == ["Mars"]
    assert ask(store, "Which county is like mars?").named_entities == ["County", "Mars"]
    assert ask(store, "Which County is like Mars?").named_entities == ["County", "Mars"]


def test_links_lead_to_a_chunk_that_resembles_nothing() -> None:
    """The chunk on Hall's page has cosine 0 like every other, but is linked from the best chunk."""
    store = store_of(HOPS, {"Phobos#chunk-1": 0.9})
    found = WalkRetriever(WalkSettings(seed_chunks=1)).retrieve(ask(store, "Phobos"))
    order = [candidate.uri for candidate in found]
    assert order[0] == "Phobos#chunk-1"
    assert order.index("Asaph Hall#chunk-1") < order.index("Mars#Missions#chunk-1")


def test_what_no_link_reaches_is_not_returned_and_scores_zero() -> None:
    store = store_of([*HOPS, page("Island", lead=[("Nothing links here.", [])])], {"Phobos#chunk-1": 0.9})
    query = ask(store, "Phobos")
    retriever = WalkRetriever(WalkSettings(seed_chunks=1))
    assert "Island#chunk-1" not in {candidate.uri for candidate in retriever.retrieve(query)}
    scores = retriever.score(query, ["Island#chunk-1", "no such chunk"])
    assert scores[0] == 0 and np.isnan(scores[1])


def test_returns_its_count_or_the_depth() -> None:
    store = store_of([page("P", lead=[(f"text {i}", []) for i in range(25)])], {})
    query = ask(store, "P")
    assert len(WalkRetriever().retrieve(query)) == 20
    assert len(WalkRetriever().retrieve(query, 7)) == 7
    assert len(WalkRetriever().retrieve(query, 24)) == 24


def test_the_graph_is_walked_once_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    store = store_of(HOPS, {})
    original = store.lookup_names
    monkeypatch.setattr(store, "lookup_names", lambda names: calls.append("names") or original(names))
    query, retriever = ask(store, "Mars"), WalkRetriever()
    for candidate in retriever.retrieve(query):
        assert retriever.score(query, [candidate.uri])[0] == candidate.score
    assert calls == ["names"]


def test_an_empty_store_walks_nowhere() -> None:
    query = ask(MemoryStore(), "Mars")
    assert WalkRetriever().retrieve(query) == []


@pytest.mark.parametrize(
    "values",
    [
        {"chunks": 0},
        {"seed_chunks": 0},
        {"seed_entities": 0},
        {"damping": 1.0},
        {"temperature": 0.0},
        {"entity_share": 1.5},
        {"eps": 0.0},
        {"eps": float("nan")},
    ],
)
def test_settings_out_of_range_are_refused(values: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError, match=f"walk.{next(iter(values))}"):
        WalkSettings(**values)  # type: ignore[arg-type]


def test_a_question_walks_on_one_graph_whatever_is_written_meanwhile() -> None:
    """Its list and its scores agree, though a page that sorts before all others came between them."""
    store = store_of(HOPS, {"Mars#chunk-1": 0.8})
    query = ask(store, "Mars")
    found = WalkRetriever().retrieve(query)
    store.write([build(page("Aardvark", lead=[("It digs.", ["Mars"])]))])
    scores = WalkRetriever().score(query, [candidate.uri for candidate in found])
    assert scores.tolist() == [candidate.score for candidate in found]
    assert np.isnan(WalkRetriever().score(query, ["Aardvark#chunk-1"])).all()
