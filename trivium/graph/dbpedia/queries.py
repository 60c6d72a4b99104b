"""The questions put to an endpoint. Every IRI in them has been checked and is written by pyoxigraph; nothing else
of what titles or answers hold enters a query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyoxigraph import Literal, NamedNode

from trivium.graph.dbpedia.vocabulary import PRIMARY_TOPIC, SUBCLASS, TYPE, Vocabulary


def valid_iri(iri: str) -> bool:
    """Whether this is an absolute IRI (RFC 3987), which holds no quote, brace, angle or space."""
    try:
        NamedNode(iri)
    except (ValueError, UnicodeEncodeError):
        return False
    return True


def links_query(pages: Iterable[str], resources: Iterable[str], limit: int) -> str:
    """(s, o): resources whose primary topic is one of the pages, and the pages of the resources."""
    topic = NamedNode(PRIMARY_TOPIC)
    return (
        "SELECT DISTINCT ?s ?o WHERE {"
        f" {{ VALUES ?o {_values(pages)} ?s {topic} ?o }} UNION"
        f" {{ VALUES ?s {_values(resources)} ?s {topic} ?o }} }} LIMIT {limit}"
    )


def facts_query(resources: Iterable[str], vocabulary: Vocabulary, limit: int) -> str:
    """(s, p, o): relations and types of the resources within the allowed namespaces."""
    kind = NamedNode(TYPE)
    return (
        f"SELECT DISTINCT ?s ?p ?o WHERE {{ VALUES ?s {_values(resources)} ?s ?p ?o ."
        f" FILTER(isIRI(?o) && ((?p = {kind} && ({_within('?o', vocabulary.types)}))"
        f" || (({_within('?p', vocabulary.relations)}) && !CONTAINS(STR(?p), {Literal('/wikiPage')})))) }}"
        f" LIMIT {limit}"
    )


def classes_query(namespace: str, limit: int) -> str:
    """(s, o): which class of a namespace is directly below which."""
    return (
        f"SELECT DISTINCT ?s ?o WHERE {{ ?s {NamedNode(SUBCLASS)} ?o ."
        f" FILTER({_within('?s', [namespace])}) }} LIMIT {limit}"
    )


def _values(iris: Iterable[str]) -> str:
    return "{ " + " ".join(str(NamedNode(iri)) for iri in iris) + " }"


def _within(variable: str, namespaces: Sequence[str]) -> str:
    tests = [f"STRSTARTS(STR({variable}), {Literal(namespace)})" for namespace in namespaces]
    return " || ".join(tests) or "false"
