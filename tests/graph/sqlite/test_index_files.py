"""The vector indexes in the files of a folder: which labels have one, and when they are made anew."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.contract.graphs import graph
from trivium.graph.arrays.array_files import MANIFEST
from trivium.graph.arrays.vector_index import AnnIndex, compared
from trivium.graph.schema import Label
from trivium.graph.sqlite import EmbeddedStore, load_index
from trivium.graph.sqlite.load_index import build_snapshot
from trivium.graph.sqlite.store_state import begin_state
from trivium.types import EmbedderIdentity

IDENTITY = EmbedderIdentity("random", "1", 16)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddedStore]:
    """60 pages with two chunks each, enough here for an index."""
    monkeypatch.setenv("TRIVIUM_APPROXIMATE_FROM", "20")
    with EmbeddedStore.create(tmp_path / "s") as store:
        store.set_embedder(IDENTITY)
        _add(store, range(60))
        yield store


def _add(store: EmbeddedStore, numbers: range) -> None:
    store.write([graph(f"Page {number}", [("one", []), ("two", [])]) for number in numbers])
    texts = list(store.pending_texts())
    vectors = np.random.default_rng(numbers.start).normal(size=(len(texts), IDENTITY.dimension))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    store.put_vectors(texts, vectors.astype(np.float32))
    store.refresh()


def _ann(store: EmbeddedStore) -> AnnIndex:
    ann = store._current().stored[Label.CHUNK].index
    assert ann is not None
    return ann


def _indexed(store: EmbeddedStore) -> set[Label]:
    """The labels that have an index."""
    return {label for label in Label if not store._current().scans(label)}


def _written(path: Path) -> tuple[int, int]:
    """Which file this is. A number alone does not tell: a new file may be given that of one that was deleted."""
    found = path.stat()
    return found.st_ino, found.st_mtime_ns


def _made(store: EmbeddedStore) -> tuple[int, int]:
    """The file of the index of chunks: another one where it was made anew."""
    (path,) = (Path(store.location) / "index").glob("*/Chunk.vectors")
    return _written(path)


def test_labels_have_an_index_from_the_number_of_vectors_that_the_setting_says(
    store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the files on that are made next. Those that keep theirs keep the file; the same ten are found without one."""
    made, asked = _made(store), store.vectors(Label.CHUNK, ["Page 7#chunk-1"])[0]
    before = store.nearest([Label.CHUNK], asked, 10)
    monkeypatch.setenv("TRIVIUM_APPROXIMATE_FROM", "100")
    _make_files(store)
    assert _indexed(store) == {Label.CHUNK} and _made(store) == made
    monkeypatch.setenv("TRIVIUM_APPROXIMATE_FROM", "121")
    store.refresh()
    assert _indexed(store) == {Label.CHUNK}
    _make_files(store)
    assert not _indexed(store) and not list((Path(store.location) / "index").glob("*/*.vectors"))
    assert store.nearest([Label.CHUNK], asked, 10) == before
    monkeypatch.setenv("TRIVIUM_APPROXIMATE_FROM", "1")
    _make_files(store)
    assert _indexed(store) == {Label.CHUNK, Label.PAGE, Label.ENTITY}


def _make_files(store: EmbeddedStore) -> None:
    """Make the files of another state with the same vectors."""
    with store._database.writing() as connection:
        begin_state(connection)
    build_snapshot(store._database)
    store.refresh()


