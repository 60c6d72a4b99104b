"""Subgraphs to draw: the paths from a question to a passage, and the neighbourhood of an entity, found by its name."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from trivium.graph.protocols import GraphReader, PageReader
from trivium.graph.records import Adjacency, ChunkRecord
from trivium.graph.schema import CHUNK_MARK, Hop, headings_of, page_of, page_uri, section_of, unescape
from trivium.retrievers.query import Query
from trivium.retrievers.walk import WalkSettings, walk_seeds
from trivium.text.normalise import normalise_name, normalise_title
from trivium.types import GraphPath, SourceNode


def find_entity(store: GraphReader, name: str) -> str | None:
    """Return the uri of the entity with this uri, title or alias, else of one whose name differs only in case,
    punctuation or a trailing parenthesis; None when there is none.
    """
    names = dict.fromkeys((name, page_uri(normalise_title(name))))
    known = store.resolve(list(names))
    exact = next((known[spelling] for spelling in names if spelling in known), None)
    if exact is not None:
        return exact
    loose = normalise_name(name)
    return store.lookup_names([loose]).get(loose) if loose else None


NodeKind = Literal["question", "page", "entity", "section", "chunk"]
_LONGEST_WALK = 4
_VISITED = 20_000
_BELONGS = "belongs to"
_CITES = "cites"


@dataclass(frozen=True, slots=True)
class Node:
    """A node to draw. ``id`` is its uri (the question's text prefixed with ``?`` for the question); ``label`` is what
    is displayed; ``type`` is the type of an entity, such as person, empty if unknown.
    """

    id: str
    kind: NodeKind
    label: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge to draw. ``views`` names the retrievers that followed it."""

    source: str
    target: str
    type: str
    views: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Drawing:
    """Nodes and edges. Both ends of every edge are among the nodes."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def with_types(drawing: Drawing, store: PageReader) -> Drawing:
    """Return the drawing with the types of its entities."""
    types = store.types([node.id for node in drawing.nodes if node.kind in ("page", "entity")])
    return replace(drawing, nodes=tuple(replace(node, type=types.get(node.id, "")) for node in drawing.nodes))


@dataclass(slots=True)
class _Canvas:
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[tuple[str, str, str], tuple[str, ...]] = field(default_factory=dict)

    def node(self, node: Node) -> str:
        self.nodes.setdefault(node.id, node)
        return node.id

    def edge(self, source: str, target: str, type: str, view: str = "") -> None:
        views = self.edges.get((source, target, type), ())
        self.edges[source, target, type] = (*views, view) if view and view not in views else views

    def drawing(self, store: GraphReader) -> Drawing:
        """Return the drawing. Asks the store once which entities have a page."""
        entities = [uri for uri, node in self.nodes.items() if node.kind == "entity"]
        below = store.expand(entities, Hop.BELOW) if entities else {}
        for uri in entities:
            if below.get(uri):
                self.nodes[uri] = replace(self.nodes[uri], kind="page")
        edges = (Edge(*ends, views) for ends, views in self.edges.items())
        return Drawing(tuple(self.nodes.values()), tuple(edges))


def way_to(query: Query, chunk: ChunkRecord, source_nodes: Mapping[str, SourceNode]) -> Drawing:
    """Draw how a question led to a chunk. ``source_nodes`` maps each retriever to the node or path that led to the
    chunk, empty where the chunk was found directly (:attr:`trivium.retrievers.query.Candidate.source_node`).
    """
    canvas = _Canvas()
    start = canvas.node(Node(f"?{query.text}", "question", query.text))
    goal = canvas.node(Node(chunk.uri, "chunk", _place(chunk.section)))
    for view, node in source_nodes.items():
        if view == "walk":
            continue
        if isinstance(node, GraphPath):
            _draw_path(canvas, start, goal, node, view)
        elif not node:
            canvas.edge(start, goal, "like", view)
        else:
            _draw_node(canvas, start, goal, node, view)
    if "walk" in source_nodes:
        _draw_walk(canvas, start, goal, query)
    return canvas.drawing(query.store)


def around(store: GraphReader, entity: str, limit: int) -> tuple[Drawing, bool]:
    """Draw an entity with at most ``limit`` neighbours, and return whether more were left out. Entities related to it
    come first, then the pages that mention it most often.
    """
    canvas = _Canvas()
    centre = canvas.node(_node(entity))
    left_out = False
    for relation in store.relations([entity]):
        other = relation.target if relation.source == entity else relation.source
        if other not in canvas.nodes and len(canvas.nodes) > limit:
            left_out = True
            continue
        canvas.node(_node(other))
        canvas.edge(relation.source, relation.target, relation.type)
    counts: dict[str, int] = {}
    for chunk in store.expand([entity], Hop.CITED_IN).get(entity, []):
        page = page_of(chunk)
        if page != entity:
            counts[page] = counts.get(page, 0) + 1
    for page in sorted(counts, key=lambda name: (-counts[name], name)):
        if page not in canvas.nodes and len(canvas.nodes) > limit:
            left_out = True
            break
        canvas.node(Node(page, "page", unescape(page)))
        canvas.edge(page, centre, _CITES)
    return canvas.drawing(store), left_out


def _node(uri: str, *, section: bool = False) -> Node:
    if CHUNK_MARK in uri:
        return Node(uri, "chunk", _place(section_of(uri)))
    if section and uri != page_of(uri):
        return Node(uri, "section", _place(uri))
    return Node(uri, "entity", unescape(uri))  # or a page: the canvas determines this for all nodes at once


def _place(section: str) -> str:
    return " › ".join(headings_of(section))


def _draw_node(canvas: _Canvas, start: str, goal: str, uri: str, view: str) -> None:
    """Draw a page, section or entity between the question and the chunk."""
    canvas.node(_node(uri, section=view in ("section", "path")))
    canvas.edge(start, uri, "like", view)
    leads = "has" if page_of(goal) == page_of(uri) and view != "entity" else "cited in"
    canvas.edge(uri, goal, leads, view)


def _draw_path(canvas: _Canvas, start: str, goal: str, path: GraphPath, view: str) -> None:
    first, *others = (canvas.node(_node(uri)) for uri in path.nodes)
    canvas.edge(start, first, "like", view)
    before = first
    for relation, node in zip(path.relations, others, strict=True):
        canvas.edge(before, node, relation, view)
        before = node
    canvas.edge(before, goal, "cited in", view)


def _draw_walk(canvas: _Canvas, start: str, goal: str, query: Query) -> None:
    """Draw the shortest path of links from any start of the walk, and the shortest one from an entity."""
    graph = query.adjacency
    row = graph.chunk_rows.get(goal)
    if row is None:
        return
    nodes, masses = walk_seeds(query, WalkSettings())
    seeds = dict(zip(nodes.tolist(), masses.tolist(), strict=True))
    entities = {node: mass for node, mass in seeds.items() if node >= len(graph.chunks)}
    for starts in (seeds, entities):
        way = shortest_way(graph, row, starts)
        if way is not None:
            _draw_links(canvas, start, [_uri(graph, node) for node in way], query)


def _draw_links(canvas: _Canvas, start: str, way: list[str], query: Query) -> None:
    before = canvas.node(_node(way[0]))
    canvas.edge(start, before, "names" if way[0] in query.named_entities else "like", "walk")
    for uri in way[1:]:
        node = canvas.node(_node(uri))
        chunk, other = (before, node) if CHUNK_MARK in before else (node, before)
        canvas.edge(before, node, _BELONGS if page_of(chunk) == other else _CITES, "walk")
        before = node


def shortest_way(graph: Adjacency, goal: int, seeds: dict[int, float]) -> list[int] | None:
    """Return the nodes on a shortest path from a seed to the goal, None when no seed is close enough. Of several
    seeds at the same distance the heaviest is taken.
    """
    towards: dict[int, int] = {goal: goal}
    layer, depth = deque([goal]), 0
    while layer and depth <= _LONGEST_WALK and len(towards) < _VISITED:
        found = [node for node in layer if node in seeds]
        if found:
            node = max(found, key=lambda row: (seeds[row], -row))
            way = [node]
            while way[-1] != goal:
                way.append(towards[way[-1]])
            return way
        following: deque[int] = deque()
        for node in layer:
            for other in graph.indices[graph.indptr[node] : graph.indptr[node + 1]].tolist():
                if other not in towards:
                    towards[other] = node
                    following.append(other)
        layer, depth = following, depth + 1
    return None


def _uri(graph: Adjacency, node: int) -> str:
    offset = len(graph.chunks)
    return graph.chunks[node] if node < offset else graph.entities[node - offset]
