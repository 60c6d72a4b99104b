"""What goes into the files: page by page, then what is known only when all pages have been read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from trivium.common.iteration import batched
from trivium.graph.bulk import rows, tables
from trivium.graph.bulk.folder import Folder
from trivium.graph.bulk.id_table import IdTable, Placed, Statement
from trivium.graph.bulk.tables import HEADERS, headers
from trivium.graph.facts import encode_metadata
from trivium.graph.model import ChunkNode, PageGraph
from trivium.graph.page_checks import check_page
from trivium.graph.property_graph import encode_sentences
from trivium.graph.protocols import GraphStore
from trivium.graph.records import Progress, Vectors
from trivium.graph.schema import SCHEMA_VERSION, Label, embedding_text, headings_of
from trivium.graph.vectors import text_hash

RULES = "8"
"""Bumped when the same store would give other files, so that those of an earlier export are not kept."""
PAGES_A_PART = 250
ENTITIES_A_PART = 20_000
INTERNAL = "internal"
"""The part with the nodes that the store has for its own use: aliases, terms, relation types."""
_LINES_A_WRITE = 20_000
Lines = Iterator[tuple[str, Iterable[str]]]
"""Lines of tables, by name."""
Embeddings = Mapping[str, Vectors]


class Parts:
    """The parts of one export. ``names`` are all of them, in order; ``written`` counts those that were not kept."""

    def __init__(self, store: GraphStore, folder: Folder, total: int, progress: Progress | None) -> None:
        """``total`` is how many entities there are, pages among them."""
        self.names: list[str] = []
        self.written = 0
        self._store = store
        self._folder = folder
        self._progress = progress
        self._done, self._total = 0, total
        self._ids = IdTable()
        self._types = store.types()
        self._embedder = store.embedder
        self._chunker = store.chunker
        # A folder's own, without what the server has no parameter for.
        self._index = store.index_parameters.model_copy(update={"expansion_search": None})
        self._sentences = None if self._embedder is None else _Sentences(store)
        # Numbers depend on the parts before, so each digest continues that of the part before.
        self._digest = hashlib.blake2b(digest_size=16)
        known = (self._chunker, list(self._types.items()), store.languages, self._index.stored())
        self._note((RULES, SCHEMA_VERSION, self._embedder, *known))

    def write(self) -> None:
        """Write the parts that are missing or outdated, keep the others."""
        for number, pages in enumerate(batched(self._store.page_graphs(), PAGES_A_PART)):
            self._write_pages(f"pages-{number:05}", pages)
        citations = self._ids.citations()
        statements = self._ids.statements()
        entities = self._ids.bare_entities(citations[1], statements)
        for number, uris in enumerate(batched(entities, ENTITIES_A_PART)):
            embeddings = self._vectors(Label.ENTITY, uris)
            self._part(f"entities-{number:05}", self._entity_lines(uris, embeddings), len(uris))
        kinds = sorted({statement.type for statement in statements})
        of_kinds = {} if self._embedder is None else _by(kinds, self._store.relation_vectors(kinds))
        self._note([vector.tobytes() for vector in of_kinds.values()])
        self._part(INTERNAL, self._internal_lines(kinds, of_kinds))
        self._part(tables.CITES.name, self._citation_lines(*citations))
        self._part(tables.SEMANTIC_REL.name, self._relation_lines(statements, of_kinds))
        if self._ids.questions:
            self._part(tables.QUESTIONS.name, self._question_lines())
        self._part(HEADERS, ((name, [line]) for name, line in headers()))

    def _write_pages(self, name: str, pages: Sequence[PageGraph]) -> None:
        for page in pages:
            check_page(page)
            self._note(
                (
                    *(page.uri, page.source, page.revision, page.content_hash, page.aliases, page.relations),
                    *(page.format, page.path, page.modified, encode_metadata(page.metadata, page.given)),
                    [chunk.pages for chunk in page.chunks if chunk.pages is not None],
                    [section.anchors for section in page.sections if section.anchors],
                    [chunk.anchors for chunk in page.chunks if chunk.anchors],
                    page.questions,
                )
            )
        records = self._store.find_pages([page.uri for page in pages])
        added = {uri: record.added for uri, record in records.items()}
        self._note(sorted(added.items()))
        placed = [self._ids.add(page) for page in pages]
        embeddings = {
            Label.PAGE: self._vectors(Label.PAGE, [page.uri for page in pages]),
            Label.SUBCHAPTER: self._vectors(
                Label.SUBCHAPTER, [s.uri for page in pages for s in page.sections]
            ),
            Label.CHUNK: self._vectors(Label.CHUNK, [c.uri for page in pages for c in page.chunks]),
        }
        sentences = {} if self._sentences is None else self._sentences.of_chunks(pages)
        self._note(sentences)
        self._part(name, self._page_lines(placed, embeddings, sentences, added), len(pages))

    def _page_lines(
        self,
        pages: Sequence[Placed],
        embeddings: Mapping[Label, Embeddings],
        sentences: Mapping[str, str],
        added: Mapping[str, str | None],
    ) -> Lines:
        for placed in pages:
            uri = placed.page.uri
            row = rows.page(placed, self._types.get(uri), embeddings[Label.PAGE].get(uri), added.get(uri))
            yield tables.PAGES.name, [tables.PAGES.line(placed.number, row)]
            yield tables.SECTIONS.name, rows.sections(placed, embeddings[Label.SUBCHAPTER])
            yield tables.CHUNKS.name, rows.chunks(placed, embeddings[Label.CHUNK], sentences)
            for table, pairs in rows.structure(placed):
                yield table.name, [table.line(start, end) for start, end in pairs]
            self._advance(1)

    def _entity_lines(self, uris: Sequence[str], embeddings: Embeddings) -> Lines:
        for uri in uris:
            row = rows.entity(uri, self._types.get(uri), embeddings.get(uri))
            yield tables.ENTITIES.name, [tables.ENTITIES.line(self._ids.number(uri), row)]
        self._advance(len(uris))

    def _internal_lines(self, kinds: Sequence[str], embeddings: Embeddings) -> Lines:
        for uri, number, leads_to, pages in self._ids.aliases():
            yield tables.ALIASES.name, [tables.ALIASES.line(number, rows.alias(uri, leads_to))]
            claims = [tables.ALIASED.line(number, self._ids.number(page)) for page in pages]
            yield tables.ALIASED.name, claims
        terms = ({"term": term, "df": df} for term, df in self._ids.terms())
        yield tables.TERMS.name, (tables.TERMS.line(self._ids.new_id(), row) for row in terms)
        for kind in kinds:
            row = rows.relation_type(kind, embeddings.get(kind))
            yield tables.RELATION_TYPES.name, [tables.RELATION_TYPES.line(self._ids.new_id(), row)]
        state = UUID(bytes=self._digest.digest())
        row = rows.store(
            self._embedder,
            self._ids.term_total,
            self._store.languages,
            state=state,
            chunker=self._chunker,
            index=self._index,
        )
        yield tables.STORE.name, [tables.STORE.line(self._ids.new_id(), row)]

    def _citation_lines(self, *columns: NDArray[np.int64]) -> Lines:
        """Some rows of the arrays at a time: as Python numbers they take several times the memory."""
        line = tables.CITES.line
        for start in range(0, len(columns[0]), _LINES_A_WRITE):
            some = zip(*(column[start : start + _LINES_A_WRITE].tolist() for column in columns), strict=True)
            yield tables.CITES.name, [line(a, b, {"position": place}) for a, b, place in some]

    def _relation_lines(self, statements: Sequence[Statement], embeddings: Embeddings) -> Lines:
        number, line = self._ids.number, tables.SEMANTIC_REL.line
        for statement in statements:
            source, target = number(statement.source), number(statement.target)
            there, back = rows.relation(statement, embeddings.get(statement.type))
            yield tables.SEMANTIC_REL.name, [line(source, target, there), line(target, source, back)]

    def _question_lines(self) -> Lines:
        for _, (question, chunks) in sorted(self._ids.questions.items()):
            number = self._ids.new_id()
            row = {"uri": question.uri, "text": question.text, "answers": question.answers}
            yield tables.QUESTIONS.name, [tables.QUESTIONS.line(number, row)]
            yield tables.IS_ANSWER_OF.name, [tables.IS_ANSWER_OF.line(chunk, number) for chunk in chunks]

    def _part(self, name: str, lines: Lines, size: int = 0) -> None:
        """Write a part, unless it is there already; ``size`` is its share of the progress."""
        self.names.append(name)
        digest = self._digest.hexdigest()
        if self._folder.keeps(name, digest):
            self._advance(size)
            return
        with self._folder.part(name, digest) as part:
            for table, some in lines:
                part.write(table, some)
        self.written += 1

    def _vectors(self, label: Label, uris: Sequence[str]) -> Embeddings:
        if self._embedder is None:
            return {}
        vectors = self._store.vectors(label, uris)
        self._digest.update(vectors.tobytes())
        return _by(uris, vectors)

    def _note(self, source: object) -> None:
        """Add to the digest something that the following parts are made from."""
        self._digest.update(repr(source).encode())

    def _advance(self, count: int) -> None:
        self._done += count
        if self._progress is not None:
            self._progress(self._done, self._total)


def _by(names: Sequence[str], vectors: Vectors) -> Embeddings:
    return dict(zip(names, vectors, strict=True))


class _Sentences:
    """Sentence vectors of one store, which has an embedder, as the property that a chunk has in the database."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        # By their hashes: where there are none yet, the passages themselves are most of what the store holds.
        self._pending = {text_hash(embedding_text(p.headings, p.text)) for p in store.pending_sentences()}

    def of_chunks(self, pages: Sequence[PageGraph]) -> dict[str, str]:
        """uri -> property, of the chunks of pages; those of which nothing is known are left out."""
        uris = [chunk.uri for page in pages for chunk in page.chunks if not self._waits(chunk)]
        found = self._store.sentence_vectors(uris)
        return {
            uri: encode_sentences(found.codes[start:end])
            for uri, (start, end) in zip(uris, pairwise(found.starts.tolist()), strict=True)
        }

    def _waits(self, chunk: ChunkNode) -> bool:
        return text_hash(embedding_text(headings_of(chunk.parent), chunk.text)) in self._pending
