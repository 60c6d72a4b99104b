"""What is known of pages beyond their text: relations added to them, types of entities, and copying it all."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.contract.conftest import MakeStore
from tests.contract.graphs import embed_pending, graph, unit
from tests.contract.state import state_of
from trivium.graph.page_graph import PageGraph, RelationEdge
from trivium.graph.protocols import GraphStore
from trivium.graph.records import WriteReport
from trivium.graph.schema import Label

MARS = graph(
    "Mars",
    [("red planet", ["Sun", "Ares", "Mars"]), ("it rusts", [])],
    {"Moons": [("two moons", ["Phobos", "Fear"])], "Moons#Phobos": [], "Rovers": [("some", ["C%23"])]},
    aliases=["Red Planet", "Ares"],
    relations=[("satellite", "Fear"), ("orbits", "Sol"), ("orbits", "Ares")],
    revision=5,
)
PHOBOS = graph("Phobos", [("a moon", ["Mars"])], aliases=["Fear", "Ares"], source="elsewhere")
DISCOVERED = RelationEdge("Phobos", "discovered by", "Asaph Hall")


@pytest.fixture
def filled(store: GraphStore) -> GraphStore:
    """Both claim the alias Ares, which Mars holds."""
    store.write([PHOBOS, MARS])
    return store


def _relations(store: GraphStore) -> list[RelationEdge]:
    return store.relations(list(store.adjacency().entities))


# -- pages read back ---------------------------------------------------------------------------------------------


def test_pages_come_back_as_they_were_written(filled: GraphStore) -> None:
    """To the last field; titles unresolved, aliases and relations sorted, a claim that does not hold included."""
    edges = [("orbits", "Ares"), ("orbits", "Sol"), ("satellite", "Fear")]
    mars = dataclasses.replace(
        MARS,
        aliases=("Ares", "Red Planet"),
        relations=tuple(RelationEdge("Mars", kind, target) for kind, target in edges),
    )
    assert list(filled.page_graphs()) == [mars, dataclasses.replace(PHOBOS, aliases=("Ares", "Fear"))]


def test_named_pages_come_in_the_order_asked(filled: GraphStore) -> None:
    """Unknown ones, bare entities and aliases are no pages."""
    found = filled.page_graphs(["Phobos", "Nix", "Sun", "Red Planet", "Mars"])
    assert [page.uri for page in found] == ["Phobos", "Mars"]
    assert list(filled.page_graphs([])) == []


def test_what_pages_gathered_since_comes_with_them(filled: GraphStore) -> None:
    """Aliases of every copy and added relations, under the hash of the copy that is stored."""
    filled.add_aliases({"Phobos": ["Mars I"]})
    filled.add_relations({"Phobos": [DISCOVERED, RelationEdge("A", "b", "C")]})
    filled.write([dataclasses.replace(PHOBOS, aliases=("Dread",))])
    assert list(filled.page_graphs(["Phobos"])) == [
        dataclasses.replace(
            PHOBOS,
            aliases=("Ares", "Dread", "Fear", "Mars I"),
            relations=(RelationEdge("A", "b", "C"), DISCOVERED),
        )
    ]


@pytest.mark.two_stores
def test_a_copy_answers_like_the_original(make_store: MakeStore) -> None:
    """Pages with all they gathered, then types; after either is embedded."""
    store, other = make_store(), make_store()
    store.write([PHOBOS, MARS, graph("Gone", [("x", ["Sun"])])])
    store.add_relations({"Phobos": [DISCOVERED], "Mars": [RelationEdge("Fear", "orbits", "Ares")]})
    store.set_types({"Ares": "planet", "Sun": "star", "Asaph Hall": "astronomer"})
    store.delete(["Gone"])
    other.write(list(store.page_graphs()))
    assert other.set_types(store.types()) == 3
    embed_pending(store)
    embed_pending(other)
    assert state_of(other) == state_of(store)
    assert other.write([PHOBOS, MARS]) == WriteReport(unchanged=2)


# -- added relations ---------------------------------------------------------------------------------------------


def test_added_relations_are_counted_once_and_found_from_both_ends(filled: GraphStore) -> None:
    """Those the page has already are not new, nor is a second mention; unknown pages are passed over."""
    own = RelationEdge("Mars", "satellite", "Fear")
    near = RelationEdge("Mars", "near", "Phobos")
    before = filled.info().relationships["semantic_rel"]
    assert filled.add_relations({"Mars": [near, own, near], "Nix": [DISCOVERED], "Phobos": []}) == 1
    assert filled.add_relations({"Mars": [near]}) == 0
    assert filled.add_relations({}) == 0
    assert near in filled.relations(["Phobos"])
    assert near in filled.relations(["Mars"])
    assert filled.info().relationships["semantic_rel"] == before + 2
    assert filled.resolve(["Asaph Hall"]) == {}
    assert "near" in filled.pending_texts()


def test_an_added_relation_brings_its_entities_and_takes_them_along(filled: GraphStore) -> None:
    """Neither end need be the page that states the relation."""
    before = state_of(filled)
    filled.write([graph("List")])
    assert "Hamlet" not in filled.adjacency().entities
    assert filled.add_relations({"List": [RelationEdge("Hamlet", "author", "Shakespeare")]}) == 1
    assert {"Hamlet", "Shakespeare"} <= set(filled.adjacency().entities)
    assert filled.lookup_names(["hamlet"]) == {"hamlet": "Hamlet"}
    assert {"Hamlet", "Shakespeare", "author"} <= set(filled.pending_texts())
    filled.delete(["List"])
    assert state_of(filled) == before


def test_added_relations_stay_while_their_page_is_the_same(filled: GraphStore) -> None:
    """An unchanged copy and a skipped one leave them; a changed one takes them along, as removal does."""
    edge = RelationEdge("Mars", "visited by", "Viking 1")
    filled.add_relations({"Mars": [edge]})
    filled.write([MARS, graph("Mars", revision=4)])
    assert edge in _relations(filled)
    filled.write([graph("Mars", [("changed", [])], revision=6)])
    assert _relations(filled) == []
    assert filled.resolve(["Viking 1"]) == {}
    assert filled.add_relations({"Mars": [edge]}) == 1
    filled.delete(["Mars"])
    filled.write([MARS])
    assert edge not in _relations(filled)


def test_a_relation_two_pages_bear_witness_to_outlives_one_of_them(filled: GraphStore) -> None:
    """It is one relation of the graph, and new to each page."""
    assert filled.add_relations({"Phobos": [DISCOVERED], "Mars": [DISCOVERED]}) == 2
    assert filled.relations(["Asaph Hall"]) == [DISCOVERED]
    filled.delete(["Phobos"])
    assert filled.relations(["Asaph Hall"]) == [DISCOVERED]
    filled.delete(["Mars"])
    assert filled.relations(["Asaph Hall"]) == []


def test_the_ends_of_added_relations_follow_redirects(filled: GraphStore) -> None:
    """Those there are, and those that come and go later."""
    filled.add_relations({"Mars": [RelationEdge("Red Planet", "god of", "War")]})
    assert filled.relations(["War"]) == [RelationEdge("Mars", "god of", "War")]
    filled.write([graph("Conflict", aliases=["War"])])
    assert filled.relations(["Conflict"]) == [RelationEdge("Mars", "god of", "Conflict")]
    filled.delete(["Conflict"])
    assert filled.relations(["War"]) == [RelationEdge("Mars", "god of", "War")]


def test_a_relation_keeps_where_it_is_said(filled: GraphStore) -> None:
    """As its page says it first; the earliest chunk by uri where several pages say it, whatever order they come in."""
    edge = RelationEdge("Phobos", "found by", "Hall")
    here, there = (edge._replace(chunk=f"{page}#chunk-1", start=2, end=6) for page in ("Mars", "Phobos"))
    filled.add_relations({"Phobos": [there, there._replace(start=3)]})
    assert filled.relations(["Hall"]) == [there]
    assert filled.add_relations({"Mars": [edge], "Phobos": [edge]}) == 1
    assert filled.relations(["Hall"]) == [there]
    mars = dataclasses.replace(MARS, content_hash="said", relations=(*MARS.relations, here, edge))
    filled.write([mars])
    assert filled.relations(["Hall"]) == [here]
    assert here in next(filled.page_graphs(["Mars"])).relations
    embed_pending(filled)
    filled.refresh()  # gives relations the vectors of their types
    assert not np.isnan(filled.relation_embeddings([edge])).any()
    filled.write([MARS])
    assert filled.relations(["Hall"]) == [there]
    filled.delete(["Phobos"])
    assert filled.relations(["Hall"]) == []


# -- types -------------------------------------------------------------------------------------------------------


def test_types_are_of_entities_by_uri(filled: GraphStore) -> None:
    """By title or alias; unknown ones are passed over, an empty type takes one back."""
    assert filled.types() == {}
    assert filled.set_types({"Sun": "star", "Red Planet": "planet", "Nix": "moon", "Sol": ""}) == 2
    assert list(filled.types().items()) == [("Mars", "planet"), ("Sun", "star")]
    assert filled.types(["Sun", "Phobos", "Vulcan", "Sun"]) == {"Sun": "star"} and filled.types([]) == {}
    assert filled.set_types({"Sun": "star", "Mars": "god", "Phobos": "moon"}) == 2
    assert filled.set_types({"Sun": "", "Nix": ""}) == 1
    assert filled.types() == {"Mars": "god", "Phobos": "moon"}
    assert filled.set_types({}) == 0


def test_of_several_uris_of_one_entity_the_last_holds(filled: GraphStore) -> None:
    """One entity changed once, or not at all."""
    assert filled.set_types({"Red Planet": "god", "Mars": "planet"}) == 1
    assert filled.types() == {"Mars": "planet"}
    assert filled.set_types({"Mars": "god", "Ares": "planet"}) == 0


def test_a_type_is_part_of_the_text_that_is_embedded(filled: GraphStore) -> None:
    """The entity's old vector goes, also as a page; everything else keeps its own."""
    embed_pending(filled)
    filled.set_types({"Mars": "planet", "Sun": "star"})
    assert list(filled.pending_texts()) == ["Mars (planet)", "Sun (star)"]
    assert filled.info().to_embed == 2
    for label, uri in ((Label.PAGE, "Mars"), (Label.ENTITY, "Mars"), (Label.ENTITY, "Sun")):
        assert np.isnan(filled.vectors(label, [uri])).all()
    similar = filled.similarities(unit("q"), ["Mars#chunk-1"])
    assert np.isnan(similar.page).all()
    embed_pending(filled)
    typed = unit("Mars (planet)").tolist()
    assert filled.vectors(Label.PAGE, ["Mars"]).tolist() == [typed]
    assert filled.vectors(Label.ENTITY, ["Mars"]).tolist() == [typed]
    assert filled.nearest([Label.ENTITY], unit("Sun (star)"), 1)[0].uri == "Sun"
    filled.set_types({"Sun": ""})
    assert list(filled.pending_texts()) == ["Sun"]


