"""path: is the chunk on a relevant path of sections or relations?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from trivium.common.dots import dots
from trivium.graph.protocols import GraphReader
from trivium.graph.records import Floats, rank_key, round_scores
from trivium.graph.schema import Hop, Label, page_of
from trivium.retrievers.options import Option, OptionKind, path_options, section_options
from trivium.retrievers.query import Candidate, Query, check_counts, check_depth
from trivium.retrievers.selectors import MatchSelector, Selector
from trivium.retrievers.subgraph import SubGraph, grow
from trivium.types import SourceNode

_MOST_PAGES = 1_000
"""Maximum number of pages whose outlines are offered."""


@dataclass(frozen=True, slots=True)
class PathSettings:
    """``pages``: number of pages whose outlines are offered. ``entities``: number of sub-graphs to grow. ``nodes``:
    maximum size of a sub-graph. ``fan_out``: neighbours considered per node.
    """

    pages: int = 3
    entities: int = 3
    nodes: int = 5
    fan_out: int = 200

    def __post_init__(self) -> None:
        check_counts("path", pages=self.pages, entities=self.entities, nodes=self.nodes, fan_out=self.fan_out)


@dataclass(frozen=True, eq=False)
class PathRetriever:
    """Chunks of the sections and paths chosen by a selector. Score: 1 for these, 0 for all others.

    Ordered by their own cosine with the question; ties are in the store's order.
    """

    name: ClassVar[str] = "path"
    settings: PathSettings = field(default_factory=PathSettings)
    selector: Selector = field(default_factory=MatchSelector)

    def retrieve(self, query: Query, depth: int | None = None) -> list[Candidate]:
        check_depth(depth)
        found = self._chunks(query)
        return [Candidate(uri, 1.0, source_node) for uri, source_node in found.items()][:depth]

    def wider(self, times: int) -> PathRetriever | None:
        """Start from ``times`` as many pages; None when these would be too many, or a language model would be asked
        again.
        """
        pages = self.settings.pages * times
        if pages > _MOST_PAGES or not isinstance(self.selector, MatchSelector):
            return None
        return PathRetriever(replace(self.settings, pages=pages), self.selector)

    def score(self, query: Query, chunks: Sequence[str]) -> Floats:
        found = self._chunks(query)
        return np.array([1.0 if uri in found else 0.0 for uri in chunks], dtype=np.float64)

    def options(self, query: Query) -> list[Option]:
        """Return the options for the selector: sections of the best pages, then paths of the best sub-graph."""
        settings = self.settings
        options = section_options(query, query.nearest(Label.PAGE, settings.pages))
        seeds = query.nearest(Label.ENTITY, settings.entities)
        graphs = grow(query.store, query.vector, seeds, settings.nodes, settings.fan_out)
        grown = [graph for graph in graphs if len(graph.nodes) > 1]
        if grown:
            options += path_options(min(grown, key=_best_first))
        return options

    def _chunks(self, query: Query) -> dict[str, SourceNode]:
        return query.memoize(self, lambda: self._find(query))

    def _find(self, query: Query) -> dict[str, SourceNode]:
        """Map each chunk to the section or path that led to it, best chunk first."""
        chosen = self.selector.select(query.text, self.options(query))
        found: dict[str, SourceNode] = {}
        sections = [option.nodes[0] for option in chosen if option.kind is OptionKind.SECTION]
        below = query.store.expand(sections, Hop.CHILD) if sections else {}
        for option in chosen:
            if option.kind is OptionKind.SECTION:
                chunks = below.get(option.nodes[0], [])
            else:
                chunks = path_chunks(query.store, option.nodes)
            for uri in chunks:
                found.setdefault(uri, option.source_node)
        return {uri: found[uri] for uri in _by_cosine(query, list(found))}


def _best_first(graph: SubGraph) -> tuple[float, str]:
    return rank_key(graph.score, graph.nodes[0].uri)


def _by_cosine(query: Query, chunks: Sequence[str]) -> list[str]:
    if not chunks:
        return []
    cosines = dots(query.store.vectors(Label.CHUNK, chunks), query.vector)
    cosines[np.isnan(cosines)] = -1.0
    order = np.argsort(-round_scores(cosines), kind="stable")
    return [chunks[row] for row in order.tolist()]


def path_chunks(store: GraphReader, nodes: Sequence[str]) -> list[str]:
    """Return the chunks for a path through ``nodes`` (distinct entities), by the first of these rules that finds any:

    1. chunks that cite all nodes,
    2. chunks on the page of one node that cite all the others,
    3. chunks that cite at least two nodes (relevant to longer paths),
    4. chunks that cite any node.

    Chunks are in order of first appearance along the path. One round trip.
    """
    citing = store.expand(nodes, Hop.CITED_IN)
    cited: dict[str, set[str]] = {}
    for node in nodes:
        for chunk in citing.get(node, []):
            cited.setdefault(chunk, set()).add(node)
    path = set(nodes)
    return (
        [chunk for chunk in cited if cited[chunk] == path]
        or [chunk for chunk in cited if path - cited[chunk] == {page_of(chunk)}]
        or [chunk for chunk in cited if len(cited[chunk]) >= 2]
        or list(cited)
    )
