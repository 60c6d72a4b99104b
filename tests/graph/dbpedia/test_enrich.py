"""What an enriched store has learned: relations inside documents, types, and nothing else."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.memory_store import MemoryStore
from tests.graph.dbpedia.world import (
    ONTOLOGY,
    SUBCLASS,
    TOPIC,
    TYPE,
    Given,
    fact,
    ntriples,
    resource,
    store_of,
    wiki,
)
from trivium.errors import InputError
from trivium.graph.dbpedia import EnrichReport, enrich
from trivium.graph.dbpedia.source import Reporter, Statement
from trivium.graph.page_graph import RelationEdge
from trivium.graph.protocols import GraphStore
from trivium.graph.sqlite import EmbeddedStore
from trivium.parser.sources.source_items import Problem

PAGES = {
    "Albert Einstein": ["Princeton, New Jersey", "Ulm", "Nobel Prize"],
    "Marie Curie": ["Nobel Prize", "Warsaw"],
    "Ulm": [],
}


def witnesses(store: MemoryStore) -> dict[str, tuple[RelationEdge, ...]]:
    """Return, for each page, the relations that it states."""
    return {page.uri: page.relations for page in store.page_graphs() if page.relations}


def test_a_relation_stays_where_one_document_mentions_both_ends() -> None:
    """The page counts as mentioned, chunks of one page count together, and every page with both is a witness."""
    store = store_of({**PAGES, "Physics": ["Ulm", "Albert Einstein"]})
    born = RelationEdge("Albert Einstein", "birth place", "Ulm")
    near = RelationEdge("Princeton, New Jersey", "twin town", "Ulm")
    report = enrich(
        store,
        Given(
            fact("Albert_Einstein", "birthPlace", "Ulm"),
            fact("Princeton,_New_Jersey", "twinTown", "Ulm"),
            fact("Marie_Curie", "birthPlace", "Ulm"),  # no document mentions both
            fact("Warsaw", "twinTown", "Ulm"),
            fact("Niels_Bohr", "birthPlace", "Ulm"),  # not in the store
            fact("Ulm", "isPartOf", "Ulm"),  # leads to itself
            fact("Albert_Einstein", "wikiPageWikiLink", "Ulm"),
            (resource("Albert_Einstein"), "http://www.w3.org/2002/07/owl#sameAs", resource("Ulm")),
        ),
    )
    assert witnesses(store) == {"Albert Einstein": (born, near), "Physics": (born,)}
    assert (report.read, report.mapped, report.relations, report.added) == (8, 5, 2, 3)
    assert report.problems == []


def test_the_same_again_changes_nothing() -> None:
    """Two predicates that read alike are one relation, whatever namespace they come from."""
    store = store_of(PAGES)
    source = Given(
        fact("Albert_Einstein", "birthPlace", "Ulm"),
        (resource("Albert_Einstein"), "http://dbpedia.org/property/birthPlace", resource("Ulm")),
        (resource("Ulm"), TYPE, ONTOLOGY + "Town"),
    )
    first, second = enrich(store, source), enrich(store, source)
    assert (first.relations, first.added, first.types_set) == (1, 1, 1)
    assert (second.relations, second.added, second.types_set) == (1, 0, 0)


def test_a_resource_is_the_entity_of_its_wikipedia_page_and_redirects_resolve() -> None:
    """The resource's own name counts only where no statement says what its page is."""
    store = store_of({"Mars": ["Ares", "Phobos"], "Phobos": ["Mars"]}, aliases={"Mars": ["Red Planet"]})
    source = Given(
        # Named like one entity, but it is another's page by a redirect, percent-encoded.
        (resource("Phobos_I"), TOPIC, wiki("Phobos")),
        (resource("Mars_(planet)"), TOPIC, "https://en.wikipedia.org/wiki/Red%20Planet"),
        fact("Phobos_I", "orbits", "Mars_(planet)"),
        # Named like an entity, but about a page the store does not have.
        (resource("Ares"), TOPIC, wiki("Ares_(god)")),
        fact("Ares", "rules", "Mars"),
        # Named by a redirect, nothing said about its page.
        fact("Red_Planet", "satellite", "Phobos"),
    )
    enrich(store, source)
    assert store.relations(["Mars"]) == [
        RelationEdge("Mars", "satellite", "Phobos"),
        RelationEdge("Phobos", "orbits", "Mars"),
    ]


