"""The files of one shard of a store, or of a store that has no shards, in two steps: its pages, and, when it is decided
what names stand for, its entities and links.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise
from pathlib import Path

import numpy as np

from trivium.common.arrays import Integers
from trivium.common.iteration import batched
from trivium.graph.bulk import rows, tables
from trivium.graph.bulk.folder import open_folder
from trivium.graph.bulk.id_table import IdTable, Placed
from trivium.graph.bulk.name_files import NameFiles, Relation, Title
from trivium.graph.bulk.parts import LINES_A_WRITE, Embeddings, Lines, Parts, by, facts, relation_vectors
from trivium.graph.facts import encode_metadata
from trivium.graph.model import ChunkNode, PageGraph
from trivium.graph.page_checks import check_page
from trivium.graph.pictures import split_vectors
from trivium.graph.property_graph import encode_sentences
from trivium.graph.protocols import GraphStore
from trivium.graph.records import Vectors
from trivium.graph.schema import Label, embedding_text, headings_of
from trivium.graph.sharded.store import ShardedStore
from trivium.graph.vectors import text_hash

PAGES = "pages"
LINKS = "links"
NUMBERS = 10**10
"""More nodes than a shard can have. The numbers of its nodes do not depend on other shards."""
PAGES_A_PART = 250
ENTITIES_A_PART = 20_000


@dataclass(frozen=True, slots=True)
class ShardFiles:
    """Which of the shards, counted from 0, and the folder of its files. A store without shards counts as one."""

    number: int
    folder: Path

    @property
    def names(self) -> NameFiles:
        """What its documents say of names."""
        return NameFiles(self.folder)


def shards_of(store: GraphStore) -> Sequence[GraphStore]:
    """Return the shards of a store."""
    return store.shards if isinstance(store, ShardedStore) else (store,)


def write_shard(store: GraphStore, files: ShardFiles, step: str) -> Generator[int, None, None]:
    """Do a step, :data:`PAGES` or :data:`LINKS`, of one shard of a store. Yields the pages, or entities, that are done.
    What is right in the folder already is kept.
    """
    parts = _ShardParts(store, files)
    yield from parts.pages() if step == PAGES else parts.links()
    files.names.write_names(step, parts.names)


class _ShardParts(Parts):
    def __init__(self, whole: GraphStore, files: ShardFiles) -> None:
        super().__init__(open_folder(files.folder))
        self._whole = whole
        self._files = files
        self._store = shards_of(whole)[files.number]
        self._types = whole.types()
        self._embedded = whole.embedder is not None

    def pages(self) -> Iterator[int]:
        """Write the pages, and what they say of names."""
        self._folder.begin()
        self._files.names.folder.mkdir()
        first = self._files.number * NUMBERS
        self.note((facts(self._whole, self._types), first))
        ids = IdTable(first)
        sentences = _Sentences(self._store) if self._embedded else None
        pictures = _pictures(self._store)
        for number, pages in enumerate(batched(self._store.page_graphs(), PAGES_A_PART)):
            yield from self._pages(f"pages-{number:05}", pages, ids, sentences, pictures)
        ids.write(self._files.names, self.digest.hex())

    def links(self) -> Iterator[int]:
        """Write the entities that no other shard writes, and what pages cite and relate."""
        names = self._files.names
        shared = names.shared()
        self.note(names.facts().digest)
        self.note(names.stands_for().tobytes())
        entities = compress(names.read(Title), names.own())
        for part, some in enumerate(batched(entities, ENTITIES_A_PART)):
            embeddings = self._entity_vectors([title.title for title in some])
            yield from self._part_of_entities(f"entities-{part:05}", some, embeddings)
        yield from self.part(tables.CITES.name, self._citation_lines())
        kinds = relation_vectors(self._whole, sorted({relation.type for relation in names.read(Relation)}))
        self.note([shared.tobytes(), *(vector.tobytes() for vector in kinds.values())])
        relations = resolved(names, compress(names.read(Relation), ~shared))
        yield from self.part(tables.SEMANTIC_REL.name, relation_lines(relations, kinds))

    # -- pages -----------------------------------------------------------------------------------------------------

    def _pages(
        self,
        name: str,
        pages: Sequence[PageGraph],
        ids: IdTable,
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
        placed = [ids.add(page) for page in pages]
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

    def _entity_vectors(self, uris: Sequence[str]) -> Embeddings:
        """Other shards are asked only for what this one has no vectors of."""
        found = self._vectors(Label.ENTITY, uris)
        missing = [uri for uri in uris if uri not in found or np.isnan(found[uri][0])]
        if not missing or not self._embedded or self._whole is self._store:
            return found
        elsewhere = self._whole.vectors(Label.ENTITY, missing)
        self.note(elsewhere.tobytes())
        return {**found, **by(missing, elsewhere)}

    def _part_of_entities(
        self, name: str, entities: Sequence[Title], embeddings: Embeddings
    ) -> Iterator[int]:
        def lines() -> Iterator[str]:
            for uri, number, _ in entities:
                row = rows.entity(uri, self._types.get(uri), embeddings.get(uri))
                yield tables.ENTITIES.line(number, row)

        return self.part(name, iter([(tables.ENTITIES.name, lines())]), len(entities))

    def _citation_lines(self) -> Lines:
        """Some rows of the arrays at a time: as Python numbers they take several times the memory."""
        line, columns = tables.CITES.line, _citations(self._files.names)
        for start in range(0, len(columns[0]), LINES_A_WRITE):
            some = zip(*(column[start : start + LINES_A_WRITE].tolist() for column in columns), strict=True)
            yield tables.CITES.name, [line(a, b, {"position": place}) for a, b, place in some]


def _citations(names: NameFiles) -> tuple[Integers, Integers, Integers]:
    """Chunk, entity and place of every citation (n,), resolved, each pair once, in order of appearance."""
    first = names.facts().first
    chunks, cited = names.citations()
    entities, place = np.unique(names.stands_for()[cited - first], return_inverse=True)
    pairs = (chunks - first) * (len(entities) + 1) + place  # numbers of nodes themselves would not fit
    kept = np.sort(np.unique(pairs, return_index=True)[1])
    chunks, cited = chunks[kept], entities[place[kept]]
    begins = np.flatnonzero(np.diff(chunks, prepend=-1))
    lengths = np.diff(begins, append=len(chunks))
    return chunks, cited, np.arange(len(chunks)) - np.repeat(begins, lengths)


def resolved(names: NameFiles, relations: Iterable[Relation]) -> Iterator[Relation]:
    """Iterate over relations of a shard, with the numbers of the nodes that their ends stand for."""
    stands_for, first = names.stands_for(), names.facts().first
    for page, source, kind, target in relations:
        yield Relation(page, int(stands_for[source - first]), kind, int(stands_for[target - first]))


def relation_lines(relations: Iterable[Relation], embeddings: Embeddings) -> Lines:
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
