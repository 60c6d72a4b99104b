"""Typed relationships: beside a ``semantic_rel`` that a page states one whose type is the relation's name, such as
``DISCOVERED_BY``. They are there on request, for people and programs that write Cypher; nothing of Trivium reads them.

The store's own node says how they are written, and each relation type what it is called, so that every later write
keeps them, whoever makes it.
"""

from __future__ import annotations

import re
from functools import partial

from neo4j import AsyncManagedTransaction

from trivium.graph.neo4j.connection import Connection, rows
from trivium.graph.neo4j.cypher import reading
from trivium.graph.neo4j.cypher import writing as cypher
from trivium.graph.neo4j.write_steps import lock
from trivium.graph.node_properties import ALIAS_OF
from trivium.graph.schema import RelationshipType

_A_WRITE = 5_000
_LONGEST = 100
_NO_WORD = re.compile(r"\W+")
_TAKEN = {ALIAS_OF, *RelationshipType}


def relationship_type(relation: str, style: str) -> str:
    """Return the name of the relationships of a relation type, in ``lower`` or ``upper`` case: letters, digits and
    underscores, a letter first, 100 characters at most, and none of the graph's own names.

    >>> relationship_type("discovered by", "upper"), relationship_type("cites", "lower")
    ('DISCOVERED_BY', 'rel_cites')
    >>> relationship_type("2nd moon [of]->(x)", "lower"), relationship_type("?", "upper")
    ('rel_2nd_moon_of_x', 'REL')
    """
    name = _NO_WORD.sub("_", relation.lower()).strip("_")
    if not name[:1].isalpha() or name in _TAKEN:
        name = f"rel_{name}".rstrip("_")
    return (name.upper() if style == "upper" else name)[:_LONGEST]


def choose_style(connection: Connection) -> None:
    """Note how the store's address wants typed relationships, if it says so; :func:`type_relations` makes them so."""
    wanted = connection.address.relations
    if not wanted or wanted == (connection.read(reading.READ_STYLE)[0][0] or "none"):
        return

    async def write(transaction: AsyncManagedTransaction) -> None:
        await lock(transaction)
        await rows(transaction, cypher.NOTE, {"values": {"relations": None if wanted == "none" else wanted}})

    connection.write(write)


def type_relations(connection: Connection) -> None:
    """Make the typed relationships as noted, in several transactions. What is interrupted goes on with the next call."""
    style = connection.read(reading.READ_STYLE)[0][0]
    for kind, there in connection.read(reading.NAMED_TYPES):
        wanted = relationship_type(kind, style) if style else None
        if wanted == there:
            continue
        while not connection.write(partial(_type_some, kind=kind, wanted=wanted)):
            pass


async def _type_some(transaction: AsyncManagedTransaction, kind: str, wanted: str | None) -> bool:
    """Change some relations of a type, and return whether all are as wanted."""
    await lock(transaction)
    asked = {"type": kind, "typed": wanted or "", "limit": _A_WRITE}
    for step in (cypher.DROP_OTHER_TYPED, *([cypher.MAKE_TYPED] if wanted else [])):
        if (await rows(transaction, step, asked))[0][0]:
            return False
    await rows(transaction, cypher.NAME_TYPE, {"type": kind, "typed": wanted})
    return True
