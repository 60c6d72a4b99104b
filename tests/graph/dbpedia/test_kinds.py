"""Of an entity's many types one is chosen, the same one every time."""

from __future__ import annotations

import random

from tests.graph.dbpedia.world import ONTOLOGY
from trivium.graph.dbpedia.mapping import Kinds

EINSTEIN, CURIE, BOWIE, ULM = range(4)
GIVEN = [
    (EINSTEIN, "Agent"),
    (EINSTEIN, "Person"),
    (EINSTEIN, "Scientist"),
    (CURIE, "Agent"),
    (CURIE, "Person"),
    (CURIE, "Scientist"),
    (BOWIE, "Agent"),
    (BOWIE, "Person"),
    (ULM, "PopulatedPlace"),
    (ULM, "Town"),
]


def chosen(given: list[tuple[int, str]], above: list[tuple[str, str]] | None = None) -> dict[int, str]:
    kinds = Kinds()
    for row, name in given:
        kinds.add(row, ONTOLOGY + name)
    for kind, parent in above or []:
        kinds.place(ONTOLOGY + kind, ONTOLOGY + parent)
    return dict(kinds.choose())


def test_without_a_hierarchy_the_rarest_type_is_taken_and_ties_go_by_name() -> None:
    """Two scientists among three persons; Bowie's agent and person are equally common, as are Ulm's types."""
    assert chosen(GIVEN) == {
        EINSTEIN: "scientist",
        CURIE: "scientist",
        BOWIE: "agent",
        ULM: "populated place",
    }


def test_a_class_above_another_of_the_entity_is_out_however_rare() -> None:
    """Through a class nobody has (Human) as well."""
    above = [("Person", "Human"), ("Human", "Agent"), ("Town", "PopulatedPlace")]
    assert chosen(GIVEN, above)[BOWIE] == "person"
    assert chosen(GIVEN, above)[ULM] == "town"


def test_a_circle_of_classes_does_no_harm() -> None:
    above = [("Agent", "Person"), ("Person", "Agent"), ("Town", "Town")]
    assert chosen(GIVEN, above)[BOWIE] == "agent"
    assert chosen(GIVEN, above)[ULM] == "populated place"


def test_a_class_in_a_circle_is_not_above_itself() -> None:
    """Towns and villages are each above the other, and Ulm is only a town: it stays one."""
    given = [(ULM, "Town"), (ULM, "Place"), (BOWIE, "Place")]
    assert chosen(given, [("Town", "Village"), ("Village", "Town")])[ULM] == "town"


def test_the_order_of_statements_does_not_matter() -> None:
    shuffled = list(GIVEN)
    for seed in range(10):
        random.Random(seed).shuffle(shuffled)
        assert chosen(shuffled) == chosen(GIVEN)


def test_classes_outside_the_allow_list_leave_an_entity_without_a_type() -> None:
    kinds = Kinds()
    kinds.add(0, "http://dbpedia.org/class/yago/Physicist110428004")
    kinds.add(0, "http://www.w3.org/2002/07/owl#Thing")
    assert not kinds.choose()
