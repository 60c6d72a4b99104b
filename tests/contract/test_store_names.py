"""Names recognised in chunks: kept as they are, and found in all of them. They are no citations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.contract.graphs import graph
from tests.contract.state import state_of
from trivium.graph.page_facts import page_digest
from trivium.graph.page_graph import Name, PageGraph
from trivium.graph.protocols import GraphStore
from trivium.index.load import delete_linked, load

ADA = Name("Ada Lovelace", "person", 0, 12)
ADA_AGAIN = Name("Ada Lovelace", "", 20, 28)
LONDON = Name('London "#%23', "place", 3, 9)


def named(title: str, *names: tuple[Name, ...], content_hash: str = "1") -> PageGraph:
    """A page with a chunk for each of these."""
    page = graph(title, [("Ada Lovelace came to London", ["Sun"]) for _ in names])
    chunks = tuple(replace(chunk, names=own) for chunk, own in zip(page.chunks, names, strict=True))
    return replace(page, chunks=chunks, content_hash=content_hash)


LETTERS = named("Letters", (ADA, LONDON, ADA_AGAIN), ())
TRAVELS = named("Travels", (LONDON,))
WANTED = ['London "#%23', "Ada Lovelace", "Charles Babbage"]
FIRST = LETTERS.chunks[0].uri


def test_names_come_back_as_they_were_written(store: GraphStore) -> None:
    store.write([TRAVELS, LETTERS])
    assert list(store.page_graphs()) == [LETTERS, TRAVELS]
    assert (
        store.checker().page_digests()["Letters"]
        == page_digest(LETTERS)
        != page_digest(named("Letters", (), ()))
    )


def test_the_chunks_with_a_name_are_found(store: GraphStore) -> None:
    assert list(store.named_in(WANTED)) == []
    store.write([TRAVELS, LETTERS])
    assert sorted(store.named_in(WANTED)) == [
        ("Ada Lovelace", FIRST, ""),
        ("Ada Lovelace", FIRST, "person"),
        (LONDON.uri, FIRST, "place"),
        (LONDON.uri, TRAVELS.chunks[0].uri, "place"),
    ]
    assert [name for name, _, _ in store.named_in(WANTED)] == ["Ada Lovelace"] * 2 + [LONDON.uri] * 2
    assert list(store.named_in(["Sun"])) == []


def test_a_name_is_no_entity_before_it_is_cited(store: GraphStore) -> None:
    store.write([LETTERS])
    assert store.resolve(WANTED) == {}
    assert store.cited([FIRST]) == {FIRST: ["Sun"]}


def test_names_go_with_their_page_and_are_replaced_with_it(store: GraphStore) -> None:
    store.write([TRAVELS])
    before = state_of(store)
    store.write([LETTERS])
    store.delete(["Letters"])
    assert state_of(store) == before
    store.write([named("Travels", (ADA,), content_hash="2")])
    assert [name for name, _, _ in store.named_in(WANTED)] == ["Ada Lovelace"]


def test_a_store_knows_what_recognises_its_names(store: GraphStore) -> None:
    assert store.entities is None
    store.set_entities("rules")
    store.write([LETTERS])
    assert store.entities == "rules"
    store.set_entities(None)
    assert store.entities is None


def test_names_make_the_same_entities_in_every_store(store: GraphStore, tmp_path: Path) -> None:
    """Added, named a second time, and removed."""
    (tmp_path / "one.txt").write_text("In spring Dr Mary Somerville came to see the comet.")
    (tmp_path / "two.txt").write_text("The book is by Mary Somerville and costs 5 euros.")
    load([str(tmp_path / "one.txt")], store, entities="rules")
    assert list(store.adjacency().entities) == ["one"]
    load([str(tmp_path / "two.txt")], store)
    (cited,) = store.cited(["two#chunk-1"]).values()
    assert (cited, store.types()) == (["Mary Somerville"], {"Mary Somerville": "person"})
    delete_linked(store, ["two"], [])
    assert (list(store.adjacency().entities), store.types(), store.links_pending) == (["one"], {}, False)
