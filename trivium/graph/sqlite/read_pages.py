"""Reads whole pages as they were written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trivium.graph.link_fragments import section_link
from trivium.graph.page_facts import decode_given, decode_metadata
from trivium.graph.page_graph import ChunkNode, PageGraph, RelationEdge, SectionNode
from trivium.graph.sqlite.answered_questions import questions_of
from trivium.graph.sqlite.connection import Connection, as_json
from trivium.graph.sqlite.evidence import evidence
from trivium.graph.sqlite.names import has_names, names_of

_PAGE = (
    "SELECT p.id, n.uri, p.text, p.source, p.revision, p.content_hash, coalesce(f.format, ''), coalesce(f.path, ''),"
    " f.modified, f.metadata FROM page AS p LEFT JOIN page_facts AS f ON f.page_id = p.id"
)
_SECTIONS = """
    SELECT s.uri, coalesce(a.uri, ?2), s.level, s.position
    FROM section AS s LEFT JOIN section AS a ON a.id = s.parent_id WHERE s.page_id = ?1 ORDER BY s.position
    """
_CHUNKS = """
    SELECT c.id, c.uri, coalesce(s.uri, ?2), c.text, c.kind, c.position, c.start_char, c.end_char, c.token_count,
        c.terms, c.heading_terms, g.first_page, g.last_page, t.data
    FROM chunk AS c LEFT JOIN section AS s ON s.id = c.section_id LEFT JOIN chunk_pages AS g ON g.chunk_id = c.id
    LEFT JOIN thumbnail AS t ON t.chunk_id = c.id WHERE c.page_id = ?1 ORDER BY c.position
    """
_CITATIONS = """
    SELECT t.chunk_id, n.uri FROM chunk AS c JOIN citation AS t ON t.chunk_id = c.id
    JOIN name AS n ON n.id = t.name_id WHERE c.page_id = ? ORDER BY t.chunk_id, t.ordinal
    """
_SECTION_ANCHORS = """
    SELECT s.uri, a.anchor FROM section AS s JOIN section_anchor AS a ON a.section_id = s.id
    WHERE s.page_id = ? ORDER BY s.id, a.ordinal
    """
_CITATION_ANCHORS = """
    SELECT a.chunk_id, n.uri, a.anchor FROM chunk AS c JOIN citation_anchor AS a ON a.chunk_id = c.id
    JOIN citation AS t ON t.chunk_id = a.chunk_id AND t.ordinal = a.citation JOIN name AS n ON n.id = t.name_id
    WHERE c.page_id = ? ORDER BY a.chunk_id, a.ordinal
    """
_ALIASES = """
    SELECT n.uri FROM alias AS a JOIN name AS n ON n.id = a.name_id WHERE a.page_id = ? ORDER BY n.uri
    """
_RELATIONS = """
    SELECT s.uri, k.type, t.uri, {} FROM relation AS r JOIN name AS s ON s.id = r.source_id
    JOIN relation_type AS k ON k.id = r.type_id JOIN name AS t ON t.id = r.target_id {}
    WHERE r.page_id = ? ORDER BY s.uri, k.type, t.uri
    """


def page_graphs(connection: Connection, uris: Sequence[str] | None) -> Iterator[PageGraph]:
    """Iterate over pages sorted by uri, or the named ones in the order asked. Titles are unresolved, as written;
    aliases are those claimed, sorted; relations are sorted by source, type and target.
    """
    named = has_names(connection)
    stated = _RELATIONS.format(*evidence(connection))
    if uris is None:
        pages = connection.execute(f"{_PAGE} JOIN name AS n ON n.id = p.id ORDER BY n.uri")
    else:
        pages = connection.execute(
            f"{_PAGE} JOIN name AS n ON n.id = p.id JOIN json_each(?) AS j ON j.value = n.uri ORDER BY j.key",
            [as_json(uris)],
        )
    for number, uri, text, source, revision, content_hash, format_, path, modified, metadata in pages:
        yield PageGraph(
            uri=uri,
            text=text,
            source=source,
            revision=revision,
            content_hash=content_hash,
            aliases=tuple(alias for (alias,) in connection.execute(_ALIASES, [number])),
            sections=_sections(connection, number, uri),
            chunks=_chunks(connection, number, uri, named=named),
            relations=tuple(RelationEdge(*row) for row in connection.execute(stated, [number])),
            format=format_,
            path=path,
            modified=modified,
            metadata=decode_metadata(metadata),
            given=decode_given(metadata),
            questions=questions_of(connection, number),
        )


def _sections(connection: Connection, page: int, uri: str) -> tuple[SectionNode, ...]:
    anchors: dict[str, list[str]] = {}
    for section, anchor in connection.execute(_SECTION_ANCHORS, [page]):
        anchors.setdefault(section, []).append(anchor)
    rows = connection.execute(_SECTIONS, [page, uri])
    return tuple(
        SectionNode(section, parent, level, position, tuple(anchors.get(section, ())))
        for section, parent, level, position in rows
    )


def _chunks(connection: Connection, page: int, uri: str, *, named: bool) -> tuple[ChunkNode, ...]:
    cites: dict[int, list[str]] = {}
    for number, title in connection.execute(_CITATIONS, [page]):
        cites.setdefault(number, []).append(title)
    anchors: dict[int, list[str]] = {}
    for number, title, anchor in connection.execute(_CITATION_ANCHORS, [page]):
        anchors.setdefault(number, []).append(section_link(title, anchor))
    names = names_of(connection, page) if named else {}
    rows = connection.execute(_CHUNKS, [page, uri])
    return tuple(
        ChunkNode(
            uri=chunk,
            parent=parent,
            text=text,
            kind=kind,
            position=position,
            start=start,
            end=end,
            token_count=token_count,
            cites=tuple(cites.get(number, ())),
            terms=of_text,
            heading_terms=of_headings,
            pages=None if first is None else (first, last),
            thumbnail=thumbnail or b"",
            anchors=tuple(anchors.get(number, ())),
            names=tuple(names.get(number, ())),
        )
        for (
            number,
            chunk,
            parent,
            text,
            kind,
            position,
            start,
            end,
            token_count,
            of_text,
            of_headings,
            first,
            last,
            thumbnail,
        ) in rows
    )
