"""A change and its consequences: what titles refer to, which relations exist, and document frequencies.

A page's own title refers to the page itself; an alias claimed by several pages to the one with the lowest uri; any
other title to itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from neo4j import AsyncManagedTransaction

from trivium.graph.neo4j.cypher import writing as cypher
from trivium.graph.neo4j.write_steps import in_batches
from trivium.graph.node_properties import (
    Parameters,
    decode_relations,
    evidence_row,
    names_of,
    statement_row,
    term_key,
    type_row,
)
from trivium.graph.page_graph import PageGraph, RelationEdge
from trivium.graph.schema import mirror_type

_EMBEDDED_A_STATEMENT = 1_000

Triple = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Change:
    """What one call changes. ``loaded`` are pages to store, of which those named in ``replaced`` exist and are
    replaced. ``removed`` are pages to remove, with the aliases they claimed. ``claims`` are new aliases of stored or
    loaded pages, ``relations`` further relations of stored pages.
    """

    loaded: Mapping[str, PageGraph] = field(default_factory=dict)
    replaced: Sequence[str] = ()
    removed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    claims: Mapping[str, Sequence[str]] = field(default_factory=dict)
    relations: Mapping[str, Sequence[RelationEdge]] = field(default_factory=dict)

    @property
    def added(self) -> list[str]:
        """Loaded pages that are not stored yet."""
        replaced = set(self.replaced)
        return [uri for uri in self.loaded if uri not in replaced]

    @property
    def emptied(self) -> list[str]:
        """Pages whose current sections and chunks are deleted."""
        return [*self.replaced, *self.removed]


def new_claims(
    claims: Mapping[str, Sequence[str]], stored: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Map the pages in ``stored`` (page -> claimed aliases) to the aliases in ``claims`` that they have not claimed
    yet.
    """
    added: dict[str, list[str]] = {}
    for page, aliases in claims.items():
        if page in stored:
            old = set(stored[page])
            new = [alias for alias in dict.fromkeys(aliases) if alias not in old]
            if new:
                added[page] = new
    return added


# -- titles ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Titles:
    """What titles refer to before and after a change. ``moved`` are the titles for which this differs, with both
    targets; ``rows`` are the alias rows to write; ``unclaimed`` the aliases that no page claims any more. Other
    titles must be looked up with :meth:`learn` before they are resolved.
    """

    moved: dict[str, tuple[str, str]] = field(default_factory=dict)
    rows: list[Parameters] = field(default_factory=list)
    unclaimed: list[str] = field(default_factory=list)
    _leads: dict[str, str] = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)

    async def learn(self, transaction: AsyncManagedTransaction, titles: Iterable[str]) -> None:
        """Look up what titles refer to."""
        new = [title for title in dict.fromkeys(titles) if title not in self._asked]
        self._asked.update(new)
        self._leads.update(dict(await in_batches(transaction, cypher.LEADS, "titles", new)))

    def old(self, title: str) -> str:
        """Return what a title referred to before the change."""
        moved = self.moved.get(title)
        return self._leads.get(title, title) if moved is None else moved[0]

    def new(self, title: str) -> str:
        """Return what a title refers to after the change."""
        moved = self.moved.get(title)
        return self._leads.get(title, title) if moved is None else moved[1]


async def reconcile_titles(
    transaction: AsyncManagedTransaction,
    *,
    added: Collection[str],
    removed: Mapping[str, Iterable[str]],
    claims: Mapping[str, Iterable[str]],
) -> Titles:
    """Return the changes for the titles of ``added`` pages, of ``removed`` pages with their aliases, and of new
    ``claims`` (page -> aliases).
    """
    claimants: dict[str, list[str]] = {}
    for page, aliases in claims.items():
        for alias in aliases:
            claimants.setdefault(alias, []).append(page)
    gone = [title for page, aliases in removed.items() for title in (page, *aliases)]
    asked = list(dict.fromkeys([*added, *gone, *claimants]))
    titles = Titles()
    for title, is_page, leads_to, claimed_by in await in_batches(
        transaction, cypher.TITLE_CLAIMS, "titles", asked
    ):
        own = (is_page and title not in removed) or title in added
        left = [page for page in claimed_by if page not in removed]
        new = claimants.get(title, [])
        leads = None if own else min([*left, *new], default=None)
        before = title if leads_to is None else leads_to
        after = title if leads is None else leads
        if before != after:
            titles.moved[title] = (before, after)
        if new or (left and leads != leads_to):
            name, short_name = names_of(title)
            titles.rows.append(
                {"uri": title, "name": name, "short_name": short_name, "leads_to": leads, "pages": new}
            )
        elif claimed_by and not left:
            titles.unclaimed.append(title)
    return titles


