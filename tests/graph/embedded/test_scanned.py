"""Vectors that are all compared find the nearest, from files and after changes, with signs and without."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph.embedded.test_search import _page
from tests.graph.test_signs import drawn
from trivium.common.arrays import Floats32
from trivium.common.dots import dots
from trivium.graph import vectors as vectors_module
from trivium.graph.arrays import Rows, Stacked, load_array, save_array
from trivium.graph.embedded import EmbeddedStore, search, snapshot
from trivium.graph.embedded.scanned import Scanned, build_scanned, load_scanned
from trivium.graph.embedded.topology import Nodes
from trivium.graph.embedded.vectors import Matrix
from trivium.graph.filters import parse
from trivium.graph.records import Floats, Vectors
from trivium.graph.schema import Label
from trivium.graph.signs import SignVectors
from trivium.graph.string_table import StringTable
from trivium.index_parameters import IndexParameters
from trivium.types import EmbedderIdentity


def nodes_with(vector: Rows) -> Nodes:
    """Nodes with vectors in these rows of the matrix, -1 for none."""
    numbers = np.arange(len(vector))
    return Nodes(
        StringTable.of([f"node-{number:05}" for number in numbers]), numbers, numbers, vector, numbers
    )


def matrix_of(vectors: Vectors, more: Vectors | None = None) -> Matrix:
    stacked = Stacked.of(vectors) if more is None else Stacked(vectors, more)
    return Matrix(stacked, np.arange(1, len(stacked) + 1))


def files(folder: Path, vectors: Vectors, vector: Rows) -> Scanned:
    """The vectors of nodes, written and mapped again."""
    build_scanned(folder, "Chunk", nodes_with(vector), matrix_of(vectors), IndexParameters())
    loaded = load_scanned(folder, "Chunk", vectors.shape[1])
    assert loaded is not None
    return loaded.opened(matrix_of(vectors))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([16, 64]), st.integers(1, 8), st.booleans())
def test_the_nearest_are_found_after_changes(
    tmp_path_factory: pytest.TempPathFactory, seed: int, dimension: int, k: int, exact: bool
) -> None:
    """Of the rows that nodes have now: some removed, some shared, some of the matrix before that no node had, and new
    ones; among all and among some. Against all cosines."""
    random = np.random.default_rng(seed)
    vectors = drawn(seed, 760, dimension)
    old, new = vectors[:600].copy(), vectors[600:750].copy()
    matrix = matrix_of(old, new)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(vectors_module, "SIGNS_FROM", 300)
        scanned = files(tmp_path_factory.mktemp("scanned"), old, random.integers(-1, 500, 600))
    for _ in range(3):
        rows = np.unique(random.integers(0, 750, random.integers(1, 700)))
        scanned = scanned.now(matrix, rows)
        among = random.random(750) < random.choice([0.02, 0.6])
        among &= np.isin(np.arange(750), rows)
        for question in vectors[750:]:

            def cosines(some: Rows, question: Vectors = question) -> Floats:
                return matrix.cosines(some, question)

            for wanted, mask in ((rows, None), (np.flatnonzero(among), among)):
                found = scanned.nearest(cosines, question, k, exact=exact, among=mask)
                best = wanted[np.argsort(-cosines(wanted), kind="stable")[:k]]
                assert set(best.tolist()) <= set(found.tolist()) <= set(wanted.tolist())
                assert len(set(found.tolist())) == len(found)


def test_signs_are_compared_first_unless_an_exact_answer_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    nearest = SignVectors.nearest

    def noted(self: SignVectors, *given: object, **more: object) -> Rows:
        asked.append(1)
        return nearest(self, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(SignVectors, "nearest", noted)
    monkeypatch.setattr(vectors_module, "SIGNS_FROM", 2_000)
    vectors = drawn(7, 4_001, 64)
    scanned = files(tmp_path, vectors[:4_000], np.arange(4_000))
    question = vectors[4_000]

    def cosines(rows: Rows) -> Floats:
        return dots(vectors, question, rows)

    best = set(np.argsort(-dots(vectors[:4_000], question))[:10].tolist())
    assert best <= set(scanned.nearest(cosines, question, 10, exact=True).tolist()) and not asked
    assert best <= set(scanned.nearest(cosines, question, 10, exact=False).tolist()) and asked == [1]


def test_files_that_do_not_fit_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the indexes are built anew; without any there is nothing to load."""
    monkeypatch.setattr(vectors_module, "SIGNS_FROM", 50)
    assert load_scanned(tmp_path, "Chunk", 64) is None
    files(tmp_path, drawn(1, 100, 64), np.arange(100))
    with pytest.raises(ValueError, match="coarse has vectors"):
        load_scanned(tmp_path, "Chunk", 65)
    whole = load_array(tmp_path, "Chunk.signs").copy()
    for name, damaged in (("Chunk.signs", whole[:1]), ("Chunk.signs.factors", np.zeros((3, 7), np.float32))):
        kept = load_array(tmp_path, name).copy()
        save_array(tmp_path, name, damaged)
        with pytest.raises(ValueError, match="signs has words"):
            load_scanned(tmp_path, "Chunk", 64)
        save_array(tmp_path, name, kept)
    assert load_scanned(tmp_path, "Chunk", 64) is not None


def test_a_store_finds_by_signs_what_it_finds_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 1,200 passages, all, those of most pages and of few, before and after pages came and went."""
    compared: list[int] = []
    bounds = SignVectors._bounds

    def noted(self: SignVectors, vector: Vectors) -> tuple[Floats32, Floats32]:
        compared.append(1)
        return bounds(self, vector)

    monkeypatch.setattr(SignVectors, "_bounds", noted)
    monkeypatch.setattr(search, "FEW_ROWS", 50)
    monkeypatch.setattr(vectors_module, "SIGNS_FROM", 100)
    monkeypatch.setattr(snapshot, "MOST_PATCHED", 10.0)
    monkeypatch.setattr(snapshot, "MOST_WHILE_BUILDING", 10.0)
    given = iter(drawn(8, 2_000, 64))
    with EmbeddedStore.create(tmp_path / "store") as store:
        store.set_embedder(EmbedderIdentity("drawn", "1", 64))

        def write(numbers: range) -> None:
            store.write([replace(_page(number), metadata={"number": number}) for number in numbers])
            texts = list(store.pending_texts())
            store.put_vectors(texts, np.stack([next(given) for _ in texts]))
            store.refresh()

        def remove() -> None:
            assert store.delete(["Page 3"]) == ["Page 3"]

        write(range(60))
        assert store._current().stored[Label.CHUNK].signs is not None
        before = store._current().base.key
        for number, change in enumerate((lambda: None, remove, lambda: write(range(60, 61)))):
            change()
            for condition, by_signs in ((None, 5), ("number < 50", 5), ("number < 2", 0)):
                view = store if condition is None else store.within(parse(condition))
                compared.clear()
                for vector in drawn(10 + number, 5, 64):
                    found = view.nearest([Label.CHUNK], vector, 2)
                    assert found == view.nearest([Label.CHUNK], vector, 2, exact=True) and len(found) == 2
                assert len(compared) == by_signs
        assert store._current().base.key == before, "the changes are beside the files"
