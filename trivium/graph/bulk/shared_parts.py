"""The files about all shards of a store: names and words that any of them has, and what several of them state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import compress, groupby
from operator import attrgetter
from uuid import UUID

from trivium.graph.bulk import rows, tables
from trivium.graph.bulk.decisions import Alias, decide, decide_relations
from trivium.graph.bulk.folder import Folder
from trivium.graph.bulk.name_files import NameFiles, Question, Relation, Term
from trivium.graph.bulk.parts import Embeddings, Lines, Parts, index_parameters, relation_vectors
from trivium.graph.bulk.shard_parts import NUMBERS, relation_lines, resolved
from trivium.graph.bulk.tables import HEADERS, headers
from trivium.graph.protocols import GraphStore

INTERNAL = "internal"
"""The part with the nodes that the store has for its own use: aliases, terms, relation types."""
SHARED = "shared"
"""The part with relations that documents of several shards state."""


class SharedParts(Parts):
    """Decides about names, when the pages of all shards are written, and writes what belongs to none of them."""

    def __init__(self, store: GraphStore, folder: Folder, shards: Sequence[NameFiles]) -> None:
        super().__init__(folder)
        self._store = store
        self._shards = shards
        self._last = len(shards) * NUMBERS
        for files in shards:
            self.note(files.facts().digest)

    def write(self) -> None:
        """Write the parts, and for each shard what was decided."""
        aliases = decide(self._shards)
        kinds = decide_relations(self._shards)
        embeddings = relation_vectors(self._store, kinds)
        self.note([vector.tobytes() for vector in embeddings.values()])
        self.note(self._store.fusion_decision)
        self._write(INTERNAL, self._internal_lines(aliases, kinds, embeddings))
        if any(files.shared().any() for files in self._shards):
            self._write(SHARED, self._shared_lines(embeddings))
        questions = self._questions()
        if questions:
            self._write(tables.QUESTIONS.name, self._question_lines(questions))
        self._write(HEADERS, ((name, [line]) for name, line in headers()))

    def _write(self, name: str, lines: Lines) -> None:
        for _ in self.part(name, lines):
            pass

    def _new(self) -> int:
        self._last += 1
        return self._last

    def _internal_lines(
        self, aliases: Sequence[Alias], kinds: Sequence[str], embeddings: Embeddings
    ) -> Lines:
        for alias in aliases:
            number = self._new()
            yield tables.ALIASES.name, [tables.ALIASES.line(number, rows.alias(alias.alias, alias.leads_to))]
            yield tables.ALIASED.name, [tables.ALIASED.line(number, page) for page in alias.pages]
        terms = ({"term": term, "df": df} for term, df in self._terms())
        yield tables.TERMS.name, (tables.TERMS.line(self._new(), row) for row in terms)
        for kind in kinds:
            row = rows.relation_type(kind, embeddings.get(kind))
            yield tables.RELATION_TYPES.name, [tables.RELATION_TYPES.line(self._new(), row)]
        term_total = sum(files.facts().terms for files in self._shards)
        own = rows.store(self._store, index_parameters(self._store), term_total, UUID(bytes=self.digest))
        yield tables.STORE.name, [tables.STORE.line(self._new(), own)]

    def _terms(self) -> Iterator[tuple[str, int]]:
        by_term = attrgetter("term")
        known = merge(*(files.read(Term) for files in self._shards), key=by_term)
        for term, found in groupby(known, key=by_term):
            yield term, sum(each.chunks for each in found)

    def _shared_lines(self, embeddings: Embeddings) -> Lines:
        stated = (
            relation
            for files in self._shards
            for relation in resolved(files, compress(files.read(Relation), files.shared()))
        )
        return relation_lines(stated, embeddings)

    def _questions(self) -> dict[str, tuple[Question, list[int]]]:
        found: dict[str, tuple[Question, list[int]]] = {}
        for files in self._shards:
            for question in files.read(Question):
                found.setdefault(question.uri, (question, []))[1].extend(question.chunks)
        return found

    def _question_lines(self, questions: dict[str, tuple[Question, list[int]]]) -> Lines:
        for uri, (question, chunks) in sorted(questions.items()):
            number = self._new()
            row = {"uri": uri, "text": question.text, "answers": question.answers}
            yield tables.QUESTIONS.name, [tables.QUESTIONS.line(number, row)]
            yield tables.IS_ANSWER_OF.name, [tables.IS_ANSWER_OF.line(chunk, number) for chunk in chunks]
