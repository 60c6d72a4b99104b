"""The files of a store, in two steps: its pages, and, when it is known what names stand for, its entities and links."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from trivium.common.arrays import Integers
from trivium.common.iteration import batched
from trivium.graph.bulk import rows, tables
from trivium.graph.bulk.folder import Folder
from trivium.graph.bulk.id_table import Entity, IdTable, Placed, Relation
from trivium.graph.bulk.parts import LINES_A_WRITE, Embeddings, Lines, Parts, by, facts, relation_vectors
from trivium.graph.model import ChunkNode, PageGraph
from trivium.graph.page_checks import check_page
from trivium.graph.pages import encode_metadata
from trivium.graph.pictures import split_vectors
from trivium.graph.property_graph import encode_sentences
from trivium.graph.protocols import GraphStore
from trivium.graph.records import Vectors
from trivium.graph.schema import Label, embedding_text, headings_of
from trivium.graph.vectors import text_hash

PAGES_A_PART = 250
ENTITIES_A_PART = 20_000


class StoreParts(Parts):
    """The parts of one of the steps; each step has an object of its own."""

    def __init__(self, store: GraphStore, folder: Folder, ids: IdTable) -> None:
        super().__init__(folder)
        self._store = store
        self._ids = ids
        self._types = store.types()
        self._embedded = store.embedder is not None

    def pages(self) -> Generator[int, None, None]:
        """Write the pages, and what they say of names."""
        self.note(facts(self._store, self._types))
        sentences = _Sentences(self._store) if self._embedded else None
        pictures = _pictures(self._store)
        for number, pages in enumerate(batched(self._store.page_graphs(), PAGES_A_PART)):
            yield from self._pages(f"pages-{number:05}", pages, sentences, pictures)

    def links(self, pages: bytes) -> Generator[int, None, None]:
        """Write the entities without a page, and what pages cite and relate. ``pages`` is the digest of the pages."""
        stands_for = self._ids.stands_for()
        self.note(pages)
        self.note(stands_for.tobytes())
        for part, some in enumerate(batched(self._ids.entities(), ENTITIES_A_PART)):
            embeddings = self._vectors(Label.ENTITY, [entity.uri for entity in some])
            yield from self._part_of_entities(f"entities-{part:05}", some, embeddings)
        yield from self.part(tables.CITES.name, _citation_lines(self._ids.citations(), stands_for))
        kinds = relation_vectors(self._store, self._ids.types())
        self.note([vector.tobytes() for vector in kinds.values()])
        yield from self.part(
            tables.SEMANTIC_REL.name, _relation_lines(self._ids.relations(stands_for), kinds)
        )

    # -- pages -----------------------------------------------------------------------------------------------------

    def _pages(
        self,
        name: str,
        pages: Sequence[PageGraph],
        known_sentences: _Sentences | None,
        known_pictures: Mapping[str, str],
    ) -> Iterator[int]:
        for page in pages:
            check_page(page)
            self.note(
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
        self.note(sorted(added.items()))
        placed = [self._ids.add(page) for page in pages]
        embeddings = {
            Label.PAGE: self._vectors(Label.PAGE, [page.uri for page in pages]),
            Label.SUBCHAPTER: self._vectors(
                Label.SUBCHAPTER, [s.uri for page in pages for s in page.sections]
            ),
            Label.CHUNK: self._vectors(Label.CHUNK, [c.uri for page in pages for c in page.chunks]),
        }
        sentences = {} if known_sentences is None else known_sentences.of_chunks(pages)
        uris = (chunk.uri for page in pages for chunk in page.chunks)
        pictures = {uri: known_pictures[uri] for uri in uris if uri in known_pictures}
        self.note((sentences, pictures))
        lines = self._page_lines(placed, embeddings, sentences, pictures, added)
        yield from self.part(name, lines, len(pages))

    def _page_lines(
        self,
        pages: Sequence[Placed],
        embeddings: Mapping[Label, Embeddings],
        sentences: Mapping[str, str],
        pictures: Mapping[str, str],
        added: Mapping[str, str | None],
    ) -> Lines:
        for placed in pages:
            uri = placed.page.uri
            row = rows.page(placed, self._types.get(uri), embeddings[Label.PAGE].get(uri), added.get(uri))
            yield tables.PAGES.name, [tables.PAGES.line(placed.number, row)]
            yield tables.SECTIONS.name, rows.sections(placed, embeddings[Label.SUBCHAPTER])
            yield tables.CHUNKS.name, rows.chunks(placed, embeddings[Label.CHUNK], sentences, pictures)
            for table, pairs in rows.structure(placed):
                yield table.name, [table.line(start, end) for start, end in pairs]

    def _vectors(self, label: Label, uris: Sequence[str]) -> Embeddings:
        if not self._embedded:
            return {}
        vectors = self._store.vectors(label, uris)
        self.note(vectors.tobytes())
        return by(uris, vectors)

    # -- links -----------------------------------------------------------------------------------------------------

    def _part_of_entities(
        self, name: str, entities: Sequence[Entity], embeddings: Embeddings
    ) -> Iterator[int]:
        def lines() -> Iterator[str]:
            for uri, number in entities:
                row = rows.entity(uri, self._types.get(uri), embeddings.get(uri))
                yield tables.ENTITIES.line(number, row)

        return self.part(name, iter([(tables.ENTITIES.name, lines())]), len(entities))


def _citation_lines(citations: Integers, stands_for: Integers) -> Lines:
    """Some rows of the arrays at a time: as Python numbers they take several times the memory."""
    line, columns = tables.CITES.line, _resolved(citations, stands_for)
    for start in range(0, len(columns[0]), LINES_A_WRITE):
        some = zip(*(column[start : start + LINES_A_WRITE].tolist() for column in columns), strict=True)
        yield tables.CITES.name, [line(a, b, {"position": place}) for a, b, place in some]


def _resolved(citations: Integers, stands_for: Integers) -> tuple[Integers, Integers, Integers]:
    """Chunk, entity and place of every citation (n,), resolved, each pair once, in order of appearance."""
    chunks, cited = citations
    entities, place = np.unique(stands_for[cited], return_inverse=True)
    pairs = chunks * (len(entities) + 1) + place  # numbers of nodes themselves would not fit
    kept = np.sort(np.unique(pairs, return_index=True)[1])
    chunks, cited = chunks[kept], entities[place[kept]]
    begins = np.flatnonzero(np.diff(chunks, prepend=-1))
    lengths = np.diff(begins, append=len(chunks))
    return chunks, cited, np.arange(len(chunks)) - np.repeat(begins, lengths)


def _relation_lines(relations: Iterable[Relation], embeddings: Embeddings) -> Lines:
    """Yield the lines of resolved relations, each once, with all pages that state it."""
    stated: dict[tuple[int, str, int], dict[str, None]] = {}
    for page, source, kind, target in relations:
        stated.setdefault((source, kind, target), {})[page] = None
    line = tables.SEMANTIC_REL.line
    for (source, kind, target), pages in stated.items():
        there, back = rows.relation(kind, tuple(pages), embeddings.get(kind))
        yield tables.SEMANTIC_REL.name, [line(source, target, there), line(target, source, back)]


def _pictures(store: GraphStore) -> dict[str, str]:
    """chunk -> vector of its picture, as the property that a chunk has in the database."""
    identity = store.image_embedder
    if identity is None:
        return {}
    found = store.picture_vectors()
    vectors: Vectors = found.vectors
    encoded = split_vectors(vectors, len(found.uris), identity)
    return {uri: b64encode(vector).decode() for uri, vector in zip(found.uris, encoded, strict=True)}


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
