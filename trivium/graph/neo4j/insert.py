"""Inserts the sections and chunks of pages and their relationships. None of these relationships may exist yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from neo4j import AsyncManagedTransaction

from trivium.graph.neo4j.cypher import writing as cypher
from trivium.graph.neo4j.write_steps import in_batches
from trivium.graph.node_properties import (
    Parameters,
    ancestors,
    chunks_by_parent,
    neighbours,
    page_row,
    section_row,
)
from trivium.graph.page_facts import now
from trivium.graph.page_graph import PageGraph

_PARENTS_A_STATEMENT = 500


@dataclass(slots=True)
class Parts:
    """Sections and chunks of pages as rows: ``sections`` with the uris of their ancestors, nearest first; ``chunks``
    by the uri of the page or section directly above; ``chunks_above``, the uris of chunks by every further ancestor;
    ``follows``, pairs of consecutive chunks.
    """

    sections: list[tuple[Parameters, list[str]]] = field(default_factory=list)
    chunks: list[tuple[str, list[Parameters]]] = field(default_factory=list)
    chunks_above: dict[str, list[str]] = field(default_factory=dict)
    follows: list[tuple[str, str]] = field(default_factory=list)

    def add(self, page: PageGraph) -> None:
        """Add the sections and chunks of a page."""
        above = ancestors(page)
        self.sections += [(section_row(section), above[section.uri]) for section in page.sections]
        for parent, chunks in chunks_by_parent(page).items():
            self.chunks.append((parent, chunks))
            for further in above[parent]:
                self.chunks_above.setdefault(further, []).extend(chunk["shown"]["uri"] for chunk in chunks)
        self.follows += neighbours(page)

    @property
    def hashes(self) -> list[str]:
        """Hashes of the texts of sections and chunks."""
        return [section["text_hash"] for section, _ in self.sections] + self.chunk_hashes

    @property
    def chunk_hashes(self) -> list[str]:
        """Hashes of the texts of chunks."""
        return [chunk["shown"]["text_hash"] for _, chunks in self.chunks for chunk in chunks]

    @property
    def search_terms(self) -> list[str]:
        """Search terms of each chunk."""
        return [chunk["data"]["search_terms"] for _, chunks in self.chunks for chunk in chunks]

    @property
    def citations(self) -> dict[str, list[str]]:
        """Chunk uri -> the titles it links to."""
        return {
            chunk["shown"]["uri"]: chunk["shown"]["citations"]
            for _, chunks in self.chunks
            for chunk in chunks
        }


async def insert_pages(
    transaction: AsyncManagedTransaction,
    pages: Sequence[PageGraph],
    parts: Parts,
    entities: Mapping[str, str],
) -> dict[str, str]:
    """Turn entities (uri -> element id) into pages and insert their parts. Return the element ids of the chunks by
    uri.
    """
    added = now()
    rows = [{"id": entities[page.uri], "added": added, **page_row(page)} for page in pages]
    await in_batches(transaction, cypher.SET_PAGES, "rows", rows)
    places = {page.uri: entities[page.uri] for page in pages}
    places.update(await _insert_sections(transaction, parts, places))
    return await _insert_chunks(transaction, parts, places)


async def _insert_sections(
    transaction: AsyncManagedTransaction, parts: Parts, pages: Mapping[str, str]
) -> dict[str, str]:
    sections = [section for section, _ in parts.sections]
    made = dict(await in_batches(transaction, cypher.CREATE_SECTIONS, "rows", sections))
    places = {**pages, **made}
    links = [
        {"id": made[section["uri"]], "above": [places[uri] for uri in above]}
        for section, above in parts.sections
    ]
    await in_batches(transaction, cypher.LINK_SECTIONS, "rows", links)
    return made


async def _insert_chunks(
    transaction: AsyncManagedTransaction, parts: Parts, places: Mapping[str, str]
) -> dict[str, str]:
    rows = [{"id": places[parent], "chunks": chunks} for parent, chunks in parts.chunks]
    made = dict(await in_batches(transaction, cypher.CREATE_CHUNKS, "rows", rows, size=_PARENTS_A_STATEMENT))
    above = [
        {"id": places[further], "chunks": [made[uri] for uri in chunks]}
        for further, chunks in parts.chunks_above.items()
    ]
    await in_batches(transaction, cypher.LINK_CHUNKS, "rows", above, size=_PARENTS_A_STATEMENT)
    follows = [[made[a], made[b]] for a, b in parts.follows]
    await in_batches(transaction, cypher.LINK_NEIGHBOURS, "rows", follows)
    return made
