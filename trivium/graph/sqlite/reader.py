"""Reads that need only the database: texts, names, relations, types, counts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from trivium.common import stopping
from trivium.errors import StoreFormatError
from trivium.graph.page_facts import BLOCKS, decode_metadata, page_record
from trivium.graph.page_graph import RelationEdge
from trivium.graph.records import (
    ChunkRecord,
    PageRecord,
    unknown_chunk,
    unknown_page,
)
from trivium.graph.schema import embedding_text, headings_as_text, unescape
from trivium.graph.sqlite import mention_candidates
from trivium.graph.sqlite.connection import Connection, as_json
from trivium.graph.sqlite.counts import number
from trivium.graph.sqlite.evidence import evidence
from trivium.graph.sqlite.store_state import read_meta
from trivium.graph.stored_vectors import text_hash

_RECORD = (
    "SELECT p.source, p.revision, p.content_hash, coalesce(f.format, ''), coalesce(f.path, ''), f.modified, f.metadata,"
    " f.added, n.uri"
)
_FILE = "substr(rtrim(p.source, '/'), 1 + length(rtrim(rtrim(p.source, '/'), replace(p.source, '/', ''))))"
"""The name of the file that a page comes from, as in the index page_file."""


def pages(connection: Connection, after: str | None = None, limit: int | None = None) -> list[PageRecord]:
    """Return pages sorted by uri, at most ``limit`` with a uri greater than ``after``."""
    rows = connection.execute(
        f"{_RECORD} FROM page_uri AS n CROSS JOIN page AS p ON p.id = n.page_id"
        " LEFT JOIN page_facts AS f ON f.page_id = p.id WHERE n.uri > ? ORDER BY n.uri LIMIT ?",
        [after or "", -1 if limit is None else max(limit, 0)],
    )
    return [page_record(*row) for row in stopping.each(rows)]


def find_pages(connection: Connection, uris: Sequence[str]) -> dict[str, PageRecord]:
    """Map uris to pages, in the order asked. Uris that are not pages are skipped."""
    rows = connection.execute(
        f"{_RECORD} FROM json_each(?) AS j JOIN name AS n ON n.uri = j.value JOIN page AS p ON p.id = n.id"
        " LEFT JOIN page_facts AS f ON f.page_id = p.id ORDER BY j.key",
        [as_json(uris)],
    )
    return {row[-1]: page_record(*row) for row in rows}


def pages_with_words(
    connection: Connection, names: Sequence[str], *, source: str = "", mark: str = ""
) -> list[PageRecord]:
    """Return pages, sorted by uri, that may mention one of the names; see
    :meth:`trivium.graph.protocols.PageReader.pages_with_words`. All of them where their words are not indexed.
    """
    if not names:
        return []
    condition, asked = "substr(p.source, 1, length(:source)) = :source AND instr(p.content_hash, :mark)", {}
    if mention_candidates.is_indexed(source, mark):
        found = as_json(mention_candidates.pages_with_words(connection, names))
        begin, asked = "json_each(:found) AS j CROSS JOIN page AS p ON p.id = j.value", {"found": found}
    else:
        begin = "page AS p"
    rows = connection.execute(
        # CROSS JOIN reads pages before names: for the order SQLite would read all names.
        f"{_RECORD} FROM {begin} CROSS JOIN name AS n ON n.id = p.id LEFT JOIN page_facts AS f ON f.page_id = p.id"
        f" WHERE {condition} ORDER BY n.uri",
        {"source": source, "mark": mark, **asked},
    )
    return [page_record(*row) for row in rows]


def pages_at(connection: Connection, paths: Sequence[str]) -> list[PageRecord]:
    """Return pages, sorted by uri, that are displayed under one of the paths."""
    rows = connection.execute(
        f"{_RECORD} FROM json_each(?) AS j JOIN page_facts AS f ON f.path = j.value JOIN page AS p ON p.id = f.page_id"
        " JOIN name AS n ON n.id = p.id ORDER BY n.uri",
        [as_json(dict.fromkeys(filter(None, paths)))],
    )
    return [page_record(*row) for row in rows]


def pages_of_files(connection: Connection, names: Sequence[str]) -> list[PageRecord]:
    """Return pages, sorted by uri, whose source is a file with one of these names."""
    rows = connection.execute(
        f"{_RECORD} FROM json_each(?) AS j CROSS JOIN page AS p ON {_FILE} = j.value CROSS JOIN name AS n ON n.id = p.id"
        " LEFT JOIN page_facts AS f ON f.page_id = p.id ORDER BY n.uri",
        [as_json(dict.fromkeys(filter(None, names)))],
    )
    return [page_record(*row) for row in rows]


def unlinked_pages(connection: Connection) -> list[str]:
    """Return the uris of pages whose mentions are still to be linked."""
    rows = connection.execute(
        # CROSS JOIN makes SQLite use the index page_unlinked instead of reading all names in order.
        "SELECT n.uri FROM page AS p CROSS JOIN name AS n ON n.id = p.id WHERE substr(p.content_hash, -1) = '.'"
        " ORDER BY n.uri"
    )
    return [uri for (uri,) in rows]


def count_pages(connection: Connection) -> int:
    """Return the number of pages."""
    return number(connection, "SELECT count(*) FROM page_uri")


def count_pending_sentences(connection: Connection) -> int:
    """Return the number of distinct passages without vectors of sentences."""
    return number(connection, "SELECT count(*) FROM waiting_sentences")


def fetch(connection: Connection, chunks: Sequence[str]) -> list[ChunkRecord]:
    """Return records in the order asked. Raises StoreChangedError for an unknown chunk, StoreFormatError for a
    damaged one.
    """
    rows = connection.execute(
        """
        SELECT t.hash, c.uri, n.uri, coalesce(s.uri, n.uri), c.text, c.kind, c.position, c.start_char, c.end_char,
            c.token_count, g.first_page, g.last_page, coalesce(nullif(f.path, ''), p.source), coalesce(f.format, ''),
            f.metadata
        FROM json_each(?) AS j JOIN chunk AS c ON c.uri = j.value JOIN name AS n ON n.id = c.page_id
        JOIN page AS p ON p.id = c.page_id JOIN text AS t ON t.id = c.text_id
        LEFT JOIN section AS s ON s.id = c.section_id LEFT JOIN chunk_pages AS g ON g.chunk_id = c.id
        LEFT JOIN page_facts AS f ON f.page_id = p.id
        """,
        [as_json(dict.fromkeys(chunks))],
    )
    records = {row[1]: _intact(row[0], _chunk_record(row[1:])) for row in rows}
    for uri in chunks:
        if uri not in records:
            raise unknown_chunk(uri)
    return [records[uri] for uri in chunks]


def _chunk_record(row: Sequence[Any]) -> ChunkRecord:
    *own, first, last, document, format_, metadata = row
    pages = None if first is None else (first, last)
    return ChunkRecord(*[*own, pages, document, format_, decode_metadata(metadata)])


def _intact(key: str, chunk: ChunkRecord) -> ChunkRecord:
    """Return the chunk if its headings and text still match the hash they were stored with."""
    if text_hash(embedding_text(headings_as_text(chunk.section), chunk.text)) != key:
        raise StoreFormatError(
            f"the store is damaged: the text of {chunk.uri!r} is not what was written; load the page {chunk.page!r} again"
            " after  trivium check STORE --repair,  or restore a backup"
        )
    return chunk


def cited_sections(connection: Connection, chunks: Sequence[str]) -> dict[str, list[str]]:
    """Return the sections that each chunk's links refer to by an anchor, in order of appearance."""
    rows = connection.execute(
        """
        SELECT c.uri, s.uri FROM json_each(?) AS j JOIN chunk AS c ON c.uri = j.value
        JOIN citation_anchor AS a ON a.chunk_id = c.id
        JOIN citation AS t ON t.chunk_id = a.chunk_id AND t.ordinal = a.citation
        JOIN name AS n ON n.id = t.name_id JOIN section AS s ON s.page_id = coalesce(n.leads_to, n.id)
        JOIN section_anchor AS k ON k.section_id = s.id AND k.anchor = a.anchor
        ORDER BY c.id, a.ordinal
        """,
        [as_json(dict.fromkeys(chunks))],
    )
    found: dict[str, dict[str, None]] = {chunk: {} for chunk in chunks}
    for chunk, section in rows:
        found[chunk][section] = None
    return {chunk: list(sections) for chunk, sections in found.items()}