def test_a_label_keeps_the_way_of_its_files_when_it_crosses_the_number(
    store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In memory, until the files are made anew: neither all numbers nor all bytes are read for it."""
    monkeypatch.setattr(load_index, "MOST_PATCHED", 10.0)
    monkeypatch.setattr(load_index, "MOST_WHILE_BUILDING", 10.0)
    asked = store.vectors(Label.CHUNK, ["Page 7#chunk-1"])[0]
    monkeypatch.setenv("TRIVIUM_APPROXIMATE_FROM", "121")
    _make_files(store)
    store.nearest([Label.CHUNK], asked, 10)
    _add(store, range(100, 101))
    now = store._current()
    assert len(now.embedded_rows(Label.CHUNK)) == 122 and now.scans(Label.CHUNK)
    assert len(now.vectors(Label.CHUNK).stored) == 120 and len(now.vectors(Label.CHUNK).added) == 2
    assert store.nearest([Label.CHUNK], asked, 10) == store.nearest([Label.CHUNK], asked, 10, exact=True)
    monkeypatch.setenv("TRIVIUM_APPROXIMATE_FROM", "122")
    _make_files(store)
    store.delete(["Page 100"])
    assert Label.CHUNK in _indexed(store)
    assert store.nearest([Label.CHUNK], asked, 1)[0].uri == "Page 7#chunk-1"


def test_the_same_vectors_make_the_same_index(store: EmbeddedStore) -> None:
    """To the byte, for every label, though the labels are made at once by threads."""
    index = Path(store.location) / "index"

    def made() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in index.glob("*/*.vectors")}

    first = made()
    assert {"Chunk.vectors", "Entity.vectors"} <= first.keys()
    with EmbeddedStore.open(store.location) as other:
        shutil.rmtree(index)
        other.refresh()
        assert made() == first


def test_more_in_sight_finds_more() -> None:
    """With one node in sight many of the ten nearest are missed, with 300 none."""
    vectors = np.random.default_rng(9).normal(size=(430, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors, questions = vectors[:400], vectors[400:]

    def recall(expansion: int) -> float:
        index = AnnIndex.empty(16, expansion)
        index.add(np.arange(400), vectors)
        return float(
            np.mean([np.isin(np.argsort(-vectors @ q)[:10], index.search(q, 10, 12)) for q in questions])
        )

    poor, rich = recall(1), recall(300)
    assert poor < rich and rich > 0.99


def test_a_few_neighbours_are_looked_for_among_fewer_candidates(store: EmbeddedStore) -> None:
    """Up to ten: .6 of the list, of which 40 are compared; more: all of it, of which a tenth more than asked."""
    asked: list[int] = []
    ann = _ann(store)
    real = ann.index.search

    class Spy:
        dtype = ann.index.dtype

        def __len__(self) -> int:
            return len(ann.index)

        def search(self, vector: object, count: int, threads: int) -> object:
            asked.append(count)
            return real(vector, count, threads=threads)

    vector = np.ones(IDENTITY.dimension, np.float32) / np.sqrt(np.float32(IDENTITY.dimension))
    spied = replace(ann, index=Spy(), expansion=60)
    assert [len(spied.search(vector, k, compared(k))) for k in (3, 10, 11, 90)] == [40, 40, 13, 100]
    assert asked == [40, 40, 60, 100]


def test_an_index_is_changed_rather_than_made_anew(store: EmbeddedStore) -> None:
    """Vectors that went are removed and those that came are added, until nothing of the first ones is left."""
    asked = store.vectors(Label.CHUNK, ["Page 7#chunk-1"])[0]
    for number in range(3):
        store.delete([f"Page {other}" for other in range(20 * number, 20 * number + 20)])
        _add(store, range(100 + 20 * number, 120 + 20 * number))
        build_snapshot(store._database)
        store.refresh()
        now = store._current()
        there = now.matrix.ids[now.vector_rows(Label.CHUNK)].tolist()
        assert now.base.changes == 0 and len(there) == 120
        assert sorted(_ann(store).search(asked, 120, 200).tolist()) == there


def test_indexes_of_an_earlier_format_are_made_anew(store: EmbeddedStore) -> None:
    """What is found stays."""
    (folder,) = (Path(store.location) / "index").glob("generation-*")
    asked = store.vectors(Label.CHUNK, ["Page 7#chunk-1"])[0]
    before = store.nearest([Label.CHUNK], asked, 10)
    store.close()
    manifest = json.loads((folder / MANIFEST).read_text())
    (folder / "Chunk.signs.npy").write_bytes(b"")
    (folder / MANIFEST).write_text(json.dumps({**manifest, "format": 5}))
    matrix = _written(folder / "matrix.npy")
    with EmbeddedStore.open(store.location) as again:
        assert again.nearest([Label.CHUNK], asked, 10) == before
        (folder,) = (Path(store.location) / "index").glob("generation-*")
        assert not list(folder.glob("*.signs*"))
        assert _written(folder / "matrix.npy") != matrix
