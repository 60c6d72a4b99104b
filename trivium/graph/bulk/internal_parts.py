"""The files about the whole store: names, words, relation types and questions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from uuid import UUID

from trivium.graph.bulk import rows, tables
from trivium.graph.bulk.folder import Folder
from trivium.graph.bulk.id_table import IdTable, Question
from trivium.graph.bulk.parts import Embeddings, Lines, Parts, relation_vectors
from trivium.graph.bulk.tables import HEADERS, headers
from trivium.graph.protocols import GraphStore

INTERNAL = "internal"
"""The part with the nodes that the store has for its own use: aliases, terms, relation types."""


class InternalParts(Parts):
    """Writes what belongs to no page, when all of them are written; ``pages`` is their digest."""

    def __init__(self, store: GraphStore, folder: Folder, ids: IdTable, pages: bytes) -> None:
        super().__init__(folder)
        self._store = store
        self._ids = ids
        self.note(pages)

    def write(self) -> None:
        """Write the parts."""
        kinds = self._ids.types()
        embeddings = relation_vectors(self._store, kinds)
        self.note([vector.tobytes() for vector in embeddings.values()])
        self.note(self._store.fusion_decision)
        questions = self._ids.questions()
        # Questions come first: their numbers must not depend on whether the internal part is written or kept.
        first_question = self._ids.last + 1
        first = first_question + len(questions)
        self._write(INTERNAL, self._internal_lines(first, kinds, embeddings))
        if questions:
            self._write(tables.QUESTIONS.name, _question_lines(first_question, questions))
        self._write(HEADERS, ((name, [line]) for name, line in headers()))

    def _write(self, name: str, lines: Lines) -> None:
        for _ in self.part(name, lines):
            pass

    def _internal_lines(self, first: int, kinds: Sequence[str], embeddings: Embeddings) -> Lines:
        numbers = count(first)
        for alias in self._ids.aliases():
            number = next(numbers)
            yield tables.ALIASES.name, [tables.ALIASES.line(number, rows.alias(alias.alias, alias.leads_to))]
            yield tables.ALIASED.name, [tables.ALIASED.line(number, page) for page in alias.pages]
        terms = ({"term": term, "df": chunks} for term, chunks in self._ids.terms())
        yield tables.TERMS.name, (tables.TERMS.line(next(numbers), row) for row in terms)
        for kind in kinds:
            row = rows.relation_type(kind, embeddings.get(kind))
            yield tables.RELATION_TYPES.name, [tables.RELATION_TYPES.line(next(numbers), row)]
        uuid = UUID(bytes=self.digest)
        own = rows.store(self._store, self._ids.term_total, uuid)
        yield tables.STORE.name, [tables.STORE.line(next(numbers), own)]


def _question_lines(first: int, questions: Sequence[Question]) -> Lines:
    for number, question in enumerate(questions, start=first):
        row = {"uri": question.uri, "text": question.text, "answers": question.answers}
        yield tables.QUESTIONS.name, [tables.QUESTIONS.line(number, row)]
        yield tables.IS_ANSWER_OF.name, [tables.IS_ANSWER_OF.line(chunk, number) for chunk in question.chunks]