def page_text(connection: Connection, page: str) -> str:
    """Return a page's plain text. Raises StoreError for an unknown page."""
    row = connection.execute(
        "SELECT p.text FROM page AS p JOIN name AS n ON n.id = p.id WHERE n.uri = ?", [page]
    ).fetchone()
    if row is None:
        raise unknown_page(page)
    return str(row[0])


def resolve(connection: Connection, titles: Sequence[str]) -> dict[str, str]:
    """Map titles or aliases to entities. Unknown ones are skipped."""
    rows = connection.execute(
        "SELECT j.value, e.uri FROM json_each(?) AS j JOIN name AS n ON n.uri = j.value"
        " JOIN name AS e ON e.id = coalesce(n.leads_to, n.id) ORDER BY j.key",
        [as_json(titles)],
    )
    return dict(rows.fetchall())


def lookup_names(connection: Connection, names: Sequence[str]) -> dict[str, str]:
    """Map normalised names to the entities they most likely refer to. Citations are only counted to break ties."""
    rows = connection.execute(
        """
        SELECT l.form, CASE WHEN l.shortened THEN 2 ELSE n.leads_to IS NOT NULL END AS kind,
            p.id IS NULL AS bare, e.id, e.uri
        FROM json_each(?) AS j JOIN lookup AS l ON l.form = j.value JOIN name AS n ON n.id = l.name_id
        JOIN name AS e ON e.id = coalesce(n.leads_to, n.id) LEFT JOIN page AS p ON p.id = e.id
        ORDER BY l.form, kind, bare, e.uri
        """,
        [as_json(dict.fromkeys(names))],
    )
    rivals: dict[str, list[tuple[int, int, int, str]]] = {}
    for form, kind, bare, entity, uri in rows:
        best = rivals.setdefault(form, [])
        if not best or best[0][:2] == (kind, bare):
            best.append((kind, bare, entity, uri))
    equal = [{number for _, _, number, _ in best} for best in rivals.values()]
    counts = _citing_chunks(connection, set().union(*(numbers for numbers in equal if len(numbers) > 1)))
    # The first by uri if several are cited as often.
    return {
        name: max(rivals[name], key=lambda rival: counts.get(rival[2], 0))[3]
        for name in names
        if name in rivals
    }


