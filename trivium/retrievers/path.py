"""path: is the chunk on a relevant path of sections or relations? A selector chooses among the options: sections of the
best pages, and paths through the best sub-graph.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import ClassVar, Protocol

import numpy as np

from trivium.common.arrays import dots
from trivium.errors import ConfigurationError
from trivium.graph.protocols import GraphReader
from trivium.graph.records import Floats, Neighbour, rank_key, round_scores
from trivium.graph.schema import Hop, Label, headings_of, page_of, unescape
from trivium.retrievers.query import Candidate, Query, check_counts, check_depth
from trivium.retrievers.relation_subgraph import SubGraph, grow
from trivium.retrievers.setting_values import CONSTANT
from trivium.text.normalise import terms
from trivium.types import GraphPath, SourceNode


class OptionKind(StrEnum):
    """What an option refers to."""

    SECTION = "section"
    PATH = "path"


@dataclass(frozen=True, slots=True)
class Option:
    """An option offered to a selector. ``identifier`` is the uri of a section (of a page, for its lead) or a
    formatted path; ``text`` is the same for display. ``names`` are its titles and headings, outermost first.
    ``nodes`` are the uris of its nodes and ``relations`` those between consecutive nodes. ``cosine`` is its
    similarity to the question, [-1, 1].
    """

    kind: OptionKind
    identifier: str
    text: str
    names: tuple[str, ...]
    nodes: tuple[str, ...]
    cosine: float
    relations: tuple[str, ...] = ()

    @property
    def source_node(self) -> SourceNode:
        """The source node of chunks found through this option."""
        return self.nodes[0] if self.kind is OptionKind.SECTION else GraphPath(self.nodes, self.relations)


def section_options(query: Query, pages: Sequence[Neighbour]) -> list[Option]:
    """*Sub-chapter finder*: return every page and each of its sections, in document order."""
    outlines = query.store.outline([page.uri for page in pages])
    sections = [uri for page in pages for uri in outlines.get(page.uri, [])]
    cosines = dict(zip(sections, _cosines(query, sections), strict=True))
    options = []
    for page in pages:
        options.append(_section(page.uri, page.score))
        options += [_section(uri, cosines[uri]) for uri in outlines.get(page.uri, [])]
    return options


def _cosines(query: Query, sections: Sequence[str]) -> list[float]:
    if not sections:
        return []
    vectors = query.store.vectors(Label.SUBCHAPTER, sections)
    cosines = dots(vectors, query.vector)
    cosines[np.isnan(cosines)] = 0.0  # a section without an embedding
    similarities: list[float] = cosines.tolist()
    return similarities


def _section(uri: str, cosine: float) -> Option:
    names = tuple(headings_of(uri))
    return Option(OptionKind.SECTION, uri, " > ".join(names), names, (uri,), cosine)


def path_options(graph: SubGraph) -> list[Option]:
    """Return the path from the sub-graph's seed to each other node, in the order the nodes were added."""
    options = []
    for number in range(1, len(graph.nodes)):
        steps = graph.path_to(number)
        path = GraphPath(tuple(step.uri for step in steps), tuple(str(step.relation) for step in steps[1:]))
        names = tuple(unescape(step.uri) for step in steps)
        score = sum(step.score for step in steps) / len(steps)
        for_people = GraphPath(names, path.relations)
        options.append(
            Option(OptionKind.PATH, str(path), str(for_people), names, path.nodes, score, path.relations)
        )
    return options


class Selector(Protocol):
    """Reads the options as text and picks those that lead to the answer: one, several or none."""

    def select(self, question: str, options: Sequence[Option]) -> list[Option]:
        """Return the chosen options, best first. Only offered options may be returned."""
        ...


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """Settings of :class:`MatchSelector`, in standard deviations of the options' cosines.

    - ``overlap``: value of a full word overlap.
    - ``threshold``: score, above the mean, that the best option needs to be chosen at all.
    - ``margin``: maximum distance of further options from the best one.
    - ``options``: maximum number of options chosen.
    """

    overlap: float = 1.0
    threshold: float = 1.5
    margin: float = 0.5
    options: int = 3

    def __post_init__(self) -> None:
        check_counts("path.match", options=self.options)
        for name in ("overlap", "margin"):
            if not getattr(self, name) >= 0:
                raise ConfigurationError(f"path.match.{name} must be at least 0, got {getattr(self, name)}")


@dataclass(frozen=True, eq=False)
class MatchSelector:
    """Chooses without a language model, by similarity of embeddings plus word overlap.

    Cosines are standardised over the options, because their level depends on the embedder.
    """

    settings: MatchSettings = field(default_factory=MatchSettings)

    def select(self, question: str, options: Sequence[Option]) -> list[Option]:
        if not options:
            return []
        scores = self.scores(question, options)
        rounded = round_scores(scores).tolist()
        order = sorted(range(len(options)), key=lambda row: (-rounded[row], options[row].identifier))
        best = float(scores[order[0]])
        if best < self.settings.threshold:
            return []
        near = [row for row in order if scores[row] >= best - self.settings.margin]
        return [options[row] for row in near[: self.settings.options]]

    def scores(self, question: str, options: Sequence[Option]) -> Floats:
        """Return the score of each option (n,): standardised cosine plus weighted word overlap. Higher is better."""
        cosines = np.array([option.cosine for option in options], dtype=np.float64)
        standard = cosines - cosines.mean()
        deviation = math.sqrt(np.square(standard).mean())
        if deviation > 1e-9:
            standard /= deviation
        else:
            standard[:] = 0.0
        asked = frozenset(terms(question))
        overlap = np.array([word_overlap(asked, option.names) for option in options])
        scores: Floats = standard + self.settings.overlap * overlap
        return scores


def word_overlap(asked: frozenset[str], names: Sequence[str]) -> float:
    """Return the share of the names' distinct stemmed words that occur in the question, [0, 1]."""
    named: set[str] = set().union(*map(_words, names))
    return len(named & asked) / len(named) if named else 0.0


@lru_cache(maxsize=1 << 14)
def _words(name: str) -> frozenset[str]:
    """Stemmed words of a name. Cached: a title precedes every section of its page, and popular pages recur."""
    return frozenset(terms(name))


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
    fan_out: int = field(default=200, metadata=CONSTANT)

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
