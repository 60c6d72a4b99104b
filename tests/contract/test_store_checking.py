"""What every store says of damage, and how it takes what a repair asks of it."""

from __future__ import annotations

from tests.contract.graphs import embed_pending, graph
from trivium.checking.check_store import check_pages
from trivium.graph.check_findings import damaged_pages
from trivium.graph.page_facts import page_digest
from trivium.graph.page_graph import RelationEdge
from trivium.graph.protocols import GraphStore

MARS = graph(
    "Mars",
    [("red planet", ["Sun"]), ("two   moons", ["Phobos", "The Sun"])],
    {"Moons": [("small", ["Phobos"])]},
    aliases=["Red Planet"],
    relations=[("orbits", "Sol")],
    revision=7,
)
SUN = graph("Sun", [("a star", ["Mars", "Red Planet"])], aliases=["Sol", "The Sun"])


def test_a_store_as_it_was_written_has_no_findings(store: GraphStore) -> None:
    """Also after pages were replaced and removed, with relations, types and aliases from elsewhere."""
    assert store.checker().check() == []
    store.write([MARS, SUN])
    store.add_relations({"Mars": [RelationEdge("Mars", "is near", "Earth")]})
    store.add_aliases({"Sun": ["Helios"]})
    store.set_types({"Phobos": "moon", "Sun": "star"})
    embed_pending(store)
    store.refresh()
    assert store.checker().check() == []
    store.write([graph("Mars", [("another text", ["Deimos"])], revision=8)])
    store.delete(["Sun"])
    embed_pending(store)
    store.refresh()
    assert store.checker().check() == []


def test_the_digest_of_a_page_is_that_of_what_was_written(store: GraphStore) -> None:
    """Relations and aliases that come later do not change it; what is read back has it, too; it goes with the page."""
    store.write([MARS, SUN])
    store.add_relations({"Mars": [RelationEdge("Mars", "is near", "Earth")]})
    store.add_aliases({"Mars": ["Ares"]})
    written = {page.uri: page_digest(page) for page in (MARS, SUN)}
    assert store.checker().page_digests() == written
    assert {page.uri: page_digest(page) for page in store.page_graphs()} == written
    other = graph("Mars", [("another text", [])], revision=8)
    store.write([other])
    store.delete(["Sun"])
    assert store.checker().page_digests() == {"Mars": page_digest(other)}


def test_a_relation_that_no_chunk_of_its_page_says_is_damage(store: GraphStore) -> None:
    near = RelationEdge("Mars", "is near", "Earth", MARS.chunks[0].uri, 0, 3)
    store.write([MARS, SUN])
    store.add_relations({"Mars": [near]})
    assert check_pages(store).changed == []
    store.add_relations({"Sun": [near]})
    assert check_pages(store).changed == ["Sun"]


def test_vectors_that_are_dropped_are_pending_again(store: GraphStore) -> None:
    """Of texts of every kind of node, and of sentences; nothing else is."""
    store.write([MARS, SUN])
    embed_pending(store)
    checker = store.checker()
    texts = ["Mars: red planet", "Phobos", "Mars#Moons", "orbits"]
    checker.drop_vectors([*texts, "unknown"])
    assert sorted(store.pending_texts()) == sorted(texts)
    embed_pending(store)
    assert list(store.pending_texts()) == []
    assert list(store.pending_sentences()) == []


def test_a_page_that_is_given_up_is_replaced_by_the_next_load_of_it(store: GraphStore) -> None:
    """Even by the same content, of a lower revision."""
    store.write([MARS, SUN])
    assert store.write([MARS, SUN]).unchanged == 2
    store.checker().repair([damaged_pages("not what was written", ["Mars"])])
    report = store.write([MARS, SUN])
    assert (report.replaced, report.unchanged) == (1, 1)
    assert store.checker().page_digests()["Mars"] == page_digest(MARS)