def _citing_chunks(connection: Connection, entities: Collection[int]) -> dict[int, int]:
    """Map entities to how many chunks cite them; those that none cites are left out."""
    if not entities:
        return {}
    rows = connection.execute(
        """
        WITH asked AS MATERIALIZED (SELECT value AS id FROM json_each(?)),
        titles AS MATERIALIZED (
            SELECT id AS entity, id AS title FROM asked
            UNION ALL SELECT a.id, n.id FROM asked AS a JOIN name AS n ON n.leads_to = a.id
        )
        SELECT t.entity, count(DISTINCT c.chunk_id)
        FROM titles AS t CROSS JOIN citation AS c ON c.name_id = t.title GROUP BY t.entity
        """,
        [as_json(sorted(entities))],
    )
    return dict(rows.fetchall())


def names(connection: Connection) -> Iterator[tuple[str, str]]:
    """Return (title or alias, page uri), by page: its title first, then its aliases sorted by uri."""
    rows = connection.execute(
        # CROSS JOIN begins with pages and aliases. SQLite would read all names, of which most stand for no page.
        """
        SELECT n.uri AS name, n.uri AS page, 0 AS alias FROM page AS p CROSS JOIN name AS n ON n.id = p.id
        UNION ALL
        SELECT a.uri, n.uri, 1 FROM name AS a CROSS JOIN name AS n ON n.id = a.leads_to WHERE a.leads_to IS NOT NULL
        ORDER BY page, alias, name
        """
    )
    return iter([(unescape(uri), page) for uri, page, _ in rows])


