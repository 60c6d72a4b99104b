"""Inserts pages and relations. Row numbers are assigned here, so that one prepared statement fills each table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from trivium.errors import StoreError
from trivium.graph.link_fragments import split_link
from trivium.graph.page_facts import encode_metadata, now, page_digest
from trivium.graph.page_graph import ChunkNode, PageGraph, RelationEdge, SectionNode
from trivium.graph.schema import embedding_text, headings_as_text
from trivium.graph.sqlite.answered_questions import put_questions
from trivium.graph.sqlite.connection import Connection
from trivium.graph.sqlite.evidence import EVIDENCE_TABLE, INSERT_EVIDENCE
from trivium.graph.sqlite.names import NAMES_TABLE
from trivium.graph.sqlite.reconcile import Touched
from trivium.graph.sqlite.row_ids import name_ids, next_id, text_ids

Node = TypeVar("Node", SectionNode, ChunkNode)
Stated = Sequence[tuple[int, RelationEdge]]
"""Relations, each with the number of the page that states it."""


def insert_pages(connection: Connection, pages: Sequence[PageGraph], touched: Touched) -> None:
    """Insert pages that are new or were emptied, without their aliases. Records the titles this may affect in
    ``touched``.
    """
    titles = dict.fromkeys(uri for page in pages for uri in _titles(page))
    names = name_ids(connection, list(titles), entities=True)
    touched.claimed.update(names[page.uri] for page in pages)
    connection.executemany(
        "INSERT INTO page (id, source, revision, content_hash, text) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET source = excluded.source, revision = excluded.revision,"
        " content_hash = excluded.content_hash, text = excluded.text",
        ((names[page.uri], page.source, page.revision, page.content_hash, page.text) for page in pages),
    )
    connection.executemany(
        "INSERT OR REPLACE INTO page_sum (page_id, digest) VALUES (?, ?)",
        ((names[page.uri], page_digest(page)) for page in pages),
    )
    _insert_facts(connection, pages, names)
    sections = _insert_sections(connection, pages, names)
    _insert_chunks(connection, pages, names, sections)
    insert_relations(
        connection, [(names[page.uri], edge) for page in pages for edge in page.relations], names
    )
    asked = {page.uri: page.questions for page in pages if page.questions}
    if asked:
        put_questions(connection, asked)


def _insert_facts(connection: Connection, pages: Sequence[PageGraph], names: Mapping[str, int]) -> None:
    """Insert the pages' own facts. The time of the first load is preserved."""
    added = now()
    connection.executemany(
        "INSERT INTO page_facts (page_id, format, path, modified, added, metadata) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (page_id) DO UPDATE SET format = excluded.format, path = excluded.path,"
        " modified = excluded.modified, metadata = excluded.metadata",
        (
            (
                *(names[page.uri], page.format, page.path, page.modified, added),
                encode_metadata(page.metadata, page.given),
            )
            for page in pages
        ),
    )


def insert_relations(connection: Connection, stated: Stated, names: Mapping[str, int]) -> int:
    """Insert relations that do not exist yet, given the numbers of their titles. Return how many were inserted."""
    types = _type_ids(connection, list(dict.fromkeys(edge.type for _, edge in stated)))
    ordered = sorted(stated)  # the first place of several is the one that is kept
    rows = [(page, names[edge.source], types[edge.type], names[edge.target]) for page, edge in ordered]
    said = [(*row, *edge[3:]) for row, (_, edge) in zip(rows, ordered, strict=True) if edge.chunk]
    if said:
        connection.execute(EVIDENCE_TABLE)
        connection.executemany(INSERT_EVIDENCE, said)
    inserted = connection.executemany(
        "INSERT OR IGNORE INTO relation (page_id, source_id, type_id, target_id) VALUES (?, ?, ?, ?)", rows
    )
    return inserted.rowcount


def _type_ids(connection: Connection, types: Sequence[str]) -> dict[str, int]:
    texts = text_ids(connection, types)
    connection.executemany(
        "INSERT INTO relation_type (type, text_id) VALUES (?, ?) ON CONFLICT (type) DO NOTHING",
        ((kind, texts[kind]) for kind in types),
    )
    return dict(connection.execute("SELECT type, id FROM relation_type"))


def _titles(page: PageGraph) -> Iterator[str]:
    """Iterate over the titles that a page mentions, except its aliases."""
    yield page.uri
    for chunk in page.chunks:
        yield from chunk.cites
    for relation in page.relations:
        yield relation.source
        yield relation.target


