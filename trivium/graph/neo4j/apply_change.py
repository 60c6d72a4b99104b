"""Applies a change within one transaction: reads what it touches, plans, writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neo4j import AsyncManagedTransaction

from trivium.graph.neo4j.answered_questions import answer, answered_by, drop_unanswered
from trivium.graph.neo4j.change_log import Touched
from trivium.graph.neo4j.cypher import writing as cypher
from trivium.graph.neo4j.insert import Parts, insert_pages
from trivium.graph.neo4j.reconcile import (
    Change,
    Statements,
    TermChanges,
    Titles,
    embed_stated,
    note_evidence,
    reconcile_statements,
    reconcile_titles,
    state_relations,
    withdraw,
)
from trivium.graph.neo4j.vectors import find_sentences, find_vectors, keep_sentences, keep_vectors
from trivium.graph.neo4j.write_steps import in_batches, next_version
from trivium.graph.node_properties import Parameters, entity_row

Cites = dict[str, list[str]]
"""Chunk -> the entities it cites."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """The consequences of a change. ``cites`` are those of the chunks to insert (by uri), ``recited`` those of
    existing chunks whose citations change (by element id), and ``recited_uris`` the uris of these. ``entities`` maps
    required entities that exist to their element ids, ``new`` are those to create, ``unused`` those that may be unused
    afterwards. ``vectors`` and ``sentences`` (by text hash) are for the nodes to create.
    """

    titles: Titles
    statements: Statements
    cites: Cites
    recited: Cites
    recited_uris: list[str]
    entities: dict[str, str]
    new: list[Parameters]
    unused: list[str]
    vectors: Mapping[str, Any]
    sentences: Mapping[str, str]


async def apply_change(
    transaction: AsyncManagedTransaction, change: Change, parts: Parts, *, embedded: bool
) -> None:
    """Apply a change to the graph. ``parts`` are those of the loaded pages. ``embedded`` tells whether the store has
    an embedder, and so possibly vectors for new nodes. The caller holds the store's lock.
    """
    plan = await _plan(transaction, change, parts, embedded=embedded)
    terms = TermChanges()
    asked = await answered_by(transaction, change.emptied)
    await _empty(transaction, change, parts, terms)
    await withdraw(transaction, plan.statements)
    await in_batches(transaction, cypher.WITHDRAW_CITES, "ids", list(plan.recited))

    created = dict(await in_batches(transaction, cypher.CREATE_ENTITIES, "rows", plan.new))
    entities = {**plan.entities, **created}
    chunks = await insert_pages(transaction, list(change.loaded.values()), parts, entities)
    terms.add(parts.search_terms)
    await _claim(transaction, change, plan.titles)
    await _cite(transaction, {chunks[uri]: uris for uri, uris in plan.cites.items()}, entities)
    await _cite(transaction, plan.recited, entities)
    await state_relations(transaction, change, plan.statements, entities)
    await note_evidence(transaction, plan.statements, plan.titles)
    await answer(transaction, {uri: page.questions for uri, page in change.loaded.items() if page.questions})
    await drop_unanswered(transaction, asked)
    await keep_vectors(transaction, plan.vectors)
    if embedded:
        await embed_stated(transaction, plan.statements, entities)
    await keep_sentences(transaction, plan.sentences)

    dropped = await in_batches(transaction, cypher.DROP_ENTITIES, "uris", plan.unused)
    unstated = sorted({kind for _, kind, _ in plan.statements.withdrawn})
    await in_batches(transaction, cypher.DROP_TYPES, "types", unstated)
    await terms.apply(transaction)
    touched = Touched.by(
        pages=[*change.loaded, *change.emptied],
        chunks=plan.recited_uris,
        entities=[
            *created,
            *(uri for (uri,) in dropped),
            *plan.statements.entities,
            *plan.statements.released,
            *(end for source, _, target in plan.statements.said for end in (source, target)),
        ],
        aliases=[*(row["uri"] for row in plan.titles.rows), *plan.titles.unclaimed],
        types=[*(row["type"] for row in plan.statements.types), *unstated],
    )
    await next_version(transaction, touched, terms=terms.total)


async def _plan(
    transaction: AsyncManagedTransaction, change: Change, parts: Parts, *, embedded: bool
) -> _Plan:
    titles = await reconcile_titles(
        transaction, added=change.added, removed=change.removed, claims=change.claims
    )
    through, recited_uris = await _citing_through(transaction, titles, change.emptied)
    statements = await reconcile_statements(transaction, change, titles)
    await titles.learn(transaction, _titles(parts.citations, through))
    released = await _released(transaction, change, titles, through, statements)
    cites = {chunk: _resolved(titles, citations) for chunk, citations in parts.citations.items()}
    recited = {chunk: _resolved(titles, citations) for chunk, citations in through.items()}

    wanted = dict.fromkeys(change.loaded)
    for cited in (cites, recited):
        wanted.update(dict.fromkeys(uri for uris in cited.values() for uri in uris))
    wanted.update(statements.entities)
    entities: dict[str, str] = dict(await in_batches(transaction, cypher.ENTITY_IDS, "uris", list(wanted)))
    new = [entity_row(uri) for uri in wanted if uri not in entities]
    hashes = [*parts.hashes, *(row["text_hash"] for row in (*new, *statements.types))]
    return _Plan(
        titles=titles,
        statements=statements,
        cites=cites,
        recited=recited,
        recited_uris=recited_uris,
        entities=entities,
        new=new,
        unused=[uri for uri in released if uri not in wanted],
        vectors=await find_vectors(transaction, hashes) if embedded else {},
        sentences=await find_sentences(transaction, parts.chunk_hashes) if embedded else {},
    )


async def _citing_through(
    transaction: AsyncManagedTransaction, titles: Titles, emptied: Sequence[str]
) -> tuple[dict[str, list[str]], list[str]]:
    """Map element ids to citations, for the remaining chunks that cite something through a title with a new target;
    and return the uris of these chunks.
    """
    moved = [{"title": title, "old": old} for title, (old, _) in titles.moved.items()]
    found = await in_batches(transaction, cypher.CITING_THROUGH, "moved", moved, emptied=list(emptied))
    return {row[0]: row[1] for row in found}, [row[2] for row in found]


async def _released(
    transaction: AsyncManagedTransaction,
    change: Change,
    titles: Titles,
    through: Mapping[str, Sequence[str]],
    statements: Statements,
) -> list[str]:
    """Return entities that lose a citation, a relation or their page, and so may be unused afterwards."""
    held = await in_batches(transaction, cypher.HELD_CITATIONS, "uris", change.emptied)
    released = {uri for (uri,) in held} | set(change.removed) | statements.released.keys()
    released.update(titles.old(title) for citations in through.values() for title in citations)
    return sorted(released)


def _titles(*citations: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for chunks in citations:
        for titles in chunks.values():
            yield from titles


def _resolved(titles: Titles, citations: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(titles.new(title) for title in citations))


async def _empty(
    transaction: AsyncManagedTransaction, change: Change, parts: Parts, terms: TermChanges
) -> None:
    held = await in_batches(transaction, cypher.HELD_TERMS, "uris", change.emptied)
    terms.remove(search_terms for (search_terms,) in held)
    sections = [section["uri"] for section, _ in parts.sections]
    await in_batches(transaction, cypher.DROP_CHUNKS, "uris", change.emptied, kept=list(parts.citations))
    await in_batches(transaction, cypher.DROP_SECTIONS, "uris", change.emptied, kept=sections)
    await in_batches(transaction, cypher.UNLINK_KEPT, "uris", change.emptied)
    await in_batches(transaction, cypher.DROP_CLAIMS, "uris", list(change.removed))
    await in_batches(transaction, cypher.UNSET_PAGES, "uris", list(change.removed))


async def _claim(transaction: AsyncManagedTransaction, change: Change, titles: Titles) -> None:
    await in_batches(transaction, cypher.SET_ALIASES, "rows", titles.rows)
    noted = [{"uri": page, "aliases": list(aliases)} for page, aliases in change.claims.items()]
    await in_batches(transaction, cypher.NOTE_CLAIMS, "rows", noted)
    await in_batches(transaction, cypher.DROP_ALIASES, "uris", titles.unclaimed)


async def _cite(
    transaction: AsyncManagedTransaction, cites: Mapping[str, Sequence[str]], entities: Mapping[str, str]
) -> None:
    """Connect chunks (by element id) with the entities they cite."""
    citing = [
        {"id": chunk, "cites": [entities[uri] for uri in uris]} for chunk, uris in cites.items() if uris
    ]
    await in_batches(transaction, cypher.CITE, "rows", citing)