def names_like(connection: Connection, forms: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Return (title or alias, page uri) of the names with one of the normalised forms that stand for pages."""
    rows = connection.execute(
        "SELECT DISTINCT n.uri, e.uri FROM json_each(?) AS j CROSS JOIN lookup AS l ON l.form = j.value"
        " CROSS JOIN name AS n ON n.id = l.name_id CROSS JOIN page AS p ON p.id = coalesce(n.leads_to, n.id)"
        " CROSS JOIN name AS e ON e.id = p.id",
        [as_json(dict.fromkeys(forms))],
    )
    return [(unescape(uri), page) for uri, page in rows]


def aliases(connection: Connection) -> list[str]:
    """Return the aliases of pages, sorted by uri."""
    rows = connection.execute(
        # The plus makes SQLite read the index of aliases instead of all names in order.
        "SELECT uri FROM name WHERE leads_to IS NOT NULL ORDER BY +uri"
    )
    return [unescape(uri) for (uri,) in rows]


_RELATIONS = """
    WITH asked AS MATERIALIZED (
        SELECT n.id FROM json_each(?) AS j CROSS JOIN name AS n ON n.uri = j.value WHERE n.leads_to IS NULL
    ), titles AS MATERIALIZED (
        SELECT id FROM asked UNION ALL SELECT n.id FROM asked AS a CROSS JOIN name AS n ON n.leads_to = a.id
    ), touching AS (
        SELECT page_id, source_id, type_id, target_id FROM titles AS t CROSS JOIN relation ON source_id = t.id
        UNION ALL
        SELECT page_id, source_id, type_id, target_id FROM titles AS t CROSS JOIN relation ON target_id = t.id
    )
    SELECT es.uri, k.type, et.uri, {}
    FROM touching AS r CROSS JOIN name AS s ON s.id = r.source_id CROSS JOIN name AS t ON t.id = r.target_id
    CROSS JOIN name AS es ON es.id = coalesce(s.leads_to, s.id)
    CROSS JOIN name AS et ON et.id = coalesce(t.leads_to, t.id)
    CROSS JOIN relation_type AS k ON k.id = r.type_id {}
    """
"""CROSS JOIN keeps the order: SQLite 3.53 would read all relations."""


def relations(connection: Connection, entities: Sequence[str]) -> list[RelationEdge]:
    """Return stated relations that start or end at one of the entities, sorted by source, type and target."""
    columns, join = evidence(connection)
    # Distinct ones are found and sorted in Python, which takes less time than in SQLite.
    rows = set(connection.execute(_RELATIONS.format(columns, join), [as_json(entities)]))
    if not join:
        return list(map(RelationEdge._make, sorted(rows)))
    return RelationEdge.distinct(map(RelationEdge._make, rows))


def chunk_uris(connection: Connection) -> list[str]:
    """Return all chunks, ordered by page uri and position."""
    rows = connection.execute(
        "SELECT c.uri FROM chunk AS c JOIN name AS n ON n.id = c.page_id ORDER BY n.uri, c.position"
    )
    return [uri for (uri,) in rows]


def read_types(connection: Connection, entities: Sequence[str] | None = None) -> dict[str, str]:
    """Map entity uris to types, sorted by uri; only those of ``entities`` if given."""
    if entities is None:
        of_all = (
            "SELECT n.uri, t.type FROM entity_type AS t JOIN name AS n ON n.id = t.name_id ORDER BY n.uri"
        )
        return dict(connection.execute(of_all).fetchall())
    rows = connection.execute(
        "SELECT DISTINCT n.uri, t.type FROM json_each(?) AS j JOIN name AS n ON n.uri = j.value"
        " JOIN entity_type AS t ON t.name_id = n.id ORDER BY n.uri",
        [as_json(entities)],
    )
    return dict(rows.fetchall())


def chunker(connection: Connection) -> str | None:
    """Return what split the stored pages into chunks; None if there are no pages."""
    if connection.execute("SELECT 1 FROM page LIMIT 1").fetchone() is None:
        return None
    return read_meta(connection, "chunker") or BLOCKS


def fusion_decision(connection: Connection) -> str | None:
    """Return the serialised decision on the default fusion."""
    return read_meta(connection, "fusion")


def links_pending(connection: Connection) -> bool:
    """Return whether a load has begun and not ended."""
    return read_meta(connection, "links_pending") is not None


def entities(connection: Connection) -> str | None:
    """Return what recognised the names of the stored documents."""
    return read_meta(connection, "entities")


def languages(connection: Connection) -> str | None:
    """Return the serialised languages of the documents."""
    return read_meta(connection, "languages")
