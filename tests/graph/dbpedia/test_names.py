"""IRIs, titles and readable names: what stands for what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.graph.dbpedia.mapping import Titles, class_type, readable, relation_type
from trivium.graph.schema import page_uri
from trivium.text.normalise import normalise_title

pyoxigraph = pytest.importorskip("pyoxigraph")

TITLES = Titles()


@pytest.mark.parametrize(
    ("local", "name"),
    [
        ("deathPlace", "death place"),
        ("isPartOf", "is part of"),
        ("country", "country"),
        ("PopulatedPlace", "populated place"),
        ("TVShow", "tv show"),
        ("ISOCode", "iso code"),
        ("area1Total", "area1 total"),
        ("birth_place", "birth place"),
        ("stra%C3%9FeName", "straße name"),
        ("\x07a\u202eb", "a b"),
    ],
)
def test_local_names_read_as_words(local: str, name: str) -> None:
    """Seams are before capitals; abbreviations stay whole; encodings, underscores and controls vanish."""
    assert readable(local) == name


@pytest.mark.parametrize(
    ("predicate", "relation"),
    [
        ("http://dbpedia.org/ontology/deathPlace", "death place"),
        ("http://dbpedia.org/ontology/Person/birthPlace", "birth place"),
        ("http://dbpedia.org/property/deathPlace", "death place"),
        ("http://dbpedia.org/ontology/wikiPageWikiLink", None),
        ("http://dbpedia.org/property/wikiPageUsesTemplate", None),
        ("http://dbpedia.org/ontology/", None),
        ("http://dbpedia.org/ontology/___", None),
        ("http://www.w3.org/2002/07/owl#sameAs", None),
        ("http://dbpedia.org/ontologyx/deathPlace", None),
        ("http://evil.example/http://dbpedia.org/ontology/deathPlace", None),
    ],
)
def test_only_predicates_of_the_allowed_namespaces_are_relations(
    predicate: str, relation: str | None
) -> None:
    assert relation_type(predicate) == relation


def test_types_come_from_the_ontology() -> None:
    """Borrowed classes (a colon in the name) are not taken."""
    assert class_type("http://dbpedia.org/ontology/Wikidata:Q11424") is None
    assert class_type("http://schema.org/MusicGroup") is None


@pytest.mark.parametrize(
    ("iri", "uri"),
    [
        ("http://en.wikipedia.org/wiki/Albrecht_D%C3%BCrer", "Albrecht Dürer"),
        ("https://en.wikipedia.org/wiki/Albrecht_Dürer", "Albrecht Dürer"),
        ("https://en.m.wikipedia.org/wiki/Mars?action=raw#Moons", "Mars"),
        ("http://en.wikipedia.org/wiki/Who%3F", "Who?"),
        ("http://en.wikipedia.org/wiki/C%23", "C%23"),
        ("http://en.wikipedia.org/wiki/100%2525", "100%25"),
        ("http://en.wikipedia.org/wiki/AC/DC", "AC/DC"),
        ("http://fr.wikipedia.org/wiki/Chat", None),
        ("http://en.wikipedia.org.evil.example/wiki/Mars", None),
    ],
)
def test_a_wikipedia_address_stands_for_its_title(iri: str, uri: str | None) -> None:
    """Decoded once, without query and fragment, of this language only."""
    assert TITLES.of_page(iri) == uri


def test_each_language_has_its_own_hosts() -> None:
    german = Titles("de")
    assert german.of_page("http://de.wikipedia.org/wiki/Erde") == "Erde"
    assert german.of_resource("http://de.dbpedia.org/resource/Erde") == "Erde"
    assert german.of_resource("http://dbpedia.org/resource/Erde") is None


@given(st.text(min_size=1, max_size=30).map(normalise_title).filter(bool))
def test_the_iris_of_a_title_stand_for_it_and_one_is_valid(title: str) -> None:
    """Whatever a title holds, there and back gives its uri, and a valid IRI exists for both page and resource."""
    uri = page_uri(title)
    if "%23" in title:  # a '#' that was escaped before; the uri rule cannot tell
        return
    for iris, back in ((TITLES.pages(uri), TITLES.of_page), (TITLES.resources(uri), TITLES.of_resource)):
        assert {back(iri) for iri in iris} == {uri}
        pyoxigraph.NamedNode(iris[-1])
