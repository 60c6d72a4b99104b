"""A few pages and what a data set says of them, for the tests of the enrichment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tests.fakes.memory_store import MemoryStore
from tests.retrievers.world import page
from trivium.graph.build_page_graph import build
from trivium.graph.dbpedia.source import Reporter, Statement

ONTOLOGY = "http://dbpedia.org/ontology/"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
SUBCLASS = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
TOPIC = "http://xmlns.com/foaf/0.1/isPrimaryTopicOf"


def resource(name: str) -> str:
    return f"http://dbpedia.org/resource/{name}"


def wiki(name: str) -> str:
    return f"http://en.wikipedia.org/wiki/{name}"


def fact(subject: str, predicate: str, value: str) -> Statement:
    """A relation of the ontology between two resources."""
    return resource(subject), ONTOLOGY + predicate, resource(value)


def ntriples(statements: Iterable[Statement]) -> str:
    return "".join(f"<{s}> <{p}> <{o}> .\n" for s, p, o in statements)


def store_of(
    cites: Mapping[str, Sequence[str]], aliases: Mapping[str, Sequence[str]] | None = None
) -> MemoryStore:
    """Pages by title with what they cite (two chunks where there is more than one title)."""
    made = MemoryStore()
    made.write(
        [
            build(
                page(
                    title,
                    [("text", targets[:1]), ("more", targets[1:])],
                    aliases=(aliases or {}).get(title, ()),
                )
            )
            for title, targets in cites.items()
        ]
    )
    return made


class Given:
    """A source that holds its statements, as a list."""

    def __init__(self, *statements: Statement) -> None:
        self.statements = list(statements)

    def links(self, titles: Sequence[str], reporter: Reporter) -> Iterator[Statement]:
        return iter([found for found in self.statements if found[1] == TOPIC])

    def facts(self, titles: Sequence[str], reporter: Reporter) -> Iterator[Statement]:
        return iter(self.statements)
