"""Small pictures of chunks: kept beside them, given for those that have one, gone with them."""

from __future__ import annotations

from dataclasses import replace

from tests.contract.graphs import graph
from tests.contract.state import state_of
from trivium.graph.filter_language import parse
from trivium.graph.page_facts import page_digest
from trivium.graph.page_graph import PageGraph
from trivium.graph.protocols import GraphStore

# Every byte there is: stores must not take them for text.
FIRST, SECOND = bytes(range(256)) * 40, b"\0\xff"
PLAIN = graph("Mars", [("red planet", ["Sun"])])


def _album(*thumbnails: bytes, title: str = "Album", content_hash: str = "1") -> PageGraph:
    page = graph(title, [("a chair", []), ("in words", []), ("a table", [])])
    chunks = tuple(
        replace(chunk, thumbnail=thumbnail) for chunk, thumbnail in zip(page.chunks, thumbnails, strict=True)
    )
    return replace(page, content_hash=content_hash, chunks=chunks)


def test_thumbnails_come_back_in_the_order_asked(store: GraphStore) -> None:
    """Of chunks that have one; with the pages, too, which go to other stores."""
    page = _album(FIRST, b"", SECOND)
    store.write([page, PLAIN])
    one, two, three = (chunk.uri for chunk in page.chunks)
    found = store.thumbnails([three, "Nowhere#chunk-1", one, two, three, PLAIN.chunks[0].uri])
    assert list(found.items()) == [(three, SECOND), (one, FIRST)]
    assert store.thumbnails([]) == store.thumbnails([two]) == {}
    assert list(store.page_graphs()) == [page, PLAIN]


def test_a_thumbnail_is_replaced_and_removed_with_its_chunk(store: GraphStore) -> None:
    before = state_of(store)
    page = _album(FIRST, b"", b"")
    store.write([page])
    store.write([_album(SECOND, b"", b"", content_hash="2")])
    uri = page.chunks[0].uri
    assert store.thumbnails([uri]) == {uri: SECOND}
    store.write([_album(b"", b"", b"", content_hash="3")])
    assert store.thumbnails([uri]) == {}
    store.write([replace(page, content_hash="4")])
    store.delete(["Album"])
    assert store.thumbnails([uri]) == {} and state_of(store) == before


def test_a_view_gives_them_as_the_store_does(store: GraphStore) -> None:
    """Whatever its condition: what is asked for was found before."""
    page = _album(FIRST, b"", SECOND)
    store.write([page])
    uris = [chunk.uri for chunk in page.chunks]
    with store.within(parse("kind = table")).pinned() as view:
        assert view.thumbnails(uris) == store.thumbnails(uris) == {uris[0]: FIRST, uris[2]: SECOND}


def test_a_damaged_thumbnail_changes_the_digest_of_its_page() -> None:
    """That of a page without any is what it was before there were thumbnails."""
    pages = [
        _album(*three) for three in ((FIRST, b"", b""), (SECOND, b"", b""), (b"", b"", FIRST), (b"",) * 3)
    ]
    assert len({page_digest(page) for page in pages}) == 4
    assert page_digest(PLAIN) == "e51d6a043e37428078fbbaf67c4c78b1"
