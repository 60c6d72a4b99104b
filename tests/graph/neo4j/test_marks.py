"""The text of every query: nodes of the store are found by their marks, so that others in the database are left alone."""

from __future__ import annotations

import re
from typing import Any

import pytest

from trivium.graph.neo4j.cypher import (
    checking,
    picture_vectors,
    reading,
    scanning,
    schema,
    searching,
    vectors,
    writing,
)
from trivium.graph.neo4j.cypher.searching import Dialect
from trivium.graph.node_properties import KIND_LABELS
from trivium.graph.schema import Hop, Label

MARKS = {
    *("TriviumPage", "TriviumEntity", "TriviumSubChapter", "TriviumChunk", "TriviumQuestion"),
    *KIND_LABELS.values(),
    *("TriviumChunkData", "TriviumAlias", "TriviumTerm", "TriviumRelationType", "TriviumStore"),
}
PUBLIC = {mark.removeprefix("Trivium") for mark in MARKS - {*KIND_LABELS.values(), "TriviumStore"}}
NOT_OF_NODES = {"CONSTRAINTS", "INDEXES", "CREATE_VECTOR_INDEX"}
"""The schema, whose relationship index is of all relationships of a type."""
_NODE = re.compile(r"(?<![\w.])\((?!NOT |EXISTS |VECTOR )(\w*)((?::[\w|:]+)?)(?=[\s{)])")
"""A node in a pattern: its variable and its labels."""
_FUNCTION_ARGUMENT = re.compile(r"\b\w+\(\w*\)")
_ANYTHING = re.compile(r"NOT EXISTS \{ \(e\)--\(\) \}")
"""An entity is kept as long as there is any relationship to it, also of another program."""


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict | list):
        return [
            text for each in (value.values() if isinstance(value, dict) else value) for text in _texts(each)
        ]
    return []


def _queries() -> dict[str, str]:
    """Every constant and what every builder makes."""
    found = {
        f"{module.__name__.rpartition('.')[-1]}.{name} {place}": text
        for module in (
            checking,
            picture_vectors,
            reading,
            scanning,
            schema,
            searching,
            vectors,
            writing,
        )
        for name, value in vars(module).items()
        if name.isupper() and name.strip("_") not in NOT_OF_NODES
        for place, text in enumerate(_texts(value))
        if re.search(r"\b(MATCH|MERGE|CREATE|EXISTS|COUNT) ", text)
    }
    for label in Label:
        for build in (
            checking.vector_sizes,
            reading.vectors,
            searching.nearest_of_all,
        ):
            found[f"{build.__name__} {label}"] = build(label)
        found[f"nearest_among {label}"] = searching.nearest_among(label)
        for dialect in Dialect:
            found[f"nearest {label} {dialect}"] = searching.nearest((label,), dialect)
    for hop in Hop:
        found[f"expand {hop}"] = reading.expand(hop)
        found[f"reach {hop}"] = searching.reach_from(hop, embeddings=True)
        for dialect in Dialect:
            found[f"expand_nearest {hop} {dialect}"] = searching.expand_nearest((Label.CHUNK,), hop, dialect)
    return found


def unmarked(query: str) -> list[str]:
    """What a query matches or makes without a mark. A variable counts as marked if it has a mark anywhere, comes from an
    index of the store, or is found by an element id that the same transaction has read."""
    text = _ANYTHING.sub("", query)
    text = re.sub(r"CALL \([\w, ]*\)", "CALL", text)
    text = re.sub(r"ON \(n\.\w+\)", "", text)
    patterns = _NODE.findall(_FUNCTION_ARGUMENT.sub("", text))
    known = {name for name, labels in patterns if MARKS & set(re.split("[:|]", labels))}
    known |= set(re.findall(r"elementId\((\w+)\) = ", text)) | set(re.findall(r"YIELD (node), score", text))
    known |= set(re.findall(r"\b(?:near|candidate|start|one)\.\w+ AS (\w+)", text))
    known.discard("")
    wrong = []
    for name, labels in patterns:
        own = set(filter(None, re.split("[:|]", labels)))
        if not own and name not in known:
            wrong.append(f"({name})")
        public = own & PUBLIC
        if own - MARKS - PUBLIC or not {f"Trivium{label}" for label in public} <= own:
            wrong.append(f"({name}{labels})")
    for labels in re.findall(r"(?:SET|REMOVE|,) \w((?::\w+)+)", text):
        own = set(labels[1:].split(":"))
        if not own <= MARKS | PUBLIC:
            wrong.append(labels)
    return wrong


QUERIES = _queries()


@pytest.mark.parametrize("name", QUERIES)
def test_every_node_of_a_query_has_a_mark(name: str) -> None:
    assert unmarked(QUERIES[name]) == []


def test_there_are_as_many_queries_as_expected() -> None:
    assert len(QUERIES) > 120


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (c:Chunk) RETURN c",
        "MATCH (n) DETACH DELETE n",
        "MATCH (c:TriviumChunk)-[:cites]->(e) RETURN e",
        "MATCH ()-[r:cites]->(:TriviumEntity) DELETE r",
        "RETURN COUNT { (:Page) }",
        "CREATE (:Term {term: 'a'})",
        "MATCH (c:TriviumChunk)-[r:cites]-() DELETE r",
        "MATCH (c:TriviumPage|Chunk) RETURN c",
    ],
)
def test_the_check_sees_a_node_without_a_mark(query: str) -> None:
    assert unmarked(query)


def test_every_index_and_constraint_is_of_a_mark() -> None:
    """So that none refuses or holds nodes of others, and none has a name that another program would choose."""
    for statement in _texts([schema.CONSTRAINTS, schema.INDEXES, schema.CREATE_VECTOR_INDEX]):
        assert re.search(r"FOR \(n:Trivium\w+\)|FOR \(\)-\[r:semantic_rel\]-\(\)", statement)
    assert all(name.startswith("trivium_") for name in schema.NAMES)
