"""Vectors of texts and sentences: finding missing ones, writing and reading.

A vector belongs to a text: every node with the text (by its hash) has the vector. A new node takes the vector of
another node with its text, and a chunk likewise the vectors of its sentences.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import LiteralString, TypeVar

import numpy as np
from neo4j import AsyncManagedTransaction

from trivium.common.iteration import batched
from trivium.graph.neo4j.change_log import Touched
from trivium.graph.neo4j.connection import Connection, Rows, rows
from trivium.graph.neo4j.cypher import reading, scanning
from trivium.graph.neo4j.cypher import vectors as cypher
from trivium.graph.neo4j.store_part import StorePart, identity_of, record_embedder
from trivium.graph.neo4j.write_steps import in_batches, lock, next_version
from trivium.graph.node_properties import decode_sentences, encode_sentences
from trivium.graph.page_graph import RelationEdge
from trivium.graph.records import Codes, Passage, Pending, SentenceVectors, Vectors
from trivium.graph.schema import Label, embedding_text, headings_as_text, mirror_type, page_of, section_of
from trivium.graph.stored_vectors import (
    FILLED,
    check_codes,
    check_vectors,
    dimension_of,
    join_codes,
    text_hash,
)
from trivium.types import EmbedderIdentity

_VECTORS_A_STATEMENT = 500
_VECTORS_A_READ = 2_000
"""Vectors, or chunks with their sentence vectors, per response: a few megabytes."""
_RELATIONS_A_WRITE = 5_000
ROWS_A_READ = 20_000
"""Nodes without their texts per response."""
CHUNKS_A_READ = 1_000
"""Chunk texts per response: about a megabyte."""
_RELATION = "relation type"

Kept = TypeVar("Kept")

# -- the embedder ------------------------------------------------------------------------------------------------


def read_embedder(connection: Connection) -> EmbedderIdentity | None:
    """Return the embedder of the store."""
    return identity_of(connection.read(cypher.READ_EMBEDDER))


async def find_vectors(
    transaction: AsyncManagedTransaction, hashes: Iterable[str]
) -> dict[str, Sequence[float]]:
    """Map text hashes to vectors, for the texts that have one."""
    found = await in_batches(transaction, cypher.FIND_VECTORS, "hashes", list(dict.fromkeys(hashes)))
    return {text: vector for text, vector in found if vector is not None}


async def keep_vectors(transaction: AsyncManagedTransaction, vectors: Mapping[str, Sequence[float]]) -> None:
    """Give every node with one of these texts (by hash) its vector."""
    listed = [{"hash": text, "vector": vector} for text, vector in vectors.items()]
    await in_batches(transaction, cypher.SET_VECTORS, "rows", listed, size=_VECTORS_A_STATEMENT)
    await in_batches(transaction, cypher.UNMARK_TYPES, "hashes", list(vectors))


def embed_relations(connection: Connection) -> None:
    """Give the relations of types with new or changed vectors, and their mirrors, these vectors, in several
    transactions, since a type may have a million relations. An interrupted run can be resumed.
    """
    for (kind,) in connection.read(reading.TYPES_TO_FOLLOW):

        async def write(transaction: AsyncManagedTransaction, kind: str = kind) -> bool:
            await lock(transaction)
            for relation, stated in ((kind, True), (mirror_type(kind), False)):
                asked = {"type": kind, "relation": relation, "stated": stated, "limit": _RELATIONS_A_WRITE}
                if (await rows(transaction, cypher.EMBED_RELATIONS, asked))[0][0]:
                    return False
            await rows(transaction, cypher.MARK_TYPE, {"type": kind})
            return True

        while not connection.write(write):
            pass


async def find_sentences(transaction: AsyncManagedTransaction, hashes: Iterable[str]) -> dict[str, str]:
    """Map text hashes to serialised sentence vectors, for the texts that have them."""
    return dict(await in_batches(transaction, cypher.FIND_SENTENCES, "hashes", list(dict.fromkeys(hashes))))


async def keep_sentences(transaction: AsyncManagedTransaction, sentences: Mapping[str, str]) -> None:
    """Give every chunk with one of these texts (by hash) the vectors of its sentences."""
    listed = [{"hash": text, "sentences": vectors} for text, vectors in sentences.items()]
    await in_batches(transaction, cypher.SET_SENTENCES, "rows", listed, size=_VECTORS_A_STATEMENT)


class VectorsPart(StorePart):
    """The part of a store that has the vectors of texts and sentences."""

    def set_embedder(self, identity: EmbedderIdentity) -> None:
        queries = cypher.READ_EMBEDDER, cypher.ANY_VECTOR, cypher.SET_EMBEDDER

        async def write(transaction: AsyncManagedTransaction) -> None:
            if await record_embedder(transaction, identity, FILLED, *queries):
                await next_version(transaction, Touched(), vectors_only=True)

        self._write(write)

    def pending_texts(self) -> Pending[str]:
        chunks = self._in_page_order(scanning.PENDING_CHUNKS)
        short: dict[str, str] = {}
        for key, text, _ in self._sorted_by_key(scanning.PENDING_PAGES):
            short.setdefault(key, text)
        for uri, key in self._in_page_order(scanning.PENDING_SECTIONS).items():
            short.setdefault(key, uri)
        for key, text, _ in self._sorted_by_key(scanning.PENDING_ENTITIES):
            short.setdefault(key, text)
        for key, kind in self._sorted_by_key(scanning.PENDING_TYPES):
            short.setdefault(key, kind)
        for key in chunks.values():
            short.pop(key, None)

        def batches() -> Iterator[list[str]]:
            for passages in self._passages(chunks):
                yield [embedding_text(passage.headings, passage.text) for passage in passages]
            yield from batched(short.values(), CHUNKS_A_READ)

        return Pending(len(chunks) + len(short), batches)

    def pending_sentences(self) -> Pending[Passage]:
        chunks = self._in_page_order(scanning.PENDING_SENTENCES)
        return Pending(len(chunks), lambda: self._passages(chunks))

    def count_pending_sentences(self) -> int:
        return int(self._connection.read(reading.PENDING_SENTENCE_COUNT)[0][0])

    def _in_page_order(self, query: LiteralString) -> dict[str, str]:
        """Map uris of chunks or sections to text hashes, by page and position. Only the first of those that share a
        text.
        """
        found = [row for part in self._connection.batches(query, ROWS_A_READ) for row in part]
        found.sort(key=lambda row: (page_of(row[2]), row[1]))
        first: dict[str, str] = {}
        for key, _, uri in found:
            first.setdefault(key, uri)
        return {uri: key for key, uri in first.items()}

    def _sorted_by_key(self, query: LiteralString) -> Rows:
        """Return all rows of a query sorted by their last value, by code points."""
        return sorted(
            (row for part in self._connection.batches(query, ROWS_A_READ) for row in part), key=itemgetter(-1)
        )

    def _passages(self, chunks: Iterable[str]) -> Iterator[list[Passage]]:
        for part in batched(chunks, CHUNKS_A_READ):
            texts = dict(self._connection.read(reading.CHUNK_TEXTS, {"keys": part})[0][0])
            yield [
                Passage(tuple(headings_as_text(section_of(uri))), texts[uri]) for uri in part if uri in texts
            ]

    def put_vectors(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Store vectors of texts that some node has. Others are ignored. One transaction, which the server holds in
        memory: pass a few thousand texts per call.
        """
        check_vectors(vectors, len(texts), dimension_of(read_embedder(self._connection)))
        last = {text_hash(text): row for row, text in enumerate(texts)}
        self._put(keep_vectors, {key: vectors[row].tolist() for key, row in sorted(last.items())})

    def put_sentences(self, passages: Sequence[Passage], codes: Sequence[Codes]) -> None:
        """Store the sentence vectors of passages that some chunk has. Others are ignored. One transaction, as for
        :meth:`put_vectors`.
        """
        check_codes(codes, len(passages), dimension_of(read_embedder(self._connection)))
        last = {
            text_hash(embedding_text(passage.headings, passage.text)): vectors
            for passage, vectors in zip(passages, codes, strict=True)
        }
        self._put(keep_sentences, {key: encode_sentences(last[key]) for key in sorted(last)})

    def _put(
        self,
        keep: Callable[[AsyncManagedTransaction, Mapping[str, Kept]], Awaitable[None]],
        found: Mapping[str, Kept],
    ) -> None:
        async def write(transaction: AsyncManagedTransaction) -> None:
            await lock(transaction)
            await keep(transaction, found)
            await next_version(transaction, Touched.by(texts=found), vectors_only=True)

        if found:
            self._write(write)

    def vectors(self, label: Label, uris: Sequence[str]) -> Vectors:
        return self._vectors(label, reading.vectors(label), uris)

    def relation_vectors(self, types: Sequence[str]) -> Vectors:
        return self._vectors(_RELATION, reading.RELATION_VECTORS, types)

    def relation_embeddings(self, relations: Sequence[RelationEdge]) -> Vectors:
        """Return the embeddings (n, d) stored on relations; rows of relations without one are NaN."""
        found = np.full(
            (len(relations), self._cache.state(self._connection).dimension), np.nan, dtype=np.float32
        )
        listed = [
            {"place": place, "source": relation.source, "type": relation.type, "target": relation.target}
            for place, relation in enumerate(relations)
        ]
        for part in batched(listed, _VECTORS_A_READ):
            for place, embedding in self._connection.read(reading.RELATION_EMBEDDINGS, {"relations": part})[
                0
            ][0]:
                found[place] = embedding
        return found

    def sentence_vectors(self, chunks: Sequence[str]) -> SentenceVectors:
        state = self._cache.state(self._connection)
        wanted = dict.fromkeys(chunks)
        cached = self._cache.sentences.find(state.key, wanted)
        missing = [uri for uri in wanted if uri not in cached]
        if missing and state.dimension:
            found = self._read(reading.SENTENCES, missing)
            fetched = dict.fromkeys(missing, b"") | {uri: decode_sentences(text) for uri, text in found}
            # If another embedder has just taken over the store, the data may be of another dimension.
            fetched = {
                uri: data if len(data) % state.dimension == 0 else b"" for uri, data in fetched.items()
            }
            self._cache.sentences.put(state.key, fetched)
            cached |= fetched
        return join_codes([cached.get(uri, b"") for uri in chunks], state.dimension)

    def _vectors(self, kind: str, query: LiteralString, keys: Sequence[str]) -> Vectors:
        state = self._cache.state(self._connection)
        wanted = dict.fromkeys(keys)
        cached = self._cache.vectors.find(state.key, ((kind, key) for key in wanted))
        missing = [key for key in wanted if (kind, key) not in cached]
        if missing and state.dimension:
            found = {key: np.array(values, dtype=np.float32) for key, values in self._read(query, missing)}
            fetched = {(kind, key): found.get(key) for key in missing}
            self._cache.vectors.put(state.key, fetched)
            cached |= fetched
        gathered = np.full((len(keys), state.dimension), np.nan, dtype=np.float32)
        for row, key in enumerate(keys):
            vector = cached.get((kind, key))
            if vector is not None and len(vector) == state.dimension:
                gathered[row] = vector
        return gathered

    def _read(self, query: LiteralString, keys: Sequence[str]) -> Rows:
        """Return (key, value) of the keys that have one, using several concurrent queries if there are many keys."""
        asked = [{"keys": part} for part in batched(keys, _VECTORS_A_READ)]
        return [
            row for part in self._connection.read_at_once([query] * len(asked), asked) for row in part[0][0]
        ]
