"""Numbers instead of names, and what has to be known of every page before any citation can be resolved.

Pages are read once. Their own nodes and structure can be written at once; where a title leads is known when the last
page has told its aliases. Until then citations wait as pairs of numbers, sixteen bytes each.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from trivium.common.arrays import Integers
from trivium.graph.model import PageGraph, QuestionNode
from trivium.graph.property_graph import term_key


@dataclass(frozen=True, slots=True)
class Placed:
    """A page and the numbers of its nodes: its own, and those of its sections and chunks by uri."""

    page: PageGraph
    number: int
    sections: dict[str, int]
    chunks: dict[str, int]


@dataclass(frozen=True, slots=True)
class Statement:
    """A relation between two entities, and the pages that state it."""

    source: str
    type: str
    target: str
    pages: tuple[str, ...]


class IdTable:
    """The numbers of nodes, given in the order of the pages, so that the same pages always get the same numbers.
    ``questions`` are those that chunks answer, by uri, each with the numbers of these chunks."""

    def __init__(self) -> None:
        self.term_total = 0
        self.questions: dict[str, tuple[QuestionNode, list[int]]] = {}
        self._last = 0
        self._titles: dict[str, int] = {}
        self._pages: set[str] = set()
        self._claims: dict[str, list[str]] = {}
        self._citing = array("q")
        self._cited = array("q")
        self._relations: list[tuple[str, str, str, str]] = []
        self._terms: Counter[str] = Counter()

    def add(self, page: PageGraph) -> Placed:
        """Give numbers to the nodes of a page, and record what it says of other pages."""
        placed = Placed(
            page,
            number=self.number(page.uri),
            sections={section.uri: self.new_id() for section in page.sections},
            chunks={chunk.uri: self.new_id() for chunk in page.chunks},
        )
        self._pages.add(page.uri)
        for alias in dict.fromkeys(page.aliases):
            self._claims.setdefault(alias, []).append(page.uri)
        for chunk in page.chunks:
            self._citing.extend([placed.chunks[chunk.uri]] * len(chunk.cites))
            self._cited.extend([self.number(title) for title in chunk.cites])
            terms = f"{chunk.heading_terms} {chunk.terms}".split()
            self._terms.update(set(terms))
            self.term_total += len(terms)
        for question in page.questions:
            answering = self.questions.setdefault(question.uri, (question, []))[1]
            answering.extend(placed.chunks[chunk] for chunk in question.chunks if chunk in placed.chunks)
        for relation in dict.fromkeys(page.relations):
            self.number(relation.source)
            self.number(relation.target)
            self._relations.append((page.uri, relation.source, relation.type, relation.target))
        return placed

    def number(self, title: str) -> int:
        """The number of a title's node."""
        number = self._titles.get(title)
        if number is None:
            number = self._titles[title] = self.new_id()
        return number

    def new_id(self) -> int:
        """A number that no node has yet."""
        self._last += 1
        return self._last

    # -- once all pages are read -------------------------------------------------------------------------------

    def aliases(self) -> Iterator[tuple[str, int, str | None, list[str]]]:
        """(alias, a number for its node, the page it leads to, the pages that claim it), by alias."""
        for alias, claimants in sorted(self._claims.items()):
            yield alias, self.new_id(), self._leads(alias), claimants

    def terms(self) -> list[tuple[str, int]]:
        """(search term as the database keys it, number of chunks it occurs in), by term."""
        frequency: Counter[str] = Counter()
        for term, count in self._terms.items():
            frequency[term_key(term)] += count
        return sorted(frequency.items())

    def citations(self) -> tuple[Integers, Integers, Integers]:
        """Chunk, entity and place of every citation (n,), resolved, each pair once, in order of appearance."""
        chunks = np.array(self._citing, dtype=np.int64)
        entities = self._resolution()[np.array(self._cited, dtype=np.int64)]
        pairs = chunks * (self._last + 1) + entities
        first = np.sort(np.unique(pairs, return_index=True)[1])
        chunks, entities = chunks[first], entities[first]
        begins = np.flatnonzero(np.diff(chunks, prepend=-1))
        lengths = np.diff(begins, append=len(chunks))
        return chunks, entities, np.arange(len(chunks)) - np.repeat(begins, lengths)

    def statements(self) -> list[Statement]:
        """Every relation, resolved, by source, type and target."""
        stated: dict[tuple[str, str, str], dict[str, None]] = {}
        for page, source, kind, target in self._relations:
            triple = (self.resolve(source), kind, self.resolve(target))
            stated.setdefault(triple, {})[page] = None
        return [Statement(*triple, tuple(pages)) for triple, pages in sorted(stated.items())]

    def bare_entities(self, cited: Integers, statements: list[Statement]) -> list[str]:
        """Entities that are no page, by uri."""
        cited_ids = set(np.unique(cited).tolist())
        found = {title for title, number in self._titles.items() if number in cited_ids}
        for statement in statements:
            found.update((statement.source, statement.target))
        return sorted(found - self._pages)

    def resolve(self, title: str) -> str:
        """The entity a title stands for."""
        page = self._leads(title)
        return title if page is None else page

    def _leads(self, title: str) -> str | None:
        """A page's own title stands for itself; of several pages that claim an alias the lowest uri holds it."""
        return None if title in self._pages else min(self._claims.get(title, ()), default=None)

    def _resolution(self) -> Integers:
        """Number of a title -> number of the entity it stands for; other numbers stand for themselves."""
        stands_for = np.arange(self._last + 1)
        for alias in self._claims:
            if alias in self._titles:
                stands_for[self._titles[alias]] = self._titles[self.resolve(alias)]
        return stands_for
