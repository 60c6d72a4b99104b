"""Filling a store: distinct texts, in slices, each saved before the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from trivium.embedding.embed_in_slices import fill, fill_parts
from trivium.embedding.embedder import Vectors
from trivium.errors import EmbeddingError, InputError
from trivium.types import EmbedderIdentity


class Lengths:
    """Embeds a text as (its length, 1); ``fails_at`` is a text at which it stops."""

    def __init__(self, fails_at: str | None = None, error: BaseException | None = None) -> None:
        self.identity = EmbedderIdentity("lengths", "1", 2)
        self.seen: list[str] = []
        self._fails_at = fails_at
        self._error = error

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        for text in texts:
            if text == self._fails_at and self._error is not None:
                raise self._error
            self.seen.append(text)
            if progress is not None:
                progress(1)
        return np.array([[len(text), 1] for text in texts], dtype=np.float32)

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed([text])[0]
        return vector

    def close(self) -> None:
        """Nothing to let go of."""


class Store(dict[str, float]):
    """Remembers what was put, and in what slices."""

    def __init__(self) -> None:
        self.slices: list[list[str]] = []

    def put(self, texts: Sequence[str], vectors: Vectors) -> None:
        self.slices.append(list(texts))
        self.update(zip(texts, vectors[:, 0].tolist(), strict=True))


def test_an_embedder_may_ask_for_larger_slices() -> None:
    """By ``texts_at_once``, and a quarter as many wholes; a given size wins."""
    texts = [str(number) for number in range(300)]
    for asked, given, sizes in (
        (None, None, [128, 128, 44]),
        (200, None, [200, 100]),
        (200, 150, [150, 150]),
    ):
        store, embedder = Store(), Lengths()
        if asked is not None:
            embedder.texts_at_once = asked  # type: ignore[attr-defined]
        fill(texts, embedder, store.put, slice_size=given)
        assert [len(part) for part in store.slices] == sizes
        wholes: list[int] = []
        fill_parts(
            texts,
            list,
            embedder,
            lambda some, _, put=wholes: put.append(len(some)),
            slice_size=given,  # type: ignore[misc]
        )
        assert wholes[0] == (given or (asked or 128) // 4) and sum(wholes) == 300


def test_each_distinct_text_is_embedded_once_and_saved_in_slices() -> None:
    """Seven texts, five distinct, slices of two; progress counts to five."""
    store, embedder, steps = Store(), Lengths(), list[tuple[int, int]]()
    texts = ["a", "bb", "a", "ccc", "dddd", "bb", "eeeee"]
    assert (
        fill(texts, embedder, store.put, lambda done, total: steps.append((done, total)), slice_size=2) == 5
    )
    assert store.slices == [["a", "bb"], ["ccc", "dddd"], ["eeeee"]]
    assert store == {"a": 1.0, "bb": 2.0, "ccc": 3.0, "dddd": 4.0, "eeeee": 5.0}
    assert embedder.seen == ["a", "bb", "ccc", "dddd", "eeeee"]
    assert steps == [(i, 5) for i in range(1, 6)]


def test_texts_whose_number_is_known_are_taken_a_slice_at_a_time() -> None:
    """So that no more than a slice is in memory; progress counts to the number given."""
    store, taken, steps = Store(), list[int](), list[tuple[int, int]]()

    def texts() -> Iterator[str]:
        for number in range(1, 6):
            taken.append(len(store))
            yield "x" * number

    def progress(done: int, total: int) -> None:
        steps.append((done, total))

    assert fill(texts(), Lengths(), store.put, progress, slice_size=2, total=5) == 5
    assert taken == [0, 0, 2, 2, 4]
    assert steps == [(number, 5) for number in range(1, 6)]


def test_wholes_whose_number_is_known_are_taken_a_slice_at_a_time() -> None:
    """The same for parts."""
    put: list[str] = []
    told: list[tuple[int, int]] = []
    taken: list[int] = []

    def wholes() -> Iterator[str]:
        for whole in ("a b", "c", "d"):
            taken.append(len(put))
            yield whole

    def keep(wholes: Sequence[str], _: object) -> None:
        put.extend(wholes)

    def progress(done: int, total: int) -> None:
        told.append((done, total))

    assert fill_parts(wholes(), str.split, Lengths(), keep, progress, slice_size=2, total=3) == 4
    assert (taken, told) == ([0, 0, 2], [(2, 3), (3, 3)])


def test_nothing_to_do_puts_nothing() -> None:
    """No texts, no slices."""
    store = Store()
    assert fill([], Lengths(), store.put) == 0
    assert store.slices == []


@pytest.mark.parametrize("error", [KeyboardInterrupt(), EmbeddingError("broken")])
def test_an_interrupt_loses_one_slice_and_filling_goes_on_from_there(error: BaseException) -> None:
    """What was saved stays, and the second run embeds only the rest."""
    store, texts = Store(), [str(i) * 3 for i in range(8)]
    with pytest.raises(type(error)):
        fill(texts, Lengths("555", error), store.put, slice_size=2)
    assert sorted(store) == ["000", "111", "222", "333"]
    second = Lengths()
    fill([text for text in texts if text not in store], second, store.put, slice_size=2)
    assert second.seen == ["444", "555", "666", "777"]
    assert sorted(store) == texts


def test_vectors_of_another_shape_are_not_saved() -> None:
    """An embedder that breaks its word is found out before the store is touched."""
    store, embedder = Store(), Lengths()
    embedder.identity = EmbedderIdentity("lengths", "1", 3)
    with pytest.raises(EmbeddingError, match=r"lengths: expected vectors of shape \(1, 3\), got \(1, 2\)"):
        fill(["a"], embedder, store.put)
    assert store.slices == []


def test_a_slice_holds_at_least_one_text() -> None:
    """Zero would never end."""
    with pytest.raises(InputError, match="at least 1, got 0"):
        fill(["a"], Lengths(), Store().put, slice_size=0)


def test_parts_are_put_with_their_whole_in_slices() -> None:
    """A whole without parts is put too: it is done. Every number of a code is of the part's own vector."""
    seen: list[tuple[list[str], list[list[list[int]]]]] = []
    told: list[tuple[int, int]] = []
    count = fill_parts(
        ["ab c", "", "d"],
        str.split,
        Lengths(),
        lambda wholes, codes: seen.append((list(wholes), [one.tolist() for one in codes])),
        lambda done, total: told.append((done, total)),
        slice_size=2,
    )
    assert count == 3
    assert seen == [(["ab c", ""], [[[127, 64], [127, 127]], []]), (["d"], [[[127, 127]]])]
    assert told == [(2, 3), (3, 3)]


def test_parts_embedded_before_an_error_are_saved() -> None:
    """Only the slice under way is lost."""
    put: list[str] = []
    with pytest.raises(EmbeddingError, match="broken"):
        fill_parts(
            ["a b", "c d", "e f"],
            str.split,
            Lengths("d", EmbeddingError("broken")),
            lambda wholes, _: put.extend(wholes),
            slice_size=1,
        )
    assert put == ["a b"]
    with pytest.raises(InputError, match="slice_size"):
        fill_parts(["a"], str.split, Lengths(), lambda *_: None, slice_size=0)