def test_encoded_and_plain_spellings_of_a_resource_are_one() -> None:
    store = store_of({"Albrecht Dürer": ["Nuremberg"]})
    source = Given(
        (resource("D%C3%BCrer"), TOPIC, wiki("Albrecht_D%C3%BCrer")),
        fact("Dürer", "birthPlace", "Nuremberg"),
    )
    assert enrich(store, source).relations == 1


def test_types_enter_the_text_of_entities() -> None:
    """The most specific one, in lower case; entities the store does not have stay out."""
    store = store_of(PAGES)
    source = Given(
        (resource("Ulm"), TYPE, ONTOLOGY + "Town"),
        (resource("Ulm"), TYPE, ONTOLOGY + "PopulatedPlace"),
        (ONTOLOGY + "Town", SUBCLASS, ONTOLOGY + "PopulatedPlace"),
        (resource("Warsaw"), TYPE, ONTOLOGY + "PopulatedPlace"),
        (resource("Ulm"), TYPE, "http://dbpedia.org/class/yago/Town108665504"),
        (resource("Niels_Bohr"), TYPE, ONTOLOGY + "Scientist"),
    )
    report = enrich(store, source)
    assert store.types() == {"Ulm": "town", "Warsaw": "populated place"}
    assert report.types_set == 2
    assert {"Ulm (town)", "Warsaw (populated place)"} <= set(store.pending_texts())


def mixed() -> list[Statement]:
    """Statements whose meaning hangs on one another."""
    return [
        (resource("A1"), TOPIC, wiki("Albert_Einstein")),
        (resource("A1"), TOPIC, wiki("Ulm")),
        (resource("A2"), TOPIC, wiki("Marie_Curie")),
        (resource("Ulm"), TOPIC, wiki("Elsewhere")),
        fact("A1", "knownFor", "Nobel_Prize"),
        fact("A2", "award", "Nobel_Prize"),
        fact("A2", "knownFor", "Nobel_Prize"),
        fact("A2", "birthPlace", "Warsaw"),
        fact("Albert_Einstein", "birthPlace", "Ulm"),
        (resource("A1"), TYPE, ONTOLOGY + "Agent"),
        (resource("A1"), TYPE, ONTOLOGY + "Person"),
        (resource("A2"), TYPE, ONTOLOGY + "Person"),
        (resource("A2"), TYPE, ONTOLOGY + "Agent"),
        (ONTOLOGY + "Person", SUBCLASS, ONTOLOGY + "Agent"),
    ]


def outcome(*sources: Given) -> tuple[object, ...]:
    store = store_of(PAGES)
    return enrich(store, sources), witnesses(store), store.types()


@settings(max_examples=50, deadline=None)
@given(st.permutations(mixed()), st.integers(0, 14))
def test_neither_the_order_of_statements_nor_of_sources_matters(shuffled: list[Statement], cut: int) -> None:
    """One source or two, in any order: same report, same relations page by page, same types."""
    expected = outcome(Given(*mixed()))
    assert expected[1] and expected[2]
    assert outcome(Given(*shuffled[:cut]), Given(*shuffled[cut:])) == expected


NAMES = ["A", "B", "C", "D", "E", "F"]


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(st.sampled_from(NAMES[:4]), st.lists(st.sampled_from(NAMES), max_size=4), min_size=1),
    st.lists(st.tuples(st.sampled_from([*NAMES, "Z"]), st.sampled_from([*NAMES, "Z"])), max_size=30),
)
def test_exactly_the_relations_inside_documents_are_recorded_with_every_such_document(
    cites: dict[str, list[str]], pairs: list[tuple[str, str]]
) -> None:
    """Checked against the pages as they were given, without the store's own graph."""
    store = store_of(cites)
    enrich(store, Given(*(fact(one, "near", other) for one, other in pairs)))
    mentioned = {title: {title, *targets} for title, targets in cites.items()}
    expected = {
        title: {RelationEdge(a, "near", b) for a, b in pairs if a != b and {a, b} <= names}
        for title, names in mentioned.items()
    }
    assert {title: set(edges) for title, edges in witnesses(store).items()} == {
        title: edges for title, edges in expected.items() if edges
    }


