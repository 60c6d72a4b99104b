"""What is drawn: the way from a question to a passage, and what surrounds an entity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tests.fakes.memory_store import MemoryStore
from tests.retrievers.world import QUESTION, page
from trivium.graph.build_page_graph import build
from trivium.graph.records import ChunkRecord
from trivium.graph.schema import Hop
from trivium.retrievers.path import Option, OptionKind, PathRetriever, PathSettings
from trivium.retrievers.query import Query
from trivium.search.subgraph_drawings import Drawing, around, shortest_way, way_to
from trivium.types import EmbedderIdentity, GraphPath, SourceNode

ASKED = "who found the moons of mars"


@pytest.fixture
def store() -> MemoryStore:
    """Mars speaks of Phobos, Phobos of Hall, Hall of the Sea; only Mars's passage is near the question."""
    store = MemoryStore()
    pages = [
        page("Mars", [("It has moons.", ["Phobos"])], relations=[("moon", "Phobos")]),
        page("Phobos", [("Hall found it.", ["Hall"])], {"Name": [("Fear.", [])]}),
        page("Hall", [("He sailed.", ["Sea"])]),
        page("Moons", [("Phobos is one.", ["Phobos"]), ("So is it.", ["Phobos"])]),
    ]
    graphs = [build(one) for one in pages]
    store.write(graphs)
    store.set_embedder(EmbedderIdentity("test", "1", 4))
    texts = list(store.pending_texts())
    near = [text for text in texts if text.startswith("Mars: ")]
    vectors = np.array([QUESTION if text in near else [0, 1, 0, 0] for text in texts], dtype=np.float32)
    store.put_vectors(texts, vectors)
    return store


class ChoosePaths:
    """A selector that takes every path."""

    def select(self, question: str, options: Sequence[Option]) -> list[Option]:
        return [option for option in options if option.kind is OptionKind.PATH]


def drawn(store: MemoryStore, uri: str, source_node: dict[str, SourceNode]) -> Drawing:
    (record,) = store.fetch([uri])
    assert isinstance(record, ChunkRecord)
    return way_to(Query(ASKED, QUESTION, store), record, source_node)


def edges(drawing: Drawing) -> set[tuple[str, str, str]]:
    known = {node.id for node in drawing.nodes}
    assert {end for edge in drawing.edges for end in (edge.source, edge.target)} <= known
    return {(edge.source.lstrip("?"), edge.type, edge.target) for edge in drawing.edges}


def test_what_was_found_by_itself_hangs_on_the_question(store: MemoryStore) -> None:
    drawing = drawn(store, "Mars#chunk-1", {"vector": "", "lexical": ""})
    assert edges(drawing) == {(ASKED, "like", "Mars#chunk-1")}
    (edge,) = drawing.edges
    assert edge.views == ("vector", "lexical")
    assert {(node.kind, node.label) for node in drawing.nodes} == {("question", ASKED), ("chunk", "Mars")}


def test_pages_sections_and_entities_stand_between(store: MemoryStore) -> None:
    source_node: dict[str, SourceNode] = {
        "page": "Phobos",
        "section": "Phobos#Name",
        "entity": "Hall",
        "path": "Phobos#Name",
    }
    drawing = drawn(store, "Phobos#Name#chunk-1", source_node)
    goal = "Phobos#Name#chunk-1"
    assert edges(drawing) == {
        (ASKED, "like", "Phobos"),
        ("Phobos", "has", goal),
        (ASKED, "like", "Phobos#Name"),
        ("Phobos#Name", "has", goal),
        (ASKED, "like", "Hall"),
        ("Hall", "cited in", goal),
    }
    kinds = {node.id: node.kind for node in drawing.nodes}
    assert (kinds["Phobos"], kinds["Phobos#Name"], kinds["Hall"], kinds[goal]) == (
        "page",
        "section",
        "page",
        "chunk",
    )


def test_a_path_is_drawn_step_by_step(store: MemoryStore) -> None:
    path = GraphPath(("Mars", "Phobos", "Sea"), ("moon", "is_x_of"))
    drawing = drawn(store, "Hall#chunk-1", {"path": path})
    assert edges(drawing) == {
        (ASKED, "like", "Mars"),
        ("Mars", "moon", "Phobos"),
        ("Phobos", "is_x_of", "Sea"),
        ("Sea", "cited in", "Hall#chunk-1"),
    }