def _insert_sections(
    connection: Connection, pages: Sequence[PageGraph], names: dict[str, int]
) -> dict[tuple[str, str], int]:
    """Insert sections. Return (page uri, section uri) -> number."""
    nodes = [(page, section) for page in pages for section in page.sections]
    first = next_id(connection, "section")
    numbers = {(page.uri, section.uri): row for row, (page, section) in enumerate(nodes, first)}
    texts = text_ids(connection, (section.uri for _, section in nodes))
    connection.executemany(
        "INSERT INTO section (id, uri, page_id, parent_id, level, position, text_id)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            (
                row,
                section.uri,
                names[page.uri],
                _parent(page, section, numbers),
                section.level,
                section.position,
                texts[section.uri],
            )
            for row, (page, section) in enumerate(nodes, first)
        ),
    )
    connection.executemany(
        "INSERT INTO section_anchor (section_id, ordinal, anchor) VALUES (?, ?, ?)",
        (
            (row, ordinal, anchor)
            for row, (_, section) in enumerate(nodes, first)
            for ordinal, anchor in enumerate(section.anchors)
        ),
    )
    return numbers


def _insert_chunks(
    connection: Connection,
    pages: Sequence[PageGraph],
    names: dict[str, int],
    sections: dict[tuple[str, str], int],
) -> None:
    nodes = [(page, chunk) for page in pages for chunk in page.chunks]
    first = next_id(connection, "chunk")
    embedded = [embedding_text(headings_as_text(chunk.parent), chunk.text) for _, chunk in nodes]
    texts = text_ids(connection, embedded)
    rows = []
    for row, ((page, chunk), text) in enumerate(zip(nodes, embedded, strict=True), first):
        rows.append(
            (
                row,
                chunk.uri,
                names[page.uri],
                _parent(page, chunk, sections),
                chunk.position,
                texts[text],
                str(chunk.kind),
                chunk.start,
                chunk.end,
                chunk.token_count,
                len(chunk.terms.split()),
                len(chunk.heading_terms.split()),
                chunk.heading_terms,
                chunk.terms,
                chunk.text,
            )
        )
    connection.executemany(
        "INSERT INTO chunk (id, uri, page_id, section_id, position, text_id, kind, start_char, end_char,"
        " token_count, term_count, heading_count, heading_terms, terms, text)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )
    connection.executemany(
        "INSERT INTO chunk_pages (chunk_id, first_page, last_page) VALUES (?, ?, ?)",
        ((row, *chunk.pages) for row, (_, chunk) in enumerate(nodes, first) if chunk.pages is not None),
    )
    connection.executemany(
        "INSERT INTO thumbnail (chunk_id, data) VALUES (?, ?)",
        ((row, chunk.thumbnail) for row, (_, chunk) in enumerate(nodes, first) if chunk.thumbnail),
    )
    connection.executemany(
        "INSERT INTO citation (chunk_id, ordinal, name_id) VALUES (?, ?, ?)",
        (
            (row, ordinal, names[uri])
            for row, (_, chunk) in enumerate(nodes, first)
            for ordinal, uri in enumerate(dict.fromkeys(chunk.cites))
        ),
    )
    connection.executemany(
        "INSERT INTO citation_anchor (chunk_id, ordinal, citation, anchor) VALUES (?, ?, ?, ?)",
        (
            (row, ordinal, *place)
            for row, (_, chunk) in enumerate(nodes, first)
            if chunk.anchors
            for ordinal, place in enumerate(_anchored(chunk))
        ),
    )
    _insert_names(connection, [(row, chunk) for row, (_, chunk) in enumerate(nodes, first) if chunk.names])


def _insert_names(connection: Connection, named: Sequence[tuple[int, ChunkNode]]) -> None:
    """Insert the names of chunks, given with their numbers. The first ones make the table: most stores have none."""
    if not named:
        return
    for statement in NAMES_TABLE:
        connection.execute(statement)
    connection.executemany(
        "INSERT INTO named (chunk_id, ordinal, uri, kind, start_char, end_char) VALUES (?, ?, ?, ?, ?, ?)",
        ((row, ordinal, *name) for row, chunk in named for ordinal, name in enumerate(chunk.names)),
    )


def _anchored(chunk: ChunkNode) -> Iterator[tuple[int, str]]:
    """Iterate over the anchors of a chunk, each with the number of its citation."""
    citations = {uri: number for number, uri in enumerate(dict.fromkeys(chunk.cites))}
    for page, anchor in map(split_link, chunk.anchors):
        if page in citations:
            yield citations[page], anchor


def _parent(page: PageGraph, node: Node, sections: dict[tuple[str, str], int]) -> int | None:
    """Return the number of the section above a node, None directly under the page."""
    if node.parent == page.uri:
        return None
    number = sections.get((page.uri, node.parent))
    if number is None:
        raise StoreError(
            f"{node.uri!r} stands under {node.parent!r}, which is neither the page {page.uri!r} nor one of "
            "its sections"
        )
    return number
