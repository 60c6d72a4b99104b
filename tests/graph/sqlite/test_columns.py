"""What a search reads beside the matrix: sentences in a file, and vectors as bytes that say what can be near."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contract.graphs import graph
from trivium.engine import Engine
from trivium.graph.arrays.array_files import Rows, Stacked, find_sorted
from trivium.graph.records import Codes, Passage
from trivium.graph.sqlite import EmbeddedStore, index_rows, load_index
from trivium.graph.vector_search import CoarseVectors
from trivium.testing.toys import HashEmbedder
from trivium.types import EmbedderIdentity

IDENTITY = EmbedderIdentity("test", "1", 3)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.sampled_from([1, 3, 384, 3072]), st.integers(0, 70))
def test_none_of_the_nearest_is_missed(seed: int, count: int, width: int, k: int) -> None:
    """Against the plain definition, with vectors that nearly agree and a selection of them."""
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((count + 1, width)) * random.choice([1, 1e-4], (count + 1, 1)) + 1e-3
    units = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    rows = np.sort(random.integers(0, count, count))  # nodes with the same text share a row
    stacked = Stacked(units[: count // 2], units[count // 2 :])
    coarse = CoarseVectors.of(stacked, rows)
    some = np.sort(random.integers(0, count, count // 3))
    patched = CoarseVectors.of(stacked, some).taken(find_sorted(some, rows), stacked, rows)
    assert np.array_equal(patched.codes, coarse.codes) and np.array_equal(patched.scales, coarse.scales)
    assert np.array_equal(patched.errors, coarse.errors)
    cosines = units[rows].astype(np.float64) @ units[-1].astype(np.float64)
    assert set(np.argsort(-cosines, kind="stable")[:k]) <= set(coarse.nearest(units[-1], k))
    among = random.random(count) < 0.5
    some = np.flatnonzero(among)
    best = some[np.argsort(-cosines[some], kind="stable")[:k]]
    found = set(coarse.nearest(units[-1], k, among))
    assert set(best) <= found <= set(some)


def test_few_more_than_the_nearest_are_proposed() -> None:
    """Each of them is compared exactly, so a loose bound costs time: 5,000 vectors of 384 numbers, the 10 nearest."""
    random = np.random.default_rng(1)
    vectors = random.standard_normal((5_001, 384)).astype(np.float32)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    coarse = CoarseVectors.of(Stacked.of(units), np.arange(5_000))
    assert 10 <= len(coarse.nearest(units[-1], 10)) <= 40


def _codes(number: int) -> list[Codes]:
    return [np.full((number % 3, 3), number, dtype=np.int8)]


def _passage(number: int) -> Passage:
    return Passage((f"Page {number}",), "text")


@pytest.fixture
def store(tmp_path: Path) -> EmbeddedStore:
    """Twelve chunks with no, one or two sentences each; indexes up to date."""
    store = EmbeddedStore.create(tmp_path / "store")
    store.set_embedder(IDENTITY)
    store.write([graph(f"Page {number}", [("text", [])]) for number in range(1, 13)])
    for number in range(1, 13):
        store.put_sentences([_passage(number)], _codes(number))
    store.refresh()
    return store


def _kept(store: EmbeddedStore) -> dict[str, list[list[int]]]:
    uris = store.chunk_uris()
    found = store.sentence_vectors(uris)
    return {
        uri: found.codes[first:last].tolist()
        for uri, first, last in zip(uris, found.starts, found.starts[1:], strict=False)
    }


def test_sentences_of_earlier_chunks_are_taken_over(
    store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages go, come and are embedded anew: only what changed is read from the database."""
    read: list[int] = []
    as_json = index_rows.as_json

    def note(numbers: list[int]) -> str:
        read.extend(numbers)
        return as_json(numbers)

    monkeypatch.setattr(index_rows, "as_json", note)
    store.delete(["Page 3", "Page 8"])
    store.write([graph("Page 20", [("text", [])])])
    store.put_sentences([_passage(20), _passage(5)], [*_codes(20), *_codes(4)])
    expected = {f"Page {n}#chunk-1": _codes(n)[0].tolist() for n in (*range(1, 13), 20) if n not in (3, 8)}
    assert _kept(store) == {**expected, "Page 5#chunk-1": _codes(4)[0].tolist()}
    assert len(read) == 2


def test_vectors_as_bytes_come_from_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an opened store none is rounded again, after a change those of new nodes, and without the files all; what is
    found is the same.
    """
    rounded: list[int] = []
    of = CoarseVectors.of

    def note(vectors: Stacked, rows: Rows) -> CoarseVectors:
        rounded.append(len(rows))
        return of(vectors, rows)

    def found(engine: Engine) -> list[tuple[str, float]]:
        return [(hit.uri, hit.score) for hit in engine.search("a moon", k=40, retrievers=["vector"])]

    for name in ("Mars", "Jupiter", "Saturn"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\n{name} has a moon.\n\nIt is a planet.\n")
    with Engine.create(tmp_path / "store", HashEmbedder()) as engine:
        engine.build([tmp_path / "Mars.md", tmp_path / "Jupiter.md"])
        engine.store.refresh()
        expected = found(engine)
    monkeypatch.setattr(CoarseVectors, "of", note)
    monkeypatch.setattr(load_index, "MOST_WHILE_BUILDING", 10.0)
    monkeypatch.setattr(load_index, "MOST_PATCHED", 10.0)
    with Engine.open(tmp_path / "store", HashEmbedder()) as engine:
        assert found(engine) == expected and sum(rounded) == 0
        engine.build([tmp_path / "Saturn.md"])
        assert {uri.split("#")[0] for uri, _ in found(engine)} == {"Mars", "Jupiter", "Saturn"}
        assert sum(rounded) <= 3
        with_saturn = found(engine)
    (folder, *_) = sorted((tmp_path / "store" / "index").glob("generation-*"))
    for file in folder.glob("*.coarse*"):
        file.unlink()
    rounded.clear()
    with Engine.open(tmp_path / "store", HashEmbedder()) as engine:
        assert found(engine) == with_saturn and sum(rounded) >= 6