def test_hostile_names_are_stored_as_names_or_not_at_all() -> None:
    """What looks like Cypher, SQL or SPARQL in titles and predicates is text."""
    evil = '"}) DETACH DELETE n; DROP TABLE x; -- > . {'
    store = store_of({"Mars": [evil]})
    hostile = "http://dbpedia.org/resource/%22%7D%29_DETACH_DELETE_n%3B_DROP_TABLE_x%3B_--_%3E_._%7B"
    source = Given(
        (resource("Mars"), ONTOLOGY + "a'); DROP TABLE x; --", hostile),
        (resource("Mars"), ONTOLOGY + "` DELETE n //", hostile),
        (hostile, TYPE, ONTOLOGY + "x' OR 1=1"),
        (resource("Mars"), TYPE, ONTOLOGY + "\x00\x1b[31m\n"),
    )
    enrich(store, source)
    assert [edge.type for edge in store.relations(["Mars"])] == ["a'); drop table x; --"]
    assert store.types() == {"Mars": "[31m", evil: "x' or 1=1"}


def test_an_empty_store_learns_nothing() -> None:
    assert enrich(MemoryStore(), Given(*mixed())) == EnrichReport(read=10)


def test_problems_are_listed_up_to_a_bound_and_counted_beyond() -> None:
    class Grumbling(Given):
        def facts(self, titles: Sequence[str], reporter: Reporter) -> Iterator[Statement]:
            for number in range(1_005):
                reporter.problem(Problem(f"line {number}", "bad"))
            yield from self.statements

    report = enrich(store_of(PAGES), [Grumbling(), Given(fact("Albert_Einstein", "birthPlace", "Ulm"))])
    assert (len(report.problems), report.unlisted, report.relations) == (1_000, 5, 1)


def test_nothing_is_written_when_a_source_fails() -> None:
    class Broken(Given):
        def facts(self, titles: Sequence[str], reporter: Reporter) -> Iterator[Statement]:
            yield from self.statements
            raise InputError("no more")

    store = store_of(PAGES)
    with pytest.raises(InputError, match="no more"):
        enrich(store, [Given(*mixed()), Broken(*mixed())])
    assert (witnesses(store), store.types()) == ({}, {})


def embedded(path: Path, pages: Mapping[str, Sequence[str]]) -> GraphStore:
    store = EmbeddedStore.create(path)
    store.write(list(store_of(pages).page_graphs()))
    return store


@pytest.mark.parametrize("make", [lambda path, pages: store_of(pages), embedded], ids=["memory", "embedded"])
def test_files_are_named_by_path_and_progress_is_told_by_stage(
    tmp_path: Path, make: Callable[[Path, Mapping[str, Sequence[str]]], GraphStore]
) -> None:
    """The stages come in order, each up to its total, over either kind of store."""
    pytest.importorskip("pyoxigraph")
    statements = mixed()
    random.Random(1).shuffle(statements)
    (tmp_path / "a.nt").write_text(ntriples(statements))
    stages: dict[str, tuple[int, int]] = {}
    with make(tmp_path / "store", PAGES) as store:
        report = enrich(
            store,
            str(tmp_path / "a.nt"),
            progress=lambda stage, done, total: stages.update({stage: (done, total)}),
        )
        assert store.relations(["Marie Curie"]) == [
            RelationEdge("Marie Curie", "award", "Nobel Prize"),
            RelationEdge("Marie Curie", "birth place", "Warsaw"),
            RelationEdge("Marie Curie", "known for", "Nobel Prize"),
        ]
        assert store.types() == {"Albert Einstein": "person", "Marie Curie": "person"}
    assert list(stages) == ["links", "facts", "relations", "types"]
    assert all(done == total for done, total in stages.values())
    assert (report.relations, report.added, report.types_set) == (4, 4, 2)
