"""Vectors of the sentences of chunks, in the database: which are missing, putting them in, reading them."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.common.iteration import batched
from trivium.errors import StoreError
from trivium.graph.neo4j.codes import decoded, encoded
from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher import reading, writing
from trivium.graph.neo4j.embeddings import putting, read_embedder
from trivium.graph.neo4j.keep import keep_sentences
from trivium.graph.neo4j.memory import Memory
from trivium.graph.neo4j.pending import pending_chunks
from trivium.graph.schema import embedding_text, headings_of
from trivium.graph.store import Codes, Passage, SentenceVectors
from trivium.graph.vectors import check_codes, join_codes, text_hash

_PASSAGES_A_TRANSACTION = 2_000
_AT_ONCE = 2_000
"""Chunks in one answer: a few megabytes."""


def pending_sentences(connection: Connection) -> list[Passage]:
    """Distinct passages whose chunks are without the property, by page and position."""
    chunks = pending_chunks(connection, writing.PENDING_SENTENCES)
    return list(dict.fromkeys(Passage(tuple(headings_of(section)), text) for section, text in chunks))


def put_sentences(connection: Connection, passages: Sequence[Passage], codes: Sequence[Codes]) -> None:
    """Keep the vectors of passages that some chunk has; others are passed over. In transactions of bounded size, like
    :func:`trivium.graph.neo4j.embeddings.put_vectors`."""
    identity = read_embedder(connection)
    if identity is None:
        raise StoreError("the store has no embedder yet: call set_embedder before put_sentences")
    check_codes(codes, len(passages), identity.dimension)
    last = {
        text_hash(embedding_text(passage.headings, passage.text)): one
        for passage, one in zip(passages, codes, strict=True)
    }
    for part in batched(sorted(last), _PASSAGES_A_TRANSACTION):
        connection.write(putting(keep_sentences, {key: encoded(last[key]) for key in part}))


def sentence_vectors(connection: Connection, memory: Memory, chunks: Sequence[str]) -> SentenceVectors:
    """Those of chunks, in the order asked: kept in memory, only the missing ones are asked for."""
    standing = memory.standing(connection)
    wanted = dict.fromkeys(chunks)
    known = memory.sentences.find(standing.state, wanted)
    missing = [uri for uri in wanted if uri not in known]
    if missing and standing.dimension:
        fresh = dict.fromkeys(missing, b"") | _read(connection, missing, standing.dimension)
        memory.sentences.keep(standing.state, fresh)
        known |= fresh
    return join_codes([known.get(uri, b"") for uri in chunks], standing.dimension)


def _read(connection: Connection, chunks: Sequence[str], dimension: int) -> dict[str, bytes]:
    """Those that chunks have. Of another dimension are what a store has that has just taken this one's place."""
    asked = [{"chunks": part} for part in batched(chunks, _AT_ONCE)]
    parts = connection.read_at_once([reading.SENTENCES] * len(asked), asked)
    found = {uri: decoded(text) for part in parts for uri, text in part[0][0]}
    return {uri: data for uri, data in found.items() if len(data) % dimension == 0}
