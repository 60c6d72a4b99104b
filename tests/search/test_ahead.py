"""Questions of a batch are embedded ahead, each once, and an error belongs to its question."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trivium.common.idle_cores import alone
from trivium.embedding.embedder import Embedder, embed_queries, embeds_together
from trivium.embedding.late_chunking import without_headings
from trivium.embedding.store_embedder import RememberedQuestions
from trivium.engine import Engine
from trivium.graph.arrays import search
from trivium.graph.arrays.array_files import Rows
from trivium.graph.records import Vectors
from trivium.search.embed_ahead import Ahead
from trivium.testing.toys import HashEmbedder


def _numbered(texts: Sequence[str]) -> list[Vectors]:
    if "bad" in texts:
        raise ValueError("bad")
    return [np.array([float(text)], dtype=np.float32) for text in texts]


_one_by_one = partial(Ahead, in_groups=lambda: False)
_in_groups = partial(Ahead, in_groups=lambda: True)


def test_each_text_is_embedded_once_and_its_vector_given_to_its_question() -> None:
    asked: list[Sequence[str]] = []

    def embed(texts: Sequence[str]) -> list[Vectors]:
        asked.append(texts)
        return _numbered(texts)

    with _one_by_one(["3", "1", "4", "1"], embed) as ahead:
        assert [ahead.vector(number).tolist() for number in range(4)] == [[3.0], [1.0], [4.0], [1.0]]
    assert asked == [["3"], ["1"], ["4"], ["1"]]


def test_groups_grow_up_to_128() -> None:
    """The first search waits for its own question only."""
    texts = [str(number) for number in range(600)]
    asked: list[int] = []

    def embed(texts: Sequence[str]) -> list[Vectors]:
        asked.append(len(texts))
        return _numbered(texts)

    with _in_groups(texts, embed) as ahead:
        assert [ahead.vector(number).tolist() for number in range(600)] == [[n] for n in range(600)]
    assert asked == [1, 1, 2, 4, 8, 16, 32, 64, 128, 128, 128, 88]


def test_alone_groups_are_embedded_when_they_are_needed() -> None:
    """Where other processes keep the other cores busy: in the same thread, 128 questions at a time."""
    texts = [str(number) for number in range(300)]
    asked: list[int] = []

    def embed(texts: Sequence[str]) -> list[Vectors]:
        assert threading.current_thread() is threading.main_thread()
        asked.append(len(texts))
        return _numbered(texts)

    with alone(), _in_groups(texts, embed) as ahead:
        assert asked == []
        for number in range(300):
            assert ahead.vector(number).tolist() == [number]
            assert len(asked) == number // 128 + 1
    assert asked == [128, 128, 44]
    with alone(), _one_by_one(["1", "bad", "2"], embed) as ahead:
        assert ahead.vector(2).tolist() == [2.0]
        for _ in range(2):
            with pytest.raises(ValueError, match="bad"):
                ahead.vector(1)


def test_alone_what_comes_next_is_looked_ahead_for() -> None:
    """Once the first question shows what is looked for: for 64 at a time, within a group of those embedded together.
    What cannot be embedded is left to its own question."""
    looked: list[tuple[list[float], float]] = []

    def look_ahead(vectors: Sequence[Vectors], like: Vectors) -> None:
        looked.append(([float(vector[0]) for vector in vectors], float(like[0])))

    texts = [str(number) for number in range(300)]
    with alone(), _in_groups(texts, _numbered, look_ahead=look_ahead) as ahead:
        for number in range(300):
            ahead.vector(number)
    firsts = [1, 65, 128, 192, 256]
    ends = [65, 128, 192, 256, 300]
    assert looked == [
        *(
            ([float(n) for n in range(first, end)], first - 1)
            for first, end in zip(firsts, ends, strict=True)
        ),
        ([], 299),  # nothing is kept
    ]
    looked.clear()
    with alone(), _in_groups(["1", "bad", "2"], _numbered, look_ahead=look_ahead) as ahead:
        for number in range(3):
            with pytest.raises(ValueError, match="bad"):
                ahead.vector(number)
    with _in_groups(texts, _numbered, look_ahead=look_ahead) as ahead:
        ahead.vector(299)
    with alone(), _one_by_one(["1", "2", "3"], _numbered, look_ahead=look_ahead) as ahead:
        assert [ahead.vector(number).tolist() for number in range(3)] == [[1.0], [2.0], [3.0]]
    assert looked == []


def test_two_groups_are_embedded_ahead() -> None:
    """Not all of a long list at once."""
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> list[Vectors]:
        asked.extend(texts)
        return _numbered(texts)

    with _in_groups([str(number) for number in range(600)], embed) as ahead:
        ahead.vector(2)  # in the third group; the fourth and the fifth have 12 texts
        assert ahead._thread is not None
        ahead._thread.shutdown()
    assert len(asked) == 4 + 12


def test_the_next_question_is_embedded_while_one_is_searched_for() -> None:
    begun = threading.Event()

    def embed(texts: Sequence[str]) -> list[Vectors]:
        if "2" in texts:
            begun.set()
        return _numbered(texts)

    with _one_by_one(["1", "2"], embed) as ahead:
        ahead.vector(0)
        assert begun.wait(10)


def test_an_error_is_raised_for_its_own_question_only() -> None:
    with _one_by_one(["1", "bad", "2"], _numbered) as ahead:
        assert ahead.vector(0).tolist() == [1.0]
        with pytest.raises(ValueError, match="bad"):
            ahead.vector(1)
        assert ahead.vector(2).tolist() == [2.0]


def test_one_question_needs_no_thread() -> None:
    before = threading.active_count()
    with _one_by_one(["1"], _numbered) as ahead:
        assert ahead.vector(0).tolist() == [1.0]
        assert threading.active_count() == before


class _Together(HashEmbedder):
    """Takes several questions at once, and writes down which."""

    def __init__(self) -> None:
        super().__init__(16)
        self.asked: list[list[str]] = []

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(list(texts))
        return np.array([super(_Together, self).embed_query(text) for text in texts])


def test_an_embedder_may_take_several_questions() -> None:
    """Also one that another wraps; others get one after the other. The cache keeps each."""
    plain, together = HashEmbedder(16), _Together()
    wrapped: Embedder = without_headings(together)
    assert [embeds_together(known) for known in (plain, together, wrapped)] == [False, True, True]
    expected = [plain.embed_query(text).tolist() for text in ("a", "b", "a")]
    for embedder in (plain, together, wrapped):
        assert [vector.tolist() for vector in embed_queries(embedder, ["a", "b", "a"])] == expected
    questions = RememberedQuestions()
    questions.vector(together, "b")
    together.asked.clear()
    for _ in range(2):
        known = questions.of(together)
        assert [vector.tolist() for vector in embed_queries(known, ["a", "b", "c", "a"])][:2] == expected[:2]
    assert together.asked == [["a", "c"]]
    with pytest.raises(ValueError, match="read-only"):
        questions.vector(together, "c")[0] = 1.0


def test_alone_a_batch_finds_the_same_and_looks_ahead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is nearest to all but the first question is looked for before they are searched for. Under a condition it is
    not. Hits are those of each question by itself."""
    names = ["Mars", "Venus", "Earth"]
    for name in names:
        (tmp_path / f"{name}.html").write_text(
            f"<h1>{name}</h1><p>{name} is a planet.</p><h2>Air</h2><p>Its air is {name.lower()}y.</p>"
        )
    scans: list[bytes] = []
    find = search._find_candidates

    def counting(*given: Any, **options: Any) -> Rows:
        scans.append(given[2].tobytes())
        return find(*given, **options)

    monkeypatch.setattr(search, "_find_candidates", counting)
    asked = [f"What is the air of {name} like, case {number}?" for number in range(4) for name in names]
    with Engine.create(tmp_path / "store", _Together()) as engine:
        engine.build([tmp_path / f"{name}.html" for name in names])
        expected = [engine.search(question, k=3) for question in asked]
        matching = [engine.search(question, k=3, where="title = 'Mars'") for question in asked]
        with engine.store.pinned() as store:
            store._indexes.searches.clear()
        scans.clear()
        with alone():
            assert engine.search_many(asked, k=3) == expected
            first, *others = (scans.index(scan) for scan in dict.fromkeys(scans))
            assert others == list(range(others[0], others[0] + len(asked) - 1))
            assert len(scans) % len(asked) == first == 0
            assert engine.search_many(asked, k=3, where="title = 'Mars'") == matching


def test_a_batch_finds_what_its_questions_find_one_by_one(tmp_path: Path) -> None:
    """And its questions are embedded together."""
    page = tmp_path / "Mars.html"
    page.write_text("<h1>Mars</h1><p>Mars is the fourth planet from the Sun. It has two moons.</p>")
    embedder = _Together()
    asked = [f"Which planet is number {number}?" for number in range(12)]
    with Engine.create(tmp_path / "store", embedder) as engine:
        engine.build([page])
        found = engine.search_many(asked, k=3)
    assert [text for texts in embedder.asked for text in texts] == [*asked[2:]]
    assert [len(texts) for texts in embedder.asked] == [2, 4, 4]
    with Engine.open(tmp_path / "store", HashEmbedder(16)) as engine:
        assert [engine.search(question, k=3) for question in asked] == found
