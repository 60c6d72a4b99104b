"""A change, carried out: read what it touches, decide, write. One transaction, which the caller opens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from neo4j import AsyncManagedTransaction

from trivium.graph.neo4j.batches import each
from trivium.graph.neo4j.change import Change
from trivium.graph.neo4j.cypher import writing as cypher
from trivium.graph.neo4j.generation import advance
from trivium.graph.neo4j.keep import find_sentences, find_vectors, keep_sentences, keep_vectors
from trivium.graph.neo4j.load import Parts, insert_pages
from trivium.graph.neo4j.nodes import entity_row
from trivium.graph.neo4j.relations import Statements, settle_statements, state, withdraw
from trivium.graph.neo4j.terms import TermChanges
from trivium.graph.neo4j.titles import Titles, settle_titles


async def carry_out(
    transaction: AsyncManagedTransaction, change: Change, parts: Parts, *, embedded: bool
) -> None:
    """Change the graph. ``parts`` are those of the loaded pages; ``embedded`` says whether the store has an embedder,
    and so maybe vectors to keep. The store's lock is held."""
    titles = await settle_titles(
        transaction, added=change.added, removed=change.removed, claims=change.claims
    )
    recited = await _recited(transaction, titles, change.emptied)
    statements = await settle_statements(transaction, change, titles)
    await titles.learn(transaction, _titles(parts.citations, recited))
    left = await _left(transaction, change, titles, recited, statements)
    cites = {chunk: _resolved(titles, citations) for chunk, citations in parts.citations.items()}
    new_cites = {chunk: _resolved(titles, citations) for chunk, citations in recited.items()}

    wanted = dict.fromkeys(change.loaded)
    for cited in (cites, new_cites):
        wanted.update(dict.fromkeys(uri for uris in cited.values() for uri in uris))
    wanted.update(statements.entities)
    entities: dict[str, str] = dict(await each(transaction, cypher.ENTITY_IDS, "uris", list(wanted)))
    new = [entity_row(uri) for uri in wanted if uri not in entities]
    hashes = [*parts.hashes, *(row["text_hash"] for row in (*new, *statements.types))]
    vectors = await find_vectors(transaction, hashes) if embedded else {}
    sentences = await find_sentences(transaction, parts.chunk_hashes) if embedded else {}

    terms = TermChanges()
    await _empty(transaction, change, terms)
    await withdraw(transaction, statements)
    await each(transaction, cypher.WITHDRAW_CITES, "ids", list(recited))

    entities.update(dict(await each(transaction, cypher.CREATE_ENTITIES, "rows", new)))
    chunks = await insert_pages(transaction, list(change.loaded.values()), parts, entities)
    terms.add(parts.search_terms)
    await _claim(transaction, change, titles)
    await _cite(transaction, {chunks[uri]: uris for uri, uris in cites.items()}, entities)
    await _cite(transaction, new_cites, entities)
    await state(transaction, change, statements, entities)
    await keep_vectors(transaction, vectors)
    await keep_sentences(transaction, sentences)

    await each(transaction, cypher.DROP_ENTITIES, "uris", [uri for uri in left if uri not in wanted])
    gone = sorted({kind for _, kind, _ in statements.withdrawn})
    await each(transaction, cypher.DROP_TYPES, "types", gone)
    await terms.apply(transaction)
    await advance(transaction, terms.total)


async def _recited(
    transaction: AsyncManagedTransaction, titles: Titles, emptied: Sequence[str]
) -> dict[str, list[str]]:
    """element id -> citations of the chunks that stay and cite something through a title that has moved."""
    moved = [{"title": title, "old": old} for title, (old, _) in titles.moved.items()]
    found = await each(transaction, cypher.CITING_THROUGH, "moved", moved, emptied=list(emptied))
    return {row[0]: row[1] for row in found}


async def _left(
    transaction: AsyncManagedTransaction,
    change: Change,
    titles: Titles,
    recited: Mapping[str, Sequence[str]],
    statements: Statements,
) -> list[str]:
    """Entities that something lets go of, and that may be left with nothing."""
    held = await each(transaction, cypher.HELD_CITATIONS, "uris", change.emptied)
    left = {uri for (uri,) in held} | set(change.removed) | statements.left.keys()
    left.update(titles.old(title) for citations in recited.values() for title in citations)
    return sorted(left)


def _titles(*citations: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for chunks in citations:
        for titles in chunks.values():
            yield from titles


def _resolved(titles: Titles, citations: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(titles.new(title) for title in citations))


async def _empty(transaction: AsyncManagedTransaction, change: Change, terms: TermChanges) -> None:
    held = await each(transaction, cypher.HELD_TERMS, "uris", change.emptied)
    terms.remove(search_terms for (search_terms,) in held)
    await each(transaction, cypher.EMPTY_CHUNKS, "uris", change.emptied)
    await each(transaction, cypher.EMPTY_SECTIONS, "uris", change.emptied)
    await each(transaction, cypher.DROP_CLAIMS, "uris", list(change.removed))
    await each(transaction, cypher.UNSET_PAGES, "uris", list(change.removed))


async def _claim(transaction: AsyncManagedTransaction, change: Change, titles: Titles) -> None:
    await each(transaction, cypher.SET_ALIASES, "rows", titles.rows)
    noted = [{"uri": page, "aliases": list(aliases)} for page, aliases in change.claims.items()]
    await each(transaction, cypher.NOTE_CLAIMS, "rows", noted)
    await each(transaction, cypher.DROP_ALIASES, "uris", titles.unclaimed)


async def _cite(
    transaction: AsyncManagedTransaction, cites: Mapping[str, Sequence[str]], entities: Mapping[str, str]
) -> None:
    """Join chunks (by element id) with the entities they cite."""
    citing = [
        {"id": chunk, "cites": [entities[uri] for uri in uris]} for chunk, uris in cites.items() if uris
    ]
    await each(transaction, cypher.CITE, "rows", citing)
