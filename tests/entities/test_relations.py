"""A document's own words tell the kinds of its names and relations between them, each with the sentence that does."""

from __future__ import annotations

import re

import pytest

from tests.contract.graphs import graph
from trivium.entities.relations import described
from trivium.graph.page_graph import Name


def told(title: str, *texts: str, names: str) -> tuple[dict[str, str], list[tuple[str, str, str, str]]]:
    """Kinds by name, and relations with what says them, of a page whose names are separated by bars."""
    page = graph(title, [(text, []) for text in texts])
    found = [
        [Name(one[0], "", *one.span()) for one in re.finditer(names, text)]
        for text in (chunk.body for chunk in page.chunks)
    ]
    with_kinds, relations = described(page, found)
    bodies = {chunk.uri: chunk.body for chunk in page.chunks}
    kinds = {name.uri: name.kind for own in with_kinds for name in own if name.kind}
    return kinds, [(*edge.triple, bodies[edge.chunk][edge.start : edge.end]) for edge in relations]


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("Vesk is the capital of Brun.", ("Vesk", "capital of", "Brun")),
        ("Vesk (also Old Vesk) was an 1834 Danish war film directed by Brun.", ("Vesk", "war film directed by", "Brun")),
        ("In those days, Vesk was born in Brun, near Tolm.", ("Vesk", "born in", "Brun")),
        ("They met Vesk, the younger brother of Brun.", ("Vesk", "younger brother of", "Brun")),
        ("Vesk is not a part of Brun.", None),
        ("Vesk is a part of Brun's army.", None),
        ("Vesk is a part of the Brun railway.", None),
        ("When Vesk was the capital of Brun.", None),
        ("They met Vesk, the host in Brun.", None),
        ("According to Vesk, the names of Brun are unknown, too.", None),
        ("They met Vesk, the names of Brun.", None),
        ("Vesk is said by some to come from Brun.", None),
    ],
)  # fmt: skip
def test_definitions_and_appositions_are_relations(text: str, relation: tuple[str, str, str] | None) -> None:
    """The name must begin the sentence that defines it, and the other must end its phrase."""
    _, relations = told("Vesk", f"Before it. {text}", names="Vesk|Brun|Tolm")
    assert relations == ([(*relation, text)] if relation else [])


def test_rows_relate_the_first_cell_to_the_others() -> None:
    """By heads that name a relation, where cells are names alone; notes in parentheses aside."""
    row = "Team: Brun; Manager: Ada Vesk (since May), Ida Tolm; Notes: Kolm; Owner: see Kolm"
    _, relations = told("Brun", f"Team | Manager\n{row}", names="Brun|Ada Vesk|May|Ida Tolm|Kolm")
    assert relations == [("Brun", "manager", "Ada Vesk", row), ("Brun", "manager", "Ida Tolm", row)]


def test_relations_are_of_the_page_or_of_what_it_names_twice() -> None:
    text = "Vesk is the capital of Brun. Kolm is the capital of Tolm."
    assert told("Other", text, names="Vesk|Brun|Kolm|Tolm")[1] == []
    (said,) = told("Other", text, "It rains in Tolm.", names="Vesk|Brun|Kolm|Tolm")[1]
    assert said == ("Kolm", "capital of", "Tolm", "Kolm is the capital of Tolm.")


def test_a_relation_that_is_said_twice_has_its_first_sentence() -> None:
    (said,) = told(
        "Vesk", "Now Vesk rests.", "Vesk was born in Brun.", "Vesk was born in Brun!", names="Vesk|Brun"
    )[1]
    assert said[3] == "Vesk was born in Brun."


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Vesk was an English chemist and writer.", {"Vesk": "person"}),
        ("We saw Vesk, a town.", {"Vesk": "place"}),
        ("Vesk was a great loss.", {}),
        ("In Vesk, the emperor Brun ruled.", {}),
        ("It is in the city of Vesk.", {"Vesk": "place"}),
        ("It is a part of Vesk.", {}),
        ('They read the novel "Vesk" at home.', {"Vesk": "work"}),
        ("They read the novel Vesk at home.", {"Vesk": "work"}),
        ("They met the novel Vesk readers.", {}),
        ("Some companies such as Vesk, Brun and Tolm grew.", dict.fromkeys(("Vesk", "Brun"), "organisation")),
        ("Some companies such as Vesk, Brun and Tolm.", dict.fromkeys(("Vesk", "Brun", "Tolm"), "organisation")),
        ("Some cities, including Vesk and Brun railways, grew.", {"Vesk": "place"}),
        ("Name: Ada Vesk; Title: Director of Sales", {"Ada Vesk": "person"}),
        ("Name: Vesk; Price: 12", {}),
    ],
)  # fmt: skip
def test_nouns_and_posts_tell_kinds(text: str, kinds: dict[str, str]) -> None:
    assert told("Other", text, names="(?:Ada )?Vesk|Brun|Tolm")[0] == kinds
