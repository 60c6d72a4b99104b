"""What fills a store: removing pages."""

from __future__ import annotations

import pytest

from tests.contract.graphs import graph
from tests.fakes.memory_store import MemoryStore
from trivium.embedding.store_embedder import StoreEmbedder
from trivium.errors import InputError
from trivium.graph.records import PageRecord
from trivium.index.indexer import Indexer


class LargeStore(MemoryStore):
    """A store with too many pages to list."""

    def pages(self, after: str | None = None, limit: int | None = None) -> list[PageRecord]:
        raise AssertionError("removing a page does not need the others")


@pytest.fixture
def indexer() -> Indexer:
    store = LargeStore()
    store.write(
        [
            graph("Mars", [("red", ["Sun"])], aliases=["Ares"]),
            graph("C%23", [("a language", [])]),
            graph("Io"),
        ]
    )
    return Indexer(store, StoreEmbedder(store))


def test_pages_are_removed_by_title_alias_or_uri(indexer: Indexer) -> None:
    """Each once, and without listing the others."""
    assert indexer.remove(["Ares", "Mars"]) == ["Mars"]
    assert indexer.remove(["C#", "Io"]) == ["C%23", "Io"]
    assert indexer.store.count_pages() == 0


def test_a_uri_is_as_good_as_a_title(indexer: Indexer) -> None:
    """It is what hits show."""
    assert indexer.remove(["C%23"]) == ["C%23"]


def test_a_title_that_is_not_utf_8_is_not_taken_for_another(indexer: Indexer) -> None:
    """As a shell passes on bytes that are none: the title without them is that of a page."""
    with pytest.raises(InputError, match="expected a title in UTF-8"):
        indexer.remove(["Mars\udcff"])
    assert indexer.remove(["Mars"]) == ["Mars"]


def test_what_is_no_page_is_named_and_nothing_is_removed(indexer: Indexer) -> None:
    """Neither an unknown title nor an entity that has no page of its own."""
    with pytest.raises(InputError, match="no such page in the store: Sun, Nix"):
        indexer.remove(["Mars", "Sun", "Nix"])
    assert indexer.store.count_pages() == 3
