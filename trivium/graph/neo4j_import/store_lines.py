"""The lines of a store, table by table: its pages, and, when it is known what names stand for, its entities and links,
and what belongs to no page."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count, pairwise
from uuid import UUID

import numpy as np

from trivium.common.arrays import Integers
from trivium.common.iteration import batched
from trivium.graph.neo4j_import import rows, tables
from trivium.graph.neo4j_import.id_table import IdTable, Placed, Relation
from trivium.graph.node_properties import encode_sentences
from trivium.graph.page_checks import check_page
from trivium.graph.page_graph import ChunkNode, PageGraph, RelationEdge
from trivium.graph.protocols import GraphStore
from trivium.graph.records import Vectors
from trivium.graph.schema import Label, embedding_text, headings_as_text
from trivium.graph.stored_vectors import split_vectors, text_hash

PAGES_A_READ = 250
ENTITIES_A_READ = 20_000
_LINKS_A_READ = 20_000

Lines = Iterator[tuple[str, Iterable[str]]]
"""Lines of tables, by name."""
Embeddings = Mapping[str, Vectors]


class StoreLines:
    """The lines of a store. What a title stands for is known when all :meth:`pages` have been read."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self._ids = IdTable()
        self._types = store.types()
        self._embedded = store.embedder is not None

    def all(self, digest: Callable[[], bytes]) -> Lines:
        """Return all lines. ``digest`` identifies those that were written before the store's own node, which names it."""
        yield from self._pages()
        yield from self._links()
        yield from self._internal(digest)

    # -- pages -----------------------------------------------------------------------------------------------------

    def _pages(self) -> Lines:
        sentences = _Sentences(self._store) if self._embedded else None
        pictures = _pictures(self._store)
        for pages in batched(self._store.page_graphs(), PAGES_A_READ):
            for page in pages:
                check_page(page)
            records = self._store.find_pages([page.uri for page in pages])
            of_pages = self._vectors(Label.PAGE, [page.uri for page in pages])
            of_sections = self._vectors(Label.SUBCHAPTER, [s.uri for page in pages for s in page.sections])
            of_chunks = self._vectors(Label.CHUNK, [c.uri for page in pages for c in page.chunks])
            of_sentences = {} if sentences is None else sentences.of_chunks(pages)
            for placed in map(self._ids.add, pages):
                uri = placed.page.uri
                added = records[uri].added if uri in records else None
                row = rows.page(placed, self._types.get(uri), of_pages.get(uri), added)
                yield tables.PAGES.name, [tables.PAGES.line(placed.number, row)]
                yield tables.SECTIONS.name, rows.sections(placed, of_sections)
                yield tables.CHUNKS.name, rows.chunks(placed, of_chunks)
                yield tables.CHUNK_DATA.name, rows.chunk_data(placed, of_sentences, pictures)
                yield from _structure(placed)

    def _vectors(self, label: Label, uris: Sequence[str]) -> Embeddings:
        return _by(uris, self._store.vectors(label, uris)) if self._embedded else {}

    # -- links -----------------------------------------------------------------------------------------------------

    def _links(self) -> Lines:
        """The entities without a page, and what pages cite and relate."""
        stands_for = self._ids.stands_for()
        for some in batched(self._ids.entities(), ENTITIES_A_READ):
            vectors = self._vectors(Label.ENTITY, [entity.uri for entity in some])
            lines = (
                tables.ENTITIES.line(number, rows.entity(uri, self._types.get(uri), vectors.get(uri)))
                for uri, number in some
            )
            yield tables.ENTITIES.name, lines
        yield from _citation_lines(self._ids.citations(), stands_for)
        yield from _relation_lines(self._ids.relations(stands_for), self._kinds())

    def _kinds(self) -> Embeddings:
        """Return the vectors of relation types."""
        kinds = self._ids.types()
        return _by(kinds, self._store.relation_vectors(kinds)) if self._embedded else {}

    # -- what the store has for its own use --------------------------------------------------------------------------

    def _internal(self, digest: Callable[[], bytes]) -> Lines:
        numbers = count(self._ids.last + 1)
        for question in self._ids.questions():
            number = next(numbers)
            row = {"uri": question.uri, "text": question.text, "answers": question.answers}
            yield tables.QUESTIONS.name, [tables.QUESTIONS.line(number, row)]
            yield (
                tables.IS_ANSWER_OF.name,
                [tables.IS_ANSWER_OF.line(chunk, number) for chunk in question.chunks],
            )
        for alias in self._ids.aliases():
            number = next(numbers)
            yield tables.ALIASES.name, [tables.ALIASES.line(number, rows.alias(alias.alias, alias.leads_to))]
            yield tables.ALIASED.name, [tables.ALIASED.line(number, page) for page in alias.pages]
        terms = ({"term": term, "df": chunks} for term, chunks in self._ids.terms())
        yield tables.TERMS.name, (tables.TERMS.line(next(numbers), row) for row in terms)
        vectors = self._kinds()
        kinds = (rows.relation_type(kind, vectors.get(kind)) for kind in self._ids.types())
        yield tables.RELATION_TYPES.name, (tables.RELATION_TYPES.line(next(numbers), row) for row in kinds)
        own = rows.store(self._store, self._ids.term_total, UUID(bytes=digest()))
        yield tables.STORE.name, [tables.STORE.line(next(numbers), own)]


def _by(names: Sequence[str], vectors: Vectors) -> Embeddings:
    """Return the vectors (n, d) of n names; none of a store that has no vectors at all."""
    return dict(zip(names, vectors, strict=True)) if vectors.shape[1] else {}


def _structure(placed: Placed) -> Lines:
    for table, pairs in rows.structure(placed):
        yield table.name, [table.line(start, end) for start, end in pairs]


def _citation_lines(citations: Integers, stands_for: Integers) -> Lines:
    """Some rows of the arrays at a time: as Python numbers they take several times the memory."""
    line, columns = tables.CITES.line, _resolved(citations, stands_for)
    for start in range(0, len(columns[0]), _LINKS_A_READ):
        some = zip(*(column[start : start + _LINKS_A_READ].tolist() for column in columns), strict=True)
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
    stated: dict[tuple[int, str, int], dict[str, list[RelationEdge]]] = {}
    for page, source, target, edge in relations:
        stated.setdefault((source, edge.type, target), {}).setdefault(page, []).append(edge)
    line = tables.SEMANTIC_REL.line
    for (source, kind, target), pages in stated.items():
        forms = (edge._replace(source="", target="") for edges in pages.values() for edge in edges)
        (said,) = RelationEdge.distinct(forms)
        there, back = rows.relation(said, tuple(pages), embeddings.get(kind))
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
        return text_hash(embedding_text(headings_as_text(chunk.parent), chunk.text)) in self._pending
