"""A parsed page as nodes and relationships. Pure: no store, no clock, no order but the page's own."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from trivium.errors import InputError
from trivium.graph.link_fragments import section_anchors, section_link
from trivium.graph.page_graph import ChunkNode, Name, PageGraph, RelationEdge, SectionNode
from trivium.graph.schema import MAX_URI_BYTES, chunk_uri, headings_as_text, page_uri, section_uri
from trivium.metadata import clean
from trivium.parser.documents.formats import document_formats
from trivium.settings.limits import DEFAULT_LIMITS, InputLimits
from trivium.text.headings_in_passages import body_of, with_headings
from trivium.text.normalise import count_tokens, normalise_heading, normalise_title, terms
from trivium.types import Chunk, MetadataValue, Page

_LOOKS_LIKE_A_CHUNK = re.compile(r"chunk-\d+")
RULES = "3"
"""Bumped when the same page would give other nodes, so that stores notice on the next load."""
# How much of a name an error message shows.
_SHOWN = 60


def build(page: Page, limits: InputLimits = DEFAULT_LIMITS) -> PageGraph:
    """The part of the graph that one page contributes.

    Raises InputError when the page has no title, or when a uri or relation type it brings (its own, of a section,
    a chunk, an alias, a link's target) is longer than MAX_URI_BYTES, or when all of it together is larger than
    ``limits.graph_bytes``: the names of the sections are in the uri of every chunk below them. Aliases
    equal to the title are dropped.
    """
    page = with_headings(page)
    title = normalise_title(page.title)
    if not title:
        raise InputError(f"a page needs a title, got {page.title!r} (source: {page.source or 'unknown'})")
    uri = page_uri(title)
    _check_length("title", uri, uri, page.source)
    size = _Size(uri, limits.graph_bytes)
    sections = _sections(page, uri, size)
    chunks = _chunks(page, uri, sections, size)
    aliases = {page_uri(normalise_title(alias)) for alias in page.aliases} - {uri, ""}
    relations = dict.fromkeys(
        RelationEdge(uri, relation.type, page_uri(relation.target)) for relation in page.relations
    )
    graph = PageGraph(
        uri=uri,
        text=page.text,
        source=page.source,
        revision=page.revision,
        content_hash="",
        aliases=tuple(sorted(aliases)),
        sections=sections,
        chunks=chunks,
        relations=tuple(edge for edge in relations if edge.target != uri),
        format=page.format,
        path=page.path,
        modified=page.modified,
        metadata=clean(page.metadata),
        missing=page.missing,
    )
    _check_lengths(graph)
    return _with_hash(graph)


def renamed(graph: PageGraph, uri: str) -> PageGraph:
    """The same page under another uri: with those of its sections and chunks, the terms of their headings, and the hash.
    Raises InputError when one of them becomes too long."""
    old = graph.uri
    _check_length("title", uri, uri, graph.source)

    def moved(name: str) -> str:
        return uri + name[len(old) :]

    sections = tuple(
        replace(section, uri=moved(section.uri), parent=moved(section.parent)) for section in graph.sections
    )
    words: dict[str, str] = {}
    chunks = []
    for chunk in graph.chunks:
        parent = moved(chunk.parent)
        if parent not in words:
            words[parent] = " ".join(terms(" ".join(headings_as_text(parent))))
        chunks.append(replace(chunk, uri=moved(chunk.uri), parent=parent, heading_terms=words[parent]))
    relations = tuple(
        one._replace(source=uri if one.source == old else one.source, chunk=one.chunk and moved(one.chunk))
        for one in graph.relations
    )
    aliases = tuple(alias for alias in graph.aliases if alias != uri)
    changed = replace(
        graph, uri=uri, sections=sections, chunks=tuple(chunks), relations=relations, aliases=aliases
    )
    for section in sections:
        _check_length("section path", section.uri, uri, graph.source)
    _check_lengths(changed)
    return _with_hash(changed)


def linked(graph: PageGraph, cited: Callable[[ChunkNode, PageGraph], Iterable[tuple[str, str]]]) -> PageGraph:
    """The same page whose chunks cite, in place of the addresses they refer to, what ``cited`` says of each: uris, in
    order, each with the anchor of the section that is meant (:func:`trivium.graph.link_fragments.anchor_of`), or an
    empty one. Those too long for a uri are left out."""
    if not any(chunk.references for chunk in graph.chunks):
        return graph
    chunks = tuple(
        _citing(chunk, cited(chunk, graph)) if chunk.references else chunk for chunk in graph.chunks
    )
    return _with_hash(replace(graph, chunks=chunks))


def _citing(chunk: ChunkNode, further: Iterable[tuple[str, str]]) -> ChunkNode:
    short = [(name, anchor) for name, anchor in further if _is_short(name)]
    return replace(
        chunk,
        references=(),
        cites=tuple(dict.fromkeys([*chunk.cites, *(name for name, _ in short)])),
        anchors=tuple(dict.fromkeys(section_link(name, anchor) for name, anchor in short if anchor)),
    )


def with_names(
    graph: PageGraph, names: Iterable[Sequence[Name]], relations: Iterable[RelationEdge] = ()
) -> PageGraph:
    """The page with the names of each of its chunks, and further relations. Those too long for a uri are left out."""
    chunks = tuple(
        replace(chunk, names=tuple(name for name in own if _is_short(name.uri)))
        for chunk, own in zip(graph.chunks, names, strict=True)
    )
    own_edges = {edge.triple: edge for edge in graph.relations}
    edges = {edge.triple: edge for edge in relations if all(map(_is_short, edge.triple))} | own_edges
    return _with_hash(replace(graph, chunks=chunks, relations=tuple(edges.values())))


def _is_short(uri: str) -> bool:
    return len(uri.encode("utf-8", "surrogatepass")) <= MAX_URI_BYTES


def with_metadata(graph: PageGraph, metadata: Mapping[str, MetadataValue]) -> PageGraph:
    """The page with metadata that its user gives it; they win over its own."""
    kept = clean({**metadata, **graph.metadata, **metadata})
    given = tuple(sorted(key for key in metadata if key in kept))
    return _with_hash(replace(graph, metadata=kept, given=given))


def with_origin(graph: PageGraph, source: str, path: str, modified: str | None) -> PageGraph:
    """The page with another source, path and time of its last change."""
    return _with_hash(replace(graph, source=source, path=path, modified=modified))


class _Size:
    """What a page has become so far, in characters."""

    def __init__(self, uri: str, limit: int) -> None:
        self._uri = uri
        self._limit = limit
        self._total = 0

    def add(self, count: int) -> None:
        """Raises InputError when it is too much."""
        self._total += count
        if self._total > self._limit:
            raise InputError(
                f"page {_brief(self._uri)}: its texts, names and uris together are larger than the limit of"
                f" {self._limit >> 20} MB: split it into pages"
            )


def _check_lengths(graph: PageGraph) -> None:
    for what, name in _names(graph):
        _check_length(what, name, graph.uri, graph.source)


def _check_length(what: str, name: str, page: str, source: str) -> None:
    size = len(name.encode("utf-8", "surrogatepass"))
    if size > MAX_URI_BYTES:
        raise InputError(
            f"page {_brief(page)}: expected names of at most {MAX_URI_BYTES} bytes of UTF-8, got a {what} of "
            f"{size} bytes, {_brief(name)} (source: {source or 'unknown'}); shorten it there"
        )


def _names(graph: PageGraph) -> Iterator[tuple[str, str]]:
    """What a store keeps in an index, and what it is; title and section paths are checked before."""
    for alias in graph.aliases:
        yield "redirect", alias
    for chunk in graph.chunks:
        yield "chunk uri", chunk.uri
        for title in chunk.cites:
            yield "link target", title
    for relation in graph.relations:
        yield "relation type", relation.type
        yield "relation target", relation.target


def _brief(name: str) -> str:
    return repr(name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…")


def _sections(page: Page, uri: str, size: _Size) -> tuple[SectionNode, ...]:
    nodes: list[SectionNode] = []
    format = document_formats().get(page.format)
    known = format is not None and format.anchored and bool(page.path)
    anchors = section_anchors(page.sections) if known else [()] * len(page.sections)
    taken: dict[str, int] = {}
    for position, section in enumerate(page.sections):
        parent = uri if section.parent is None else nodes[section.parent].uri
        own = _free_uri(parent, normalise_heading(section.heading) or "Untitled", taken)
        # At once, not with the other names: a long heading is in the path of every section below it.
        _check_length("section path", own, uri, page.source)
        size.add(len(own) + len(parent))
        nodes.append(SectionNode(own, parent, section.level, position, anchors[position]))
    return tuple(nodes)


def _free_uri(parent: str, heading: str, taken: dict[str, int]) -> str:
    """The section's uri; a repeated path gets `` (2)``, and so does a heading that reads like a chunk's name.

    ``taken`` holds the uris that are in use, each with the lowest number that may be free for another one of its path.
    """
    plain = uri = section_uri(parent, heading)
    number = taken.get(plain, 2)
    if plain in taken or _LOOKS_LIKE_A_CHUNK.fullmatch(heading):
        while (uri := section_uri(parent, f"{heading} ({number})")) in taken:
            number += 1
        taken[plain] = number + 1
    taken[uri] = taken.get(uri, 2)
    return uri


def _chunks(page: Page, uri: str, sections: tuple[SectionNode, ...], size: _Size) -> tuple[ChunkNode, ...]:
    nodes: list[ChunkNode] = []
    parents = [(uri, page.chunks)]
    parents += [(node.uri, section.chunks) for node, section in zip(sections, page.sections, strict=True)]
    for parent, chunks in parents:
        if not chunks:
            continue
        headings = headings_as_text(parent)
        heading_terms = " ".join(terms(" ".join(headings)))
        for number, chunk in enumerate(chunks, start=1):
            node = _chunk(chunk, parent, number, len(nodes), heading_terms, headings)
            cites = sum(map(len, node.cites))
            size.add(2 * len(parent) + len(node.text) + len(node.terms) + len(heading_terms) + cites)
            nodes.append(node)
    return tuple(nodes)


def _chunk(
    chunk: Chunk, parent: str, number: int, position: int, heading_terms: str, headings: Sequence[str]
) -> ChunkNode:
    body = body_of(chunk.text, headings)
    cites = dict.fromkeys(page_uri(link.target) for link in chunk.links)
    return ChunkNode(
        uri=chunk_uri(parent, number),
        parent=parent,
        text=chunk.text,
        kind=str(chunk.kind),
        position=position,
        start=chunk.start,
        end=chunk.end,
        token_count=count_tokens(body),
        cites=tuple(cites),
        terms=" ".join(terms(body)),
        heading_terms=heading_terms,
        pages=chunk.pages,
        references=chunk.references,
        thumbnail=chunk.thumbnail,
    )


def _with_hash(graph: PageGraph) -> PageGraph:
    """Aliases stay out of the hash: a page's own copy does not list its redirects, so they accumulate."""
    content: list[object] = [
        RULES,
        graph.uri,
        graph.text,
        graph.revision,
        [(s.uri, s.level) for s in graph.sections],
        [(c.uri, c.kind, c.start, c.end, c.cites) for c in graph.chunks],
        [(r.type, r.target) for r in graph.relations],
    ]
    # What encyclopaedia pages do not have is left out where it is missing, so that their hashes stay what they were.
    facts = [
        graph.modified,
        sorted(graph.metadata.items()),
        [(c.pages, c.references) for c in graph.chunks if c.pages or c.references],
    ]
    if any(facts):
        content.append([graph.format, *facts])
    if graph.given:
        content.append(["given", graph.given])
    # A page is loaded again when a picture that it shows has changed, or has a thumbnail for the first time.
    thumbnails = [
        (c.uri, hashlib.blake2b(c.thumbnail, digest_size=16).hexdigest()) for c in graph.chunks if c.thumbnail
    ]
    if thumbnails:
        content.append(thumbnails)
    anchors = [[s.anchors for s in graph.sections], [c.anchors for c in graph.chunks]]
    if any(map(any, anchors)):
        content.append(anchors)
    if any(c.names for c in graph.chunks):
        content.append(["names", [c.names for c in graph.chunks]])
    if evidence := [relation for relation in graph.relations if relation.chunk]:
        content.append(["evidence", evidence])
    encoded = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(encoded, digest_size=16).hexdigest()
    return replace(graph, content_hash=digest)