# -- relations ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Statements:
    """Changed relations: ``withdrawn`` and ``stated`` map an edge (source, type, target) to the pages that no longer
    state it, or now state it. ``said`` are edges of which a page says it elsewhere, or no longer. ``types`` are the
    relation types to create.
    """

    withdrawn: Mapping[Triple, list[str]] = field(default_factory=dict)
    stated: Mapping[Triple, list[str]] = field(default_factory=dict)
    said: Sequence[Triple] = ()
    types: list[Parameters] = field(default_factory=list)

    @property
    def entities(self) -> dict[str, None]:
        """Both ends of the stated edges, in a fixed order."""
        return dict.fromkeys(end for source, _, target in self.stated for end in (source, target))

    @property
    def released(self) -> dict[str, None]:
        """Both ends of the withdrawn edges, in a fixed order."""
        return dict.fromkeys(end for source, _, target in self.withdrawn for end in (source, target))


async def read_statements(
    transaction: AsyncManagedTransaction, pages: Iterable[str]
) -> dict[str, list[RelationEdge]]:
    """Map stored pages to the relations they state."""
    found = await in_batches(transaction, cypher.STATEMENTS, "uris", list(dict.fromkeys(pages)))
    return {page: decode_relations(*properties) for page, *properties in found}


async def reconcile_statements(
    transaction: AsyncManagedTransaction, change: Change, titles: Titles
) -> Statements:
    """Determine added and removed edges by comparing what pages state before and after, for every page whose
    statements change or name a title with a new target.
    """
    moved = list(dict.fromkeys(old for old, _ in titles.moved.values()))
    about = await in_batches(transaction, cypher.STATING_ABOUT, "uris", moved)
    pages = [*change.emptied, *change.relations, *(page for (page,) in about)]
    before = await read_statements(transaction, sorted(set(pages)))
    after = {page: edges for page, edges in before.items() if page not in change.removed}
    after.update((page, list(graph.relations)) for page, graph in change.loaded.items())
    for page, more in change.relations.items():
        after[page] = [*after[page], *more]
    every = (edge for side in (before, after) for edges in side.values() for edge in edges)
    await titles.learn(transaction, (title for edge in every for title in (edge.source, edge.target)))
    places_before, places_after = (
        {
            (((resolve(edge.source), edge.type, resolve(edge.target)), page), edge[3:])
            for page, edges in side.items()
            for edge in edges
        }
        for side, resolve in ((before, titles.old), (after, titles.new))
    )
    old, new = {key for key, _ in places_before}, {key for key, _ in places_after}
    said = {triple for (triple, _), (chunk, *_) in places_before ^ places_after if chunk}
    stated = _by_triple(new - old)
    kinds = sorted({kind for _, kind, _ in stated})
    existing = {kind for (kind,) in await in_batches(transaction, cypher.KNOWN_TYPES, "types", kinds)}
    return Statements(
        _by_triple(old - new),
        stated,
        sorted(said),
        [type_row(kind) for kind in kinds if kind not in existing],
    )


async def withdraw(transaction: AsyncManagedTransaction, statements: Statements) -> None:
    """Remove pages from the edges they no longer state, and delete edges that no page states."""
    rows = [
        {"source": source, "type": kind, "target": target, "mirror": mirror_type(kind), "pages": pages}
        for (source, kind, target), pages in statements.withdrawn.items()
    ]
    await in_batches(transaction, cypher.WITHDRAW, "rows", rows)
    await in_batches(transaction, cypher.WITHDRAW_TYPED, "rows", rows)


