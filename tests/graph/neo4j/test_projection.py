"""The projection of the graph as a file."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from trivium.graph.neo4j import walk_graph
from trivium.graph.neo4j.store_cache import StoreState
from trivium.graph.records import Adjacency

UUID = "6f3c9a52-0d0b-4f34-9c55-0b1d3a3c1f00"
CHUNKS = ["A#chunk-1", "é#chunk-1", "𝕌#chunk-1"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the files go; small graphs are worth keeping here."""
    monkeypatch.setenv("TRIVIUM_HOME", str(tmp_path))
    monkeypatch.setattr(walk_graph, "WORTH_KEEPING", 3)
    return tmp_path / walk_graph.FOLDER


def state(version: int = 1, uuid: str | None = UUID) -> StoreState:
    return StoreState(version, uuid, None, chunks=3, term_total=0)


def adjacency(chunks: list[str] = CHUNKS) -> Adjacency:
    """Chunks that cite one entity each, the same."""
    count = len(chunks)
    indptr = np.array([*range(count + 1), 2 * count], dtype=np.int64)
    return Adjacency(
        chunks=chunks,
        entities=["X"],
        indptr=indptr,
        indices=np.array([count] * count + list(range(count)), dtype=np.int32),
        own_chunks=np.zeros((count + 1, 2), dtype=np.int64),
        chunk_rows={uri: row for row, uri in enumerate(chunks)},
        entity_rows={"X": 0},
    )


def test_a_projection_comes_back_as_it_was(folder: Path) -> None:
    """Of the same store and content only."""
    assert walk_graph.load_file(state()) is None
    walk_graph.save_file(state(), adjacency())
    found = walk_graph.load_file(state())
    assert found is not None
    assert (found.chunks[:], found.entities[:]) == (CHUNKS, ["X"])
    assert (found.chunk_rows, found.entity_rows) == (adjacency().chunk_rows, {"X": 0})
    assert found.indptr.tolist() == [0, 1, 2, 3, 6]
    assert found.indices.tolist() == [3, 3, 3, 0, 1, 2]
    assert (str(found.indptr.dtype), str(found.indices.dtype)) == ("int64", "int32")
    assert walk_graph.load_file(state(version=2)) is not None, "vectors are no part of it"
    assert walk_graph.load_file(state(uuid=UUID.replace("6", "7"))) is None
    assert [path.name for path in folder.iterdir()] == [f"{UUID}.npz"]


@pytest.mark.parametrize("uuid", [None, "", "../../etc/passwd", 7])
def test_a_store_without_a_sound_identity_has_no_file(folder: Path, uuid: str | None) -> None:
    """The identity comes from the database, and is part of a path."""
    walk_graph.save_file(state(uuid=uuid), adjacency())
    assert not folder.exists()
    assert walk_graph.load_file(state(uuid=uuid)) is None


@pytest.mark.parametrize("damage", [b"", b"no archive", None])
def test_a_damaged_file_is_done_without(folder: Path, damage: bytes | None) -> None:
    """Also one whose arrays do not fit together."""
    walk_graph.save_file(state(), adjacency())
    path = folder / f"{UUID}.npz"
    if damage is None:
        with np.load(path) as archive:
            arrays = dict(archive)
        np.savez(path, **{**arrays, "indptr": arrays["indptr"][:-1]})
    else:
        path.write_bytes(damage)
    assert walk_graph.load_file(state()) is None


def test_a_folder_that_cannot_be_written_is_done_without(folder: Path) -> None:
    """The projection is only a cache."""
    folder.write_text("in the way")
    walk_graph.save_file(state(), adjacency())
    assert walk_graph.load_file(state()) is None


def test_the_files_used_last_are_kept(folder: Path) -> None:
    """Reading one is using it."""
    identities = [f"{UUID[:-1]}{number}" for number in range(walk_graph.KEPT_FILES + 1)]
    for number, identity in enumerate(identities[:-1]):
        walk_graph.save_file(state(uuid=identity), adjacency())
        os.utime(folder / f"{identity}.npz", (number, number))
    assert walk_graph.load_file(state(uuid=identities[0])) is not None
    walk_graph.save_file(state(uuid=identities[-1]), adjacency())
    kept = {path.name for path in folder.iterdir()}
    assert kept == {f"{identity}.npz" for identity in identities} - {f"{identities[1]}.npz"}


def test_a_small_graph_is_not_worth_a_file(folder: Path) -> None:
    """The database answers as fast."""
    walk_graph.save_file(state(), adjacency(CHUNKS[:2]))
    assert not folder.exists()
