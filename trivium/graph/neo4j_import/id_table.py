"""Numbers instead of names. Pages are read once: their own nodes and structure can be written at once, but what a title
stands for is known only when all pages have told their titles and aliases. Until then citations and relations wait here,
by number.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trivium.common.arrays import Integers
from trivium.graph.node_properties import term_key
from trivium.graph.page_graph import PageGraph, QuestionNode, RelationEdge


@dataclass(frozen=True, slots=True)
class Placed:
    """A page and the numbers of its nodes: its own, and those of its sections and chunks by uri. The data of a chunk has
    the number after that of the chunk.
    """

    page: PageGraph
    number: int
    sections: dict[str, int]
    chunks: dict[str, int]


class Relation(NamedTuple):
    """A relation between two nodes, given by number, that a page states in the form ``edge``."""

    page: str
    source: int
    target: int
    edge: RelationEdge


class Question(NamedTuple):
    """A question, and the numbers of the chunks that answer it."""

    uri: str
    text: str
    answers: Sequence[str]
    chunks: Sequence[int]


class Alias(NamedTuple):
    """An alias, the page it leads to (None if a page has that title), and the numbers of all pages that claim it."""

    alias: str
    leads_to: str | None
    pages: Sequence[int]


class Entity(NamedTuple):
    """An entity without a page."""

    uri: str
    number: int


class IdTable:
    """The numbers of the nodes, from 1, given in the order of the pages: the same pages always get the same numbers.

    ``last`` is the highest number, ``term_total`` how many search terms the chunks have together.
    """

    def __init__(self) -> None:
        self.last = 0
        self.term_total = 0
        self._questions: dict[str, tuple[QuestionNode, list[int]]] = {}
        self._titles: dict[str, int] = {}
        self._pages: set[str] = set()
        self._claims: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        self._citing = array("q")
        self._cited = array("q")
        self._relations: list[Relation] = []
        self._terms: Counter[str] = Counter()

    # -- what pages say --------------------------------------------------------------------------------------------

    def add(self, page: PageGraph) -> Placed:
        """Give numbers to the nodes of a page, and record what it says of other pages."""
        placed = Placed(
            page,
            number=self._number(page.uri),
            sections={section.uri: self._new() for section in page.sections},
            chunks={chunk.uri: self._new(2) for chunk in page.chunks},
        )
        self._pages.add(page.uri)
        for alias in dict.fromkeys(page.aliases):
            self._claims[alias].append((page.uri, placed.number))
        for chunk in page.chunks:
            self._citing.extend([placed.chunks[chunk.uri]] * len(chunk.cites))
            self._cited.extend([self._number(title) for title in chunk.cites])
            terms = f"{chunk.heading_terms} {chunk.terms}".split()
            self._terms.update(set(terms))
            self.term_total += len(terms)
        for question in page.questions:
            answering = self._questions.setdefault(question.uri, (question, []))[1]
            answering.extend(placed.chunks[chunk] for chunk in question.chunks if chunk in placed.chunks)
        for edge in RelationEdge.distinct(page.relations):
            source, target = self._number(edge.source), self._number(edge.target)
            self._relations.append(Relation(page.uri, source, target, edge))
        return placed

    def _number(self, title: str) -> int:
        number = self._titles.get(title)
        if number is None:
            number = self._titles[title] = self._new()
        return number

    def _new(self, nodes: int = 1) -> int:
        self.last += nodes
        return self.last - nodes + 1

    # -- what follows from all of them -----------------------------------------------------------------------------

    def stands_for(self) -> Integers:
        """Return for each number, from 0 on, that of the node it stands for.

        A page's own title stands for itself; of several pages that claim an alias the lowest uri holds it.
        """
        found: Integers = np.arange(self.last + 1)
        for alias, pages in self._claims.items():
            if alias in self._titles and alias not in self._pages:
                found[self._titles[alias]] = min(pages)[1]
        return found

    def entities(self) -> list[Entity]:
        """Return the titles that are neither of a page nor an alias, in order."""
        bare = self._titles.keys() - self._pages - self._claims.keys()
        return [Entity(title, self._titles[title]) for title in sorted(bare)]

    def aliases(self) -> list[Alias]:
        """Return the aliases in order."""
        return [
            Alias(
                alias,
                None if alias in self._pages else min(pages)[0],
                [number for _, number in sorted(pages)],
            )
            for alias, pages in sorted(self._claims.items())
        ]

    def citations(self) -> Integers:
        """Return the numbers (2, n) of chunks and of the titles that they cite, in order of appearance."""
        return np.array([self._citing, self._cited], dtype=np.int64)

    def types(self) -> list[str]:
        """Return the types of the relations, sorted."""
        return sorted({relation.edge.type for relation in self._relations})

    def relations(self, stands_for: Integers) -> Iterator[Relation]:
        """Iterate over the relations, with the numbers of the nodes that their ends stand for."""
        for page, source, target, edge in self._relations:
            yield Relation(page, int(stands_for[source]), int(stands_for[target]), edge)

    def terms(self) -> list[tuple[str, int]]:
        """Return the search terms as the database keys them, in order, with the numbers of chunks they occur in."""
        frequency: Counter[str] = Counter()
        for term, chunks in self._terms.items():
            frequency[term_key(term)] += chunks
        return sorted(frequency.items())

    def questions(self) -> list[Question]:
        """Return the questions, sorted by uri."""
        return [
            Question(uri, question.text, question.answers, chunks)
            for uri, (question, chunks) in sorted(self._questions.items(), key=lambda item: item[0])
        ]