def test_titles_and_relations_that_hold_arrows_are_drawn_as_they_are() -> None:
    """From the relation of an infobox to the drawing; nothing is put in words and read again on the way."""
    odd, relation = "Set -[of]-> Moons", "is -[]-> in"
    store = MemoryStore()
    store.write([build(page("Mars", [(f"See {odd}.", [odd])], relations=[(relation, odd)]))])
    store.set_embedder(EmbedderIdentity("test", "1", 4))
    texts = store.pending_texts()
    store.put_vectors(texts, np.array([QUESTION] * len(texts), dtype=np.float32))
    query = Query(ASKED, QUESTION, store)
    retriever = PathRetriever(PathSettings(entities=1), ChoosePaths())
    (found,) = retriever.retrieve(query)
    assert found.uri == "Mars#chunk-1" and isinstance(found.source_node, GraphPath)
    (record,) = store.fetch([found.uri])
    (relation_edge,) = [
        edge
        for edge in way_to(query, record, {"path": found.source_node}).edges
        if edge.type not in ("like", "cited in")
    ]
    assert {relation_edge.source, relation_edge.target} == {"Mars", odd}
    assert relation_edge.type.endswith("in")


def test_a_walk_goes_at_once_to_a_passage_it_starts_at_and_by_links_from_what_is_named(
    store: MemoryStore,
) -> None:
    """All five passages are among the nearest, so each is a start; the question names Mars."""
    drawing = drawn(store, "Phobos#chunk-1", {"walk": ""})
    assert edges(drawing) == {
        (ASKED, "like", "Phobos#chunk-1"),
        (ASKED, "names", "Mars"),
        ("Mars", "belongs to", "Mars#chunk-1"),
        ("Mars#chunk-1", "cites", "Phobos"),
        ("Phobos", "belongs to", "Phobos#chunk-1"),
    }
    assert {edge.views for edge in drawing.edges} == {("walk",)}
    labels = {node.id: node.label for node in drawing.nodes}
    assert labels["Phobos#chunk-1"] == "Phobos"


def test_a_walk_is_shown_along_the_fewest_links_from_the_heaviest_start(store: MemoryStore) -> None:
    """Hall's passage is three links from Mars's: by Phobos and its passage to Hall, and on to what he wrote."""
    graph = store.adjacency()
    goal, start = graph.chunk_rows["Hall#chunk-1"], graph.chunk_rows["Mars#chunk-1"]
    names = [*graph.chunks, *graph.entities]
    way = shortest_way(graph, goal, {start: 0.5})
    assert way is not None
    assert [names[node] for node in way] == [
        "Mars#chunk-1",
        "Phobos",
        "Phobos#chunk-1",
        "Hall",
        "Hall#chunk-1",
    ]
    offset = len(graph.chunks)
    seeds = {start: 0.5, offset + graph.entity_rows["Hall"]: 0.1, offset + graph.entity_rows["Sea"]: 0.2}
    way = shortest_way(graph, goal, seeds)
    assert way is not None and [names[node] for node in way] == ["Sea", "Hall#chunk-1"]
    assert shortest_way(graph, goal, {}) is None


def test_neighbours_are_relations_first_then_the_pages_that_cite_most(store: MemoryStore) -> None:
    drawing, more = around(store, "Phobos", 10)
    assert not more
    assert edges(drawing) == {
        ("Mars", "moon", "Phobos"),
        ("Mars", "cites", "Phobos"),
        ("Moons", "cites", "Phobos"),
    }
    few, more = around(store, "Phobos", 1)
    assert more and {node.id for node in few.nodes} == {"Phobos", "Mars"}


def test_an_entity_without_a_document_is_drawn_as_one(store: MemoryStore) -> None:
    drawing, _ = around(store, "Sea", 5)
    assert {node.id: node.kind for node in drawing.nodes} == {"Sea": "entity", "Hall": "page"}


def test_the_store_is_asked_once_which_nodes_have_a_document(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many neighbours there are: a server answers each question in one round trip."""
    names = [f"Entity {number}" for number in range(30)]
    hub = page("Hub", [("It has neighbours.", names)], relations=[("near", name) for name in names])
    store = MemoryStore()
    store.write([build(hub)])
    asked: list[tuple[int, Hop]] = []
    expand = store.expand
    monkeypatch.setattr(
        store, "expand", lambda uris, hop: (asked.append((len(uris), hop)), expand(uris, hop))[1]
    )
    drawing, _ = around(store, "Hub", 50)
    assert len(drawing.nodes) == 31 and {node.kind for node in drawing.nodes} == {"page", "entity"}
    assert asked == [(1, Hop.CITED_IN), (31, Hop.BELOW)]
