"""Conditions in a store with an approximate index and many chunks: whichever way is taken, what matches is found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tests.contract.graphs import graph
from tests.fakes.memory_store import MemoryStore
from tests.graph.sqlite.test_search import IDENTITY, _page, _vectors
from trivium.graph.arrays import filtered_search as within
from trivium.graph.arrays import search
from trivium.graph.filter_language import parse
from trivium.graph.page_graph import PageGraph
from trivium.graph.schema import Label
from trivium.graph.sqlite import EmbeddedStore, load_index

CHUNKS = 60 * 20


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStore]:
    """1,200 chunks with an approximate index, on pages with numbers from 0 to 59; lists are short enough to be asked of
    it when more than 20 chunks match."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TRIVIUM_APPROXIMATE_FROM", "20")
        patched.setattr(search, "COMPARED_AT_MOST", 20)
        patched.setattr(within, "COUNTED_AT_MOST", 20)
        with EmbeddedStore.create(tmp_path_factory.mktemp("within") / "store") as store:
            store.write([replace(_page(number), metadata={"number": number}) for number in range(60)])
            store.set_embedder(IDENTITY)
            texts = list(store.pending_texts())
            store.put_vectors(texts, _vectors(len(texts), 3))
            yield store


@pytest.mark.parametrize(
    ("text", "pages"), [("number < 30", 30), ("number < 3", 3), ("number = 7", 1), ("number = 99", 0)]
)
def test_as_many_neighbours_as_without_an_index(store: EmbeddedStore, text: str, pages: int) -> None:
    """Recall of the 50 nearest against everything compared; all of them match."""
    view = store.within(parse(text))
    recalls = []
    for vector in _vectors(20, 5):
        found = [node.uri for node in view.nearest([Label.CHUNK], vector, 50)]
        wanted = [node.uri for node in view.nearest([Label.CHUNK], vector, 50, exact=True)]
        assert len(found) == len(wanted) == min(50, 20 * pages)
        assert {store.fetch([uri])[0].metadata["number"] for uri in found[:1]} <= set(range(30))
        recalls.append(len(set(found) & set(wanted)) / max(1, len(wanted)))
    assert np.mean(recalls) > 0.97 or pages == 0


def test_words_are_counted_or_asked_for_alike(store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The keyword index and the forward index find the same chunks of those that match."""
    terms = ["chunk", "7"]
    view = store.within(parse("number < 30"))
    asked = view.keyword_search(terms, 10_000)
    monkeypatch.setattr(within, "COUNTED_AT_MOST", CHUNKS)
    counted = view.keyword_search(terms, 10_000)
    assert sorted(asked) == sorted(counted)
    assert len(asked) == 30 * 20
    assert len(view.keyword_search(terms, 9)) == 9


@pytest.mark.parametrize("seed", range(8))
def test_what_is_known_of_chunks_follows_changes_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Kinds and pages of a document, of chunks that come, go, and are replaced while their neighbours stay."""
    for most in ("MOST_PATCHED", "MOST_WHILE_BUILDING"):
        monkeypatch.setattr(load_index, most, 1e6)
    random = Random(seed)

    def page(title: str) -> PageGraph:
        made = graph(title, [(f"text {random.random()}", []) for _ in range(random.randrange(4))])
        kinds = [(kind, pages) for kind in ("table", "list") for pages in (None, (1, 2), (4, 4))]
        chosen = [random.choice(kinds) for _ in made.chunks]
        chunks = (
            replace(chunk, kind=kind, pages=pages)
            for chunk, (kind, pages) in zip(made.chunks, chosen, strict=True)
        )
        return replace(made, chunks=tuple(chunks), content_hash=str(random.random()))

    with EmbeddedStore.create(tmp_path / "store") as store:
        oracle, first = MemoryStore(), [page(title) for title in "BDFH"]
        store.write(first), oracle.write(first)
        for _ in range(6):
            for text in ("kind = table", "kind != table", "page = 2", "page > 2 and kind = list"):
                condition = parse(text)
                assert store.within(condition).chunk_uris() == oracle.within(condition).chunk_uris(), text
            some = [page(title) for title in random.sample("ABCDEFGHI", 3)]
            gone = random.sample("ABCDEFGHI", 2)
            store.write(some), oracle.write(some)
            store.delete(gone), oracle.delete(gone)
        assert len(store._current().details) == 1
