"""Numbers instead of names. Pages are read once: their own nodes and structure can be written at once, but what a title
stands for is known only when all pages have told their titles and aliases. Until then
citations and relations wait in files (:mod:`.name_files`), by number.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass

import numpy as np

from trivium.graph.bulk.name_files import Claim, NameFiles, Question, Relation, Term, Title
from trivium.graph.model import PageGraph, QuestionNode
from trivium.graph.property_graph import term_key


@dataclass(frozen=True, slots=True)
class Placed:
    """A page and the numbers of its nodes: its own, and those of its sections and chunks by uri."""

    page: PageGraph
    number: int
    sections: dict[str, int]
    chunks: dict[str, int]


class IdTable:
    """The numbers of the nodes, from 1, given in the order of the pages: the same pages always get the same numbers."""

    def __init__(self) -> None:
        self._last = 0
        self._term_total = 0
        self._questions: dict[str, tuple[QuestionNode, list[int]]] = {}
        self._titles: dict[str, int] = {}
        self._pages: set[str] = set()
        self._claims: list[tuple[str, str]] = []
        self._citing = array("q")
        self._cited = array("q")
        self._relations: list[tuple[str, str, str, str]] = []
        self._terms: Counter[str] = Counter()

    def add(self, page: PageGraph) -> Placed:
        """Give numbers to the nodes of a page, and record what it says of other pages."""
        placed = Placed(
            page,
            number=self._number(page.uri),
            sections={section.uri: self._new() for section in page.sections},
            chunks={chunk.uri: self._new() for chunk in page.chunks},
        )
        self._pages.add(page.uri)
        self._claims.extend((alias, page.uri) for alias in dict.fromkeys(page.aliases))
        for chunk in page.chunks:
            self._citing.extend([placed.chunks[chunk.uri]] * len(chunk.cites))
            self._cited.extend([self._number(title) for title in chunk.cites])
            terms = f"{chunk.heading_terms} {chunk.terms}".split()
            self._terms.update(set(terms))
            self._term_total += len(terms)
        for question in page.questions:
            answering = self._questions.setdefault(question.uri, (question, []))[1]
            answering.extend(placed.chunks[chunk] for chunk in question.chunks if chunk in placed.chunks)
        for relation in dict.fromkeys(page.relations):
            self._number(relation.source)
            self._number(relation.target)
            self._relations.append((page.uri, relation.source, relation.type, relation.target))
        return placed

    def write(self, files: NameFiles, digest: str) -> None:
        """Write what was recorded, once all pages are there."""
        numbers = self._titles
        files.write(Title, (Title(title, numbers[title], title in self._pages) for title in sorted(numbers)))
        files.write(Claim, (Claim(alias, page, numbers[page]) for alias, page in sorted(self._claims)))
        files.write(
            Relation,
            (
                Relation(page, numbers[source], kind, numbers[target])
                for page, source, kind, target in self._relations
            ),
        )
        frequency: Counter[str] = Counter()
        for term, count in self._terms.items():
            frequency[term_key(term)] += count
        files.write(Term, (Term(term, count) for term, count in sorted(frequency.items())))
        files.write(
            Question,
            (
                Question(uri, question.text, question.answers, chunks)
                for uri, (question, chunks) in self._questions.items()
            ),
        )
        files.write_citations(np.array([self._citing, self._cited], dtype=np.int64))
        files.write_facts(digest, self._last, self._term_total)

    def _number(self, title: str) -> int:
        number = self._titles.get(title)
        if number is None:
            number = self._titles[title] = self._new()
        return number

    def _new(self) -> int:
        self._last += 1
        return self._last
