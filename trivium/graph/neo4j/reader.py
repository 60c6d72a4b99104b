"""Reads that take a few queries: counts, texts, structure, relations, names, whole pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, LiteralString

from trivium.common import stopping
from trivium.common.iteration import batched
from trivium.graph.neo4j.cypher import reading as cypher
from trivium.graph.neo4j.cypher import scanning
from trivium.graph.neo4j.cypher.schema import READ_VERSION
from trivium.graph.neo4j.store_cache import Counts
from trivium.graph.neo4j.store_part import StorePart
from trivium.graph.node_properties import decode_names, decode_relations, decode_thumbnail
from trivium.graph.page_facts import BLOCKS, decode_given, decode_metadata, page_record
from trivium.graph.page_graph import ChunkNode, PageGraph, QuestionNode, RelationEdge, SectionNode
from trivium.graph.records import (
    NONE_KNOWN,
    ChunkRecord,
    PageRecord,
    StoreInfo,
    WaitingTexts,
    unknown_chunk,
    unknown_page,
)
from trivium.graph.schema import (
    QUESTION,
    SEPARATOR,
    Hop,
    Label,
    RelationshipType,
    page_of,
    section_of,
    unescape,
    without_unrequested,
)
from trivium.types import EmbedderIdentity


def read_graph(
    uri: str,
    text: str,
    source: str,
    revision: int | None,
    content_hash: str,
    aliases: list[str],
    sources: list[str],
    kinds: list[str],
    targets: list[str],
    places: list[str],
    format_: str,
    path: str,
    modified: str | None,
    metadata: str | None,
    sections: list[list[Any]],
    chunks: list[list[Any]],
    questions: list[list[Any]],
) -> PageGraph:
    """Return a page of a row of :data:`trivium.graph.neo4j.cypher.scanning.PAGE_GRAPHS`."""
    return PageGraph(
        uri=uri,
        text=text,
        source=source,
        revision=revision,
        content_hash=content_hash,
        aliases=tuple(sorted(aliases)),
        sections=tuple(sorted((_section(*row) for row in sections), key=lambda s: s.position)),
        chunks=tuple(sorted((_chunk(*row) for row in chunks), key=lambda c: c.position)),
        relations=tuple(sorted(decode_relations(sources, kinds, targets, places))),
        format=format_,
        path=path,
        modified=modified,
        metadata=decode_metadata(metadata),
        given=decode_given(metadata),
        questions=tuple(sorted((_question(*row) for row in questions), key=lambda q: q.uri)),
    )


def _question(uri: str, text: str, answers: list[str], chunks: list[str]) -> QuestionNode:
    return QuestionNode(uri, text, tuple(answers), tuple(chunks))


def _section(uri: str, parent: str, level: int, position: int, anchors: list[str]) -> SectionNode:
    return SectionNode(uri, parent, level, position, tuple(anchors))


def _chunk(
    uri: str,
    parent: str,
    text: str,
    kind: str,
    position: int,
    start: int,
    end: int,
    token_count: int,
    citations: list[str],
    anchors: list[str],
    names: list[str],
    name_places: list[str],
    search_terms: str,
    heading_count: int,
    first_page: int | None,
    last_page: int | None,
    thumbnail: str | None,
) -> ChunkNode:
    terms = search_terms.split()
    return ChunkNode(
        uri=uri,
        parent=parent,
        text=text,
        kind=kind,
        position=position,
        start=start,
        end=end,
        token_count=token_count,
        cites=tuple(citations),
        terms=" ".join(terms[heading_count:]),
        heading_terms=" ".join(terms[:heading_count]),
        pages=None if first_page is None or last_page is None else (first_page, last_page),
        thumbnail=decode_thumbnail(thumbnail),
        anchors=tuple(anchors),
        names=decode_names(names, name_places),
    )


_PAGES_A_READ = 50
_ROWS_A_READ = 20_000
_COUNTED = "counts"


class GraphReads(StorePart):
    """The part of a store that reads the graph."""

    @property
    def location(self) -> str:
        return str(self._connection.address)

    @property
    def embedder(self) -> EmbedderIdentity | None:
        return self._cache.embedder(self._connection)

    @property
    def languages(self) -> str | None:
        return self._cache.state(self._connection).languages

    def info(self) -> StoreInfo:
        """Return identity and counts of the store. The server maintains the numbers of nodes; relationships, aliases and
        texts are counted once per state.
        """
        state = self._cache.state(self._connection, now=True)
        (nodes,), ((version,),), ((answers,),) = self._connection.read_at_once(
            [cypher.NODE_COUNTS, READ_VERSION, cypher.ANSWER_COUNT]
        )
        known = self._cache.counted.find(state.key, [_COUNTED]).get(_COUNTED)
        if known is None:
            (relationships,), ((aliases,),), ((embedded, texts),) = self._connection.read_at_once(
                [cypher.RELATIONSHIP_COUNTS, cypher.ALIAS_COUNT, cypher.TEXT_COUNTS], whole=True
            )
            known = Counts(relationships, aliases, embedded, texts)
            self._cache.counted.put(state.key, {_COUNTED: known})
        return StoreInfo(
            location=str(self._connection.address),
            schema_version=version,
            embedder=state.embedder,
            nodes=without_unrequested(
                {str(label): count for label, count in zip((*Label, QUESTION), nodes, strict=True)}
            ),
            relationships=without_unrequested(
                {
                    str(kind): n
                    for kind, n in zip(RelationshipType, (*known.relationships, answers), strict=True)
                }
            ),
            aliases=known.aliases,
            embedded=known.embedded,
            to_embed=known.texts - known.embedded,
            chunker=self.chunker,
        )

    def waiting_texts(self) -> WaitingTexts:
        """Return the numbers of texts that :meth:`info` has counted in the state that was read last; zeros if it has
        not. The server is not asked.
        """
        state = self._cache.latest_state()
        known = None if state is None else self._cache.counted.find(state.key, [_COUNTED]).get(_COUNTED)
        if known is None:
            return NONE_KNOWN
        return WaitingTexts(known.texts - known.embedded, known.texts)

    @property
    def chunker(self) -> str | None:
        found = self._connection.read(cypher.READ_CHUNKER)
        return (found[0][0] or BLOCKS) if found and found[0][1] else None

    @property
    def links_pending(self) -> bool:
        found = self._connection.read(cypher.READ_LINKS_PENDING)
        return bool(found) and bool(found[0][0])

    @property
    def fusion_decision(self) -> str | None:
        found = self._connection.read(cypher.READ_FUSION)
        return None if not found or found[0][0] is None else str(found[0][0])

    def fetch(self, chunks: Sequence[str]) -> list[ChunkRecord]:
        found = self._connection.read(cypher.CHUNKS, {"chunks": list(dict.fromkeys(chunks))})[0][0]
        records = {row[0]: _chunk_record(*row) for row in found}
        for uri in chunks:
            if uri not in records:
                raise unknown_chunk(uri)
        return [records[uri] for uri in chunks]

    def thumbnails(self, chunks: Sequence[str]) -> dict[str, bytes]:
        asked = list(dict.fromkeys(chunks))
        found = dict(self._connection.read(cypher.THUMBNAILS, {"chunks": asked})[0][0])
        return {uri: decode_thumbnail(found[uri]) for uri in asked if uri in found}

    def page_text(self, page: str) -> str:
        found = self._connection.read(cypher.PAGE_TEXT, {"page": page})
        if not found:
            raise unknown_page(page)
        return str(found[0][0])

    def outline(self, pages: Sequence[str]) -> dict[str, list[str]]:
        found = dict(self._connection.read(cypher.OUTLINES, {"pages": list(dict.fromkeys(pages))})[0][0])
        return {page: [uri for _, uri in sorted(found.get(page, []))] for page in pages}

    def cited(self, chunks: Sequence[str]) -> dict[str, list[str]]:
        found = dict(self._connection.read(cypher.CITED, {"chunks": list(dict.fromkeys(chunks))})[0][0])
        return {chunk: [uri for _, uri in sorted(found.get(chunk, []))] for chunk in chunks}

    def cited_sections(self, chunks: Sequence[str]) -> dict[str, list[str]]:
        asked = {"chunks": list(dict.fromkeys(chunks)), "separator": SEPARATOR}
        found: dict[str, dict[str, None]] = {chunk: {} for chunk in chunks}
        for chunk, _, section in sorted(self._connection.read(cypher.CITED_SECTIONS, asked)[0][0]):
            found[chunk][section] = None
        return {chunk: list(sections) for chunk, sections in found.items()}

    def expand(self, uris: Sequence[str], hop: Hop) -> dict[str, list[str]]:
        found = dict(self._connection.read(cypher.expand(hop), {"uris": list(dict.fromkeys(uris))})[0][0])
        return {uri: _in_reading_order(found.get(uri, [])) for uri in uris}

    def chunk_uris(self) -> list[str]:
        found = (
            row for part in self._connection.batches(scanning.CHUNK_POSITIONS, _ROWS_A_READ) for row in part
        )
        return _in_reading_order([(uri, position) for position, uri in found])

    def relations(self, entities: Sequence[str]) -> list[RelationEdge]:
        found = self._connection.read(cypher.RELATIONS, {"entities": list(dict.fromkeys(entities))})[0][0]
        return [RelationEdge(*relation) for relation in sorted(found)]

    def resolve(self, titles: Sequence[str]) -> dict[str, str]:
        found = dict(self._connection.read(cypher.RESOLVE, {"titles": list(dict.fromkeys(titles))})[0][0])
        return {title: found[title] for title in titles if title in found}

    def lookup_names(self, names: Sequence[str]) -> dict[str, str]:
        best: dict[str, tuple[int, bool, int, str]] = {}
        for name, kind, bare, cited, uri in self._connection.read(
            cypher.NAMED, {"names": list(dict.fromkeys(names))}
        )[0][0]:
            meaning = (kind, bare, -cited, uri)
            best[name] = min(best.get(name, meaning), meaning)
        return {name: best[name][-1] for name in names if name in best}

    def names(self) -> Iterator[tuple[str, str]]:
        """Iterate over (title or alias, page uri), by page: its title first, then its aliases sorted by uri."""
        found = [
            (page, aliases)
            for part in self._connection.batches(scanning.NAMES, _ROWS_A_READ)
            for aliases, page in part
        ]
        return iter(
            [(unescape(uri), page) for page, aliases in sorted(found) for uri in (page, *sorted(aliases))]
        )

    def names_like(self, forms: Sequence[str]) -> Iterable[tuple[str, str]]:  # noqa: ARG002 - returns all
        return self.names()

    def aliases(self) -> list[str]:
        parts = self._connection.batches(scanning.NAMES, _ROWS_A_READ)
        return [unescape(uri) for uri in sorted(uri for part in parts for own, _ in part for uri in own)]

    def pages(self, after: str | None = None, limit: int | None = None) -> list[PageRecord]:
        """Return pages sorted by uri, at most ``limit`` with a uri greater than ``after``. Only these are read, through
        the uri index, which is sorted by code points.
        """
        if limit is None:
            rows = [row for part in self._connection.batches(scanning.PAGES, _ROWS_A_READ) for row in part]
        else:
            # One more than requested, since the page with the uri ``after`` may come first.
            asked = {"after": after or "", "limit": max(limit, 0) + 1}
            rows = self._connection.read(scanning.PAGES, asked, whole=True)[0][0]
        found = sorted((page_record(*row) for row in stopping.each(rows)), key=lambda page: page.uri)
        return [page for page in found if after is None or page.uri > after][
            : None if limit is None else max(limit, 0)
        ]

    def find_pages(self, uris: Sequence[str]) -> dict[str, PageRecord]:
        asked = list(dict.fromkeys(uris))
        found = {
            row[-1]: page_record(*row)
            for row in self._connection.read(cypher.PAGE_RECORDS, {"uris": asked}, whole=True)[0][0]
        }
        return {uri: found[uri] for uri in asked if uri in found}

    def pages_with_words(self, names: Sequence[str], *, source: str = "", mark: str = "") -> list[PageRecord]:
        """Return pages, sorted by uri, that may mention one of the names; see
        :meth:`trivium.graph.protocols.PageReader.pages_with_words`. The server reads all texts. For each name it looks
        for the longest word of ASCII letters and digits; a name without one may be anywhere.
        """
        plain = (filter(str.isascii, name.split(" ")) for name in names)
        words = list(dict.fromkeys(max(own, key=len, default="") for own in plain))
        return self._found_pages(cypher.PAGES_SAYING, {"words": words, "source": source, "mark": mark})

    def pages_at(self, paths: Sequence[str]) -> list[PageRecord]:
        return self._found_pages(cypher.PAGES_AT, {"paths": list(filter(None, paths))})

    def pages_of_files(self, names: Sequence[str]) -> list[PageRecord]:
        return self._found_pages(cypher.PAGES_OF_FILES, {"names": list(filter(None, names))})

    def unlinked_pages(self) -> list[str]:
        return sorted(self._connection.read(cypher.UNLINKED_PAGES, {}, whole=True)[0][0])

    def _found_pages(self, query: LiteralString, asked: dict[str, Any]) -> list[PageRecord]:
        rows = self._connection.read(query, asked, whole=True)[0][0]
        return sorted((page_record(*row) for row in rows), key=lambda page: page.uri)

    def count_pages(self) -> int:
        return int(self._connection.read(cypher.COUNT_PAGES)[0][0])

    def page_graphs(self, uris: Sequence[str] | None = None) -> Iterator[PageGraph]:
        """Iterate over pages with all their current relations and aliases, sorted by uri or in the order asked (unknown
        ones are skipped). They are read in batches; pages removed meanwhile are skipped.
        """
        asked = [page.uri for page in self.pages()] if uris is None else uris
        for part in batched(asked, _PAGES_A_READ):
            found = {
                row[0]: row
                for row in self._connection.read(scanning.PAGE_GRAPHS, {"uris": list(dict.fromkeys(part))})
            }
            yield from (read_graph(*found[uri]) for uri in part if uri in found)

    def named_in(self, names: Sequence[str]) -> Iterator[tuple[str, str, str]]:
        """See the protocol. Reads the names of all chunks: items of lists have no index, and a surname or an acronym in a
        text has other words than the name.
        """
        found = self._connection.read(cypher.NAMED_IN, {"names": list(dict.fromkeys(names))}, whole=True)[0][
            0
        ]
        return iter(sorted((uri, chunk, place.split(" ", 2)[2]) for uri, chunk, place in found))

    @property
    def entities(self) -> str | None:
        return self._cache.state(self._connection).entities

    def types(self, entities: Sequence[str] | None = None) -> dict[str, str]:
        if entities is not None:
            asked = {"entities": list(dict.fromkeys(entities))}
            of_entities = self._connection.read(cypher.TYPES_OF, asked)[0][0]
            return {uri: kind for uri, kind in sorted(of_entities) if kind is not None}
        found = (row for part in self._connection.batches(scanning.TYPES, _ROWS_A_READ) for row in part)
        return dict(sorted((uri, kind) for kind, uri in found))


def _chunk_record(uri: str, *rest: Any) -> ChunkRecord:
    *own, first, last, document, format_, metadata = rest
    pages = None if first is None else (first, last)
    facts = [pages, document, format_, decode_metadata(metadata)]
    return ChunkRecord(uri, page_of(uri), *[section_of(uri), *own, *facts])


def _in_reading_order(chunks: Sequence[tuple[str, int]]) -> list[str]:
    """Sort (uri, position) by page and position and return the uris."""
    return [uri for uri, _ in sorted(chunks, key=lambda chunk: (page_of(chunk[0]), chunk[1]))]
