"""Vectors belong to texts, whatever node has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.contract.graphs import IDENTITY, codes, embed_pending, graph, unit
from tests.fakes.memory_store import MemoryStore
from tests.graph.neo4j.database import expected, found, generation
from trivium.errors import EmbedderMismatchError, StoreError
from trivium.graph.neo4j import Neo4jStore, vectors, write_steps
from trivium.graph.neo4j.connection import Connection, rows
from trivium.graph.neo4j.cypher.vectors import SET_VECTORS
from trivium.graph.records import Passage
from trivium.types import EmbedderIdentity

MARS = graph("Mars", [("red planet", ["Moon", "Sun"])], {"Moons": [("two moons", ["Phobos"])]})


def _texts(store: Neo4jStore) -> list[str]:
    pending = store.pending_texts()
    texts = list(pending)
    assert len(texts) == len(pending)
    return texts


def test_vectors_are_put_once_a_text_and_the_last_one_holds(
    connection: Connection, store: Neo4jStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By statements of bounded size; texts that no node has are ignored."""
    monkeypatch.setattr(vectors, "_VECTORS_A_STATEMENT", 2)
    oracle = MemoryStore()
    oracle.write([MARS])
    store.write([MARS])
    with pytest.raises(StoreError, match="set_embedder"):
        store.put_vectors(["Mars"], unit("Mars")[None])
    oracle.set_embedder(IDENTITY)
    store.set_embedder(IDENTITY)
    texts = ["Mars", "nobody's", *_texts(store), "Mars"]
    units = np.stack([unit(f"{text} {place}") for place, text in enumerate(texts)])
    oracle.put_vectors(texts, units)
    store.put_vectors(texts, units)
    assert _texts(store) == []
    assert found(connection) == expected(oracle)
    with pytest.raises(EmbedderMismatchError, match="filled by embedder 'toy'"):
        store.set_embedder(EmbedderIdentity("toy", "2", 8))