def test_a_type_the_name_ends_with_changes_no_text(store: GraphStore) -> None:
    """And an entity shares the vector of another that reads the same."""
    store.write([graph("Mercury (planet)", [("x", ["Mercury"])])])
    embed_pending(store)
    assert store.set_types({"Mercury (planet)": "planet"}) == 1
    assert list(store.pending_texts()) == []
    assert store.set_types({"Mercury": "planet"}) == 1
    assert list(store.pending_texts()) == []
    same = store.vectors(Label.ENTITY, ["Mercury", "Mercury (planet)"])
    assert same.tolist() == [unit("Mercury (planet)").tolist()] * 2
    store.set_types({"Mercury": ""})
    assert list(store.pending_texts()) == ["Mercury"]


def test_a_type_goes_with_its_entity(filled: GraphStore) -> None:
    """Not with its page while others cite it; when the name comes back it has none."""
    filled.set_types({"Mars": "planet", "Phobos": "moon", "C%23": "language"})
    filled.delete(["Phobos"])
    assert filled.types() == {"C%23": "language", "Mars": "planet", "Phobos": "moon"}
    filled.write([graph("Mars", [("changed", [])], revision=6)])
    assert filled.types() == {"Mars": "planet"}
    filled.write([MARS, PHOBOS, graph("Mars", [("cites", ["C%23"])], revision=7)])
    assert filled.types() == {"Mars": "planet"}
    assert "C#" in filled.pending_texts()


