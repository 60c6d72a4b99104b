"""The options of a selector: sections of the best pages and paths through the best sub-graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from trivium.common.dots import dots
from trivium.graph.records import Neighbour
from trivium.graph.schema import Label, headings_of, unescape
from trivium.retrievers.query import Query
from trivium.retrievers.subgraph import SubGraph
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
