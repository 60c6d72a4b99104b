"""Changes a store of the version before in place, when it is opened. What is interrupted goes on at the next opening."""

from __future__ import annotations

from neo4j import AsyncManagedTransaction

from trivium.graph.neo4j.connection import Connection, rows
from trivium.graph.neo4j.cypher import migrating as cypher
from trivium.graph.neo4j.write_steps import lock
from trivium.graph.node_properties import STORE_VERSION, title_of

VERSION_BEFORE = 9
_NODES_A_WRITE = 5_000


def migrate(connection: Connection) -> None:
    """Move what only the program reads off the chunks, and give nodes titles. The indexes of this version are there."""

    async def move(transaction: AsyncManagedTransaction) -> bool:
        await lock(transaction)
        return bool((await rows(transaction, cypher.MOVE_DATA, {"limit": _NODES_A_WRITE}))[0][0])

    async def name(transaction: AsyncManagedTransaction) -> bool:
        await lock(transaction)
        found = (await rows(transaction, cypher.UNTITLED, {"limit": _NODES_A_WRITE}))[0][0]
        await rows(transaction, cypher.SET_TITLES, {"rows": [[node, title_of(uri)] for node, uri in found]})
        return bool(found)

    async def finish(transaction: AsyncManagedTransaction) -> None:
        await lock(transaction)
        await rows(transaction, cypher.SET_VERSION, {"version": STORE_VERSION})

    for step in (move, name):
        while connection.write(step):
            pass
    connection.write(finish)
    connection.change_schema(cypher.DROP_OLD_INDEX)