def test_a_title_that_becomes_an_alias_is_no_entity_and_has_no_type(filled: GraphStore) -> None:
    """Nor has it one when it stands for itself again."""
    filled.set_types({"Sol": "star"})
    filled.write([graph("Star", aliases=["Sol"])])
    assert filled.types() == {}
    filled.delete(["Star"])
    assert filled.types() == {}
    assert "Sol" in filled.pending_texts()
    assert "Sol (star)" not in filled.pending_texts()


def test_types_and_relation_names_are_data(store: GraphStore) -> None:
    """Whatever they hold comes back as it was."""
    hostile = [
        "'; DROP TABLE page; --",
        '"}) DETACH DELETE n //',
        "a`b",
        "\\u0027",
        "é\u0301 ☃ \x01",
        "$x {}",
    ]
    pages: list[PageGraph] = [graph(name) for name in hostile]
    store.write(pages)
    edges = {name: [RelationEdge(name, name, f"to {name}")] for name in hostile}
    assert store.add_relations(edges) == len(hostile)
    assert store.set_types({name: name for name in hostile}) == len(hostile)
    assert store.types() == {name: name for name in sorted(hostile)}
    assert [page.relations for page in store.page_graphs(hostile)] == [tuple(edges[n]) for n in hostile]
    assert {f"{name} ({name})" for name in hostile} <= set(store.pending_texts())
