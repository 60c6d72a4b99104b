"""Vectors belong to texts, whatever node has them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest

from tests.contract.graphs import IDENTITY, codes, embed_pending, graph, unit
from tests.fakes.memory_store import MemoryStore
from tests.graph.neo4j.database import connected, empty, expected, found, generation
from tests.neo4j_servers import Server
from trivium.errors import EmbedderMismatchError, StoreError
from trivium.graph.neo4j import embeddings, pending, sentences, writer
from trivium.graph.neo4j.connection import Connection
from trivium.types import EmbedderIdentity

MARS = graph("Mars", [("red planet", ["Moon", "Sun"])], {"Moons": [("two moons", ["Phobos"])]})


@pytest.fixture
def connection(neo4j_5: Server) -> Iterator[Connection]:
    """An empty store."""
    with connected(neo4j_5) as connection:
        empty(connection)
        yield connection


def test_vectors_are_put_once_a_text_and_the_last_one_holds(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In transactions of bounded size; texts that no node has are passed over."""
    monkeypatch.setattr(embeddings, "_VECTORS_A_TRANSACTION", 2)
    oracle = MemoryStore()
    oracle.write([MARS])
    writer.write_pages(connection, [MARS])
    with pytest.raises(StoreError, match="set_embedder"):
        embeddings.put_vectors(connection, ["Mars"], unit("Mars")[None])
    oracle.set_embedder(IDENTITY)
    embeddings.claim(connection, IDENTITY)
    texts = ["Mars", "nobody's", *embeddings.pending_texts(connection), "Mars"]
    vectors = np.stack([unit(f"{text} {place}") for place, text in enumerate(texts)])
    oracle.put_vectors(texts, vectors)
    embeddings.put_vectors(connection, texts, vectors)
    assert embeddings.pending_texts(connection) == []
    assert found(connection) == expected(oracle)
    with pytest.raises(EmbedderMismatchError, match="filled by embedder 'toy'"):
        embeddings.claim(connection, EmbedderIdentity("toy", "2", 8))


def test_sentences_are_put_once_a_passage_and_the_last_ones_hold(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In transactions of bounded size, read in parts; another embedder is refused before there is any vector."""
    monkeypatch.setattr(sentences, "_PASSAGES_A_TRANSACTION", 2)
    monkeypatch.setattr(pending, "_ROWS_A_READ", 2)
    page = graph("P", [(f"{n} of them", []) for n in range(5)])
    oracle = MemoryStore()
    oracle.write([page])
    oracle.set_embedder(IDENTITY)
    writer.write_pages(connection, [page])
    embeddings.claim(connection, IDENTITY)
    passages = sentences.pending_sentences(connection)
    assert passages == oracle.pending_sentences()
    before = generation(connection)
    for store_of in (oracle.put_sentences, partial(sentences.put_sentences, connection)):
        store_of([*passages, passages[0]], [*(codes(p.text) for p in passages), codes("")])
    assert generation(connection) == before + 3
    assert sentences.pending_sentences(connection) == []
    assert found(connection) == expected(oracle)
    with pytest.raises(EmbedderMismatchError, match="filled by embedder 'toy'"):
        embeddings.claim(connection, EmbedderIdentity("toy", "2", 8))


def test_a_type_changes_the_text_and_with_it_the_vector(connection: Connection) -> None:
    """The one of the old text goes; that of the new text is taken from a node that has it already. A type that the
    name ends with changes nothing."""
    page = graph("P", [("x", ["Io", "Io (moon)", "Nix"])])
    oracle = MemoryStore()
    oracle.write([page])
    embed_pending(oracle)
    writer.write_pages(connection, [page])
    embeddings.claim(connection, IDENTITY)
    texts = embeddings.pending_texts(connection)
    embeddings.put_vectors(connection, texts, np.stack([unit(text) for text in texts]))
    passages = sentences.pending_sentences(connection)
    sentences.put_sentences(connection, passages, [codes(passage.text) for passage in passages])
    types = {"Io": "moon", "Io (moon)": "moon", "Nix": "moon"}
    assert writer.set_types(connection, types) == oracle.set_types(types) == 3
    assert found(connection) == expected(oracle)
    assert embeddings.pending_texts(connection) == ["Nix (moon)"]
    vectors = dict(connection.read("MATCH (e:Entity) WHERE e.uri STARTS WITH 'Io' RETURN e.uri, e.embedding"))
    assert vectors["Io"] == vectors["Io (moon)"]
