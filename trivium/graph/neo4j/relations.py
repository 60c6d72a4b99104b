"""Relations: what pages state, in titles, and the edges that follow, in entities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from neo4j import AsyncManagedTransaction

from trivium.graph.model import RelationEdge
from trivium.graph.neo4j.batches import each
from trivium.graph.neo4j.change import Change
from trivium.graph.neo4j.cypher import writing as cypher
from trivium.graph.neo4j.nodes import Parameters, statement_row, type_row
from trivium.graph.neo4j.titles import Titles
from trivium.graph.schema import mirror_type

Triple = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Statements:
    """``withdrawn`` and ``stated``: edge (source, type, target) -> the pages that state it no longer, or from now
    on. ``types`` are the relation types that come."""

    withdrawn: Mapping[Triple, list[str]] = field(default_factory=dict)
    stated: Mapping[Triple, list[str]] = field(default_factory=dict)
    types: list[Parameters] = field(default_factory=list)

    @property
    def entities(self) -> dict[str, None]:
        """Both ends of the edges that are stated, in a fixed order."""
        return dict.fromkeys(end for source, _, target in self.stated for end in (source, target))

    @property
    def left(self) -> dict[str, None]:
        """Both ends of the edges that are withdrawn, in a fixed order."""
        return dict.fromkeys(end for source, _, target in self.withdrawn for end in (source, target))


async def read_statements(
    transaction: AsyncManagedTransaction, pages: Iterable[str]
) -> dict[str, list[RelationEdge]]:
    """page -> its relations as stated, of the pages that are there."""
    found = await each(transaction, cypher.STATEMENTS, "uris", list(dict.fromkeys(pages)))
    return {
        page: [RelationEdge(*edge) for edge in zip(sources, types, targets, strict=True)]
        for page, sources, types, targets in found
    }


async def settle_statements(
    transaction: AsyncManagedTransaction, change: Change, titles: Titles
) -> Statements:
    """The edges that follow from what pages state before and after, of every page whose statements change or have a
    title that stands for something else by now."""
    moved = list(dict.fromkeys(old for old, _ in titles.moved.values()))
    about = await each(transaction, cypher.STATING_ABOUT, "uris", moved)
    pages = [*change.emptied, *change.relations, *(page for (page,) in about)]
    before = await read_statements(transaction, sorted(set(pages)))
    after = {page: edges for page, edges in before.items() if page not in change.removed}
    after.update((page, list(graph.relations)) for page, graph in change.loaded.items())
    for page, more in change.relations.items():
        after[page] = [*after[page], *more]
    every = (edge for side in (before, after) for edges in side.values() for edge in edges)
    await titles.learn(transaction, (title for edge in every for title in (edge.source, edge.target)))
    old = {
        ((titles.old(edge.source), edge.type, titles.old(edge.target)), page)
        for page, edges in before.items()
        for edge in edges
    }
    new = {
        ((titles.new(edge.source), edge.type, titles.new(edge.target)), page)
        for page, edges in after.items()
        for edge in edges
    }
    stated = _by_triple(new - old)
    kinds = sorted({kind for _, kind, _ in stated})
    known = {kind for (kind,) in await each(transaction, cypher.KNOWN_TYPES, "types", kinds)}
    return Statements(_by_triple(old - new), stated, [type_row(kind) for kind in kinds if kind not in known])


async def withdraw(transaction: AsyncManagedTransaction, statements: Statements) -> None:
    """Take pages off the edges they state no longer, and edges away that no page states."""
    rows = [
        {"source": source, "type": kind, "target": target, "mirror": mirror_type(kind), "pages": pages}
        for (source, kind, target), pages in statements.withdrawn.items()
    ]
    await each(transaction, cypher.WITHDRAW, "rows", rows)


async def state(
    transaction: AsyncManagedTransaction, change: Change, statements: Statements, entities: Mapping[str, str]
) -> None:
    """Note on edges the pages that state them, making those that are missing. ``entities``: uri -> element id."""
    await each(transaction, cypher.CREATE_TYPES, "rows", statements.types)
    rows = [
        {
            "source": entities[source],
            "type": kind,
            "target": entities[target],
            "mirror": mirror_type(kind),
            "pages": pages,
        }
        for (source, kind, target), pages in statements.stated.items()
    ]
    await each(transaction, cypher.STATE, "rows", rows)
    noted = [statement_row(page, edges) for page, edges in change.relations.items()]
    await each(transaction, cypher.NOTE_STATEMENTS, "rows", noted)


def _by_triple(pairs: Iterable[tuple[Triple, str]]) -> dict[Triple, list[str]]:
    found: dict[Triple, list[str]] = {}
    for triple, page in sorted(pairs):
        found.setdefault(triple, []).append(page)
    return found