async def state_relations(
    transaction: AsyncManagedTransaction, change: Change, statements: Statements, entities: Mapping[str, str]
) -> None:
    """Add pages to the edges they state, creating missing edges. ``entities`` maps uris to element ids."""
    await in_batches(transaction, cypher.CREATE_TYPES, "rows", statements.types)
    rows = [
        {**row, "pages": pages}
        for row, pages in zip(_stated_rows(statements, entities), statements.stated.values(), strict=True)
    ]
    await in_batches(transaction, cypher.STATE, "rows", rows)
    await in_batches(transaction, cypher.STATE_TYPED, "rows", rows)
    noted = [statement_row(page, edges) for page, edges in change.relations.items()]
    await in_batches(transaction, cypher.NOTE_STATEMENTS, "rows", noted)


async def note_evidence(transaction: AsyncManagedTransaction, statements: Statements, titles: Titles) -> None:
    """Write where edges are said: of several pages in the first chunk by uri. Pages and edges are written before."""
    wanted = set(statements.said)
    found = await in_batches(transaction, cypher.STATED_BY, "triples", [*map(list, statements.said)])
    stated = await read_statements(transaction, sorted({page for (page,) in found}))
    edges = [edge for listed in stated.values() for edge in listed]
    await titles.learn(transaction, (title for edge in edges for title in (edge.source, edge.target)))
    resolved = (
        edge._replace(source=titles.new(edge.source), target=titles.new(edge.target)) for edge in edges
    )
    rows = [
        {**edge._asdict(), "mirror": mirror_type(edge.type), "said": evidence_row(edge)}
        for edge in RelationEdge.distinct(edge for edge in resolved if edge.triple in wanted)
    ]
    await in_batches(transaction, cypher.SET_EVIDENCE, "rows", rows)


async def embed_stated(
    transaction: AsyncManagedTransaction, statements: Statements, entities: Mapping[str, str]
) -> None:
    """Give the stated relations and their mirrors the vectors of their types, if these have any."""
    rows = _stated_rows(statements, entities)
    await in_batches(transaction, cypher.EMBED_STATED, "rows", rows, size=_EMBEDDED_A_STATEMENT)


def _stated_rows(statements: Statements, entities: Mapping[str, str]) -> list[Parameters]:
    return [
        {
            "source": entities[source],
            "type": kind,
            "target": entities[target],
            "mirror": mirror_type(kind),
        }
        for source, kind, target in statements.stated
    ]


def _by_triple(pairs: Iterable[tuple[Triple, str]]) -> dict[Triple, list[str]]:
    found: dict[Triple, list[str]] = {}
    for triple, page in sorted(pairs):
        found.setdefault(triple, []).append(page)
    return found


# -- search terms ------------------------------------------------------------------------------------------------


class TermChanges:
    """Changes of document frequencies, and of the total number of terms, within one transaction."""

    def __init__(self) -> None:
        self._changes: Counter[str] = Counter()
        self.total = 0

    def add(self, chunks: Iterable[str]) -> None:
        """Count inserted chunks with these search terms (joined by spaces)."""
        for chunk in chunks:
            terms = chunk.split()
            self._changes.update(set(terms))
            self.total += len(terms)

    def remove(self, chunks: Iterable[str]) -> None:
        """Count deleted chunks with these search terms."""
        for chunk in chunks:
            terms = chunk.split()
            self._changes.subtract(set(terms))
            self.total -= len(terms)

    async def apply(self, transaction: AsyncManagedTransaction) -> None:
        """Write the changes in a fixed order."""
        changes = sorted((term_key(term), change) for term, change in self._changes.items() if change != 0)
        await in_batches(transaction, cypher.COUNT_TERMS, "rows", changes)
        fewer = [term for term, change in changes if change < 0]
        await in_batches(transaction, cypher.DROP_TERMS, "terms", fewer)