def test_sentences_are_put_once_a_passage_and_the_last_ones_hold(
    connection: Connection, store: Neo4jStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By statements of bounded size, read in parts; another embedder is refused before there is any vector."""
    monkeypatch.setattr(vectors, "_VECTORS_A_STATEMENT", 2)
    monkeypatch.setattr(vectors, "ROWS_A_READ", 2)
    monkeypatch.setattr(vectors, "CHUNKS_A_READ", 2)
    page = graph("P", [(f"{n} of them", []) for n in range(5)])
    oracle = MemoryStore()
    oracle.write([page])
    oracle.set_embedder(IDENTITY)
    store.write([page])
    store.set_embedder(IDENTITY)
    pending = store.pending_sentences()
    assert (len(pending), [len(part) for part in pending.batches()]) == (5, [2, 2, 1])
    passages = list(pending)
    assert passages == list(oracle.pending_sentences())
    before = generation(connection)
    for store_of in (oracle.put_sentences, store.put_sentences):
        store_of([*passages, passages[0]], [*(codes(p.text) for p in passages), codes("")])
    assert generation(connection) == before + 1
    assert len(store.pending_sentences()) == 0
    assert found(connection) == expected(oracle)
    with pytest.raises(EmbedderMismatchError, match="filled by embedder 'toy'"):
        store.set_embedder(EmbedderIdentity("toy", "2", 8))


def test_all_vectors_of_a_call_are_kept_by_one_transaction(connection: Connection, store: Neo4jStore) -> None:
    """However many there are: others see none of them or all, and the store changes once."""
    store.set_embedder(IDENTITY)
    texts = [f"text {number}" for number in range(2_001)]
    before = generation(connection)
    store.put_vectors(texts, np.repeat(unit("any")[None], len(texts), axis=0))
    assert generation(connection) == before + 1
    store.put_sentences([Passage(("P",), text) for text in texts], [codes("any")] * len(texts))
    assert generation(connection) == before + 2
    store.put_vectors([], np.empty((0, IDENTITY.dimension), dtype=np.float32))
    assert generation(connection) == before + 2, "nothing to keep changes nothing"


def test_vectors_that_break_off_leave_the_store_as_before(
    connection: Connection, store: Neo4jStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though some of the statements were carried out."""
    store.write([MARS])
    store.set_embedder(IDENTITY)
    texts = _texts(store)
    before = found(connection), generation(connection)
    monkeypatch.setattr(vectors, "_VECTORS_A_STATEMENT", 1)
    sent: list[str] = []

    async def broken(transaction: Any, query: Any, parameters: Any = None) -> Any:
        sent.append(query)
        if len(sent) == 3:
            raise RuntimeError("pulled the plug")
        return await rows(transaction, query, parameters)

    monkeypatch.setattr(write_steps, "rows", broken)
    with pytest.raises(RuntimeError, match="plug"):
        store.put_vectors(texts, np.stack([unit(text) for text in texts]))
    assert sent[1:] == [SET_VECTORS] * 2
    assert (found(connection), generation(connection)) == before


def test_texts_without_a_vector_come_some_at_a_time(
    store: Neo4jStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each once and in order, however few an answer holds; what is deleted meanwhile is left out."""
    monkeypatch.setattr(vectors, "ROWS_A_READ", 2)
    monkeypatch.setattr(vectors, "CHUNKS_A_READ", 2)
    pages = [
        MARS,
        graph("Io", [("same", ["Mars"]), ("same", [])], relations=[("orbits", "Jupiter")]),
        graph("Z"),
    ]
    oracle = MemoryStore()
    oracle.write(pages)
    store.write(pages)
    assert _texts(store) == list(oracle.pending_texts())
    pending = store.pending_texts()
    batches = iter(pending.batches())
    assert len(next(batches)) == 2
    store.delete(["Mars"])
    assert sum(map(len, batches)) < len(pending) - 2


def test_a_type_changes_the_text_and_with_it_the_vector(connection: Connection, store: Neo4jStore) -> None:
    """The one of the old text goes; that of the new text is taken from a node that has it already. A type that the
    name ends with changes nothing."""
    page = graph("P", [("x", ["Io", "Io (moon)", "Nix"])])
    oracle = MemoryStore()
    oracle.write([page])
    embed_pending(oracle)
    store.write([page])
    store.set_embedder(IDENTITY)
    texts = _texts(store)
    store.put_vectors(texts, np.stack([unit(text) for text in texts]))
    passages = list(store.pending_sentences())
    store.put_sentences(passages, [codes(passage.text) for passage in passages])
    types = {"Io": "moon", "Io (moon)": "moon", "Nix": "moon"}
    assert store.set_types(types) == oracle.set_types(types) == 3
    assert found(connection) == expected(oracle)
    assert _texts(store) == ["Nix (moon)"]
    stored = dict(connection.read("MATCH (e:Entity) WHERE e.uri STARTS WITH 'Io' RETURN e.uri, e.embedding"))
    assert stored["Io"] == stored["Io (moon)"]


PHOBOS = graph("Phobos", [("small", ["Mars"])], relations=[("orbits", "Mars"), ("is", "moon")])
DEIMOS = graph("Deimos", [("smaller", ["Mars"])], relations=[("orbits", "Mars")])
_BARE = "MATCH ()-[r:semantic_rel]->() WHERE r.embedding IS NULL RETURN count(r)"


def _embedded(connection: Connection, store: Neo4jStore) -> None:
    """Two pages with three relations of two types, and their mirrors; types have vectors, relations not yet."""
    store.set_embedder(IDENTITY)
    store.write([PHOBOS, DEIMOS])
    texts = _texts(store)
    store.put_vectors(texts, np.stack([unit(text) for text in texts]))
    assert connection.read(_BARE)[0][0] == 6


def test_relations_get_the_vectors_of_their_types_some_at_a_time(
    connection: Connection, store: Neo4jStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One in a transaction; the second time nothing is left to do."""
    monkeypatch.setattr(vectors, "_RELATIONS_A_WRITE", 1)
    _embedded(connection, store)
    written = []
    monkeypatch.setattr(connection, "write", _counting(connection.write, written))
    vectors.embed_relations(connection)
    assert connection.read(_BARE)[0][0] == 0 and len(written) == 6 + 2
    vectors.embed_relations(connection)
    assert len(written) == 6 + 2


def test_giving_relations_their_vectors_goes_on_where_it_was_interrupted(
    connection: Connection, store: Neo4jStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "_RELATIONS_A_WRITE", 1)
    _embedded(connection, store)
    write, written = connection.write, []

    def interrupted(work: Any) -> Any:
        if len(written) == 3:
            raise KeyboardInterrupt
        written.append(work)
        return write(work)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(connection, "write", interrupted)
        vectors.embed_relations(connection)
    assert connection.read(_BARE)[0][0] == 4  # two of "is", and the note that this type is done
    vectors.embed_relations(connection)
    assert connection.read(_BARE)[0][0] == 0


def test_a_database_of_an_earlier_version_is_brought_up_to_date(
    connection: Connection, store: Neo4jStore
) -> None:
    """Its types have vectors, and no relation has one."""
    _embedded(connection, store)
    vectors.embed_relations(connection)

    async def as_before(transaction: Any) -> None:
        await rows(transaction, "MATCH ()-[r:semantic_rel]->() REMOVE r.embedding")
        await rows(transaction, "MATCH (t:RelationType) REMOVE t.relations_embedded")

    connection.write(as_before)
    vectors.embed_relations(connection)
    assert connection.read(_BARE)[0][0] == 0


def _counting(write: Any, written: list[Any]) -> Any:
    def counted(work: Any) -> Any:
        written.append(work)
        return write(work)

    return counted
