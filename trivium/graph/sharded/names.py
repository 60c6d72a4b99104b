"""Names that several stores know, each from its own documents: which node is meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from trivium.graph.anchors import section_link, split_link
from trivium.graph.model import ChunkNode, PageGraph
from trivium.graph.protocols import GraphReader, PageReader
from trivium.graph.schema import Hop, page_of, unescape
from trivium.text import normalise_name


class Named(GraphReader, PageReader, Protocol):
    """The part of a shard that is asked here."""


class _Linked(Protocol):
    def page_graphs(self, uris: Sequence[str] | None = None) -> Iterator[PageGraph]: ...

    def resolve(self, titles: Sequence[str]) -> Mapping[str, str]: ...


def resolve(shards: Sequence[Named], titles: Sequence[str]) -> dict[str, str]:
    """Map titles to entities. The title of a page is that page; what a shard only cites may be the alias of a page of
    another one.
    """
    found: dict[str, list[str]] = {}
    for shard in shards:
        for title, uri in shard.resolve(titles).items():
            found.setdefault(title, []).append(uri)
    unsure = [title for title, uris in found.items() if len(set(uris)) > 1]
    pages = {uri for shard in shards for uri in shard.find_pages(unsure)} if unsure else set()
    return {
        title: title if title in pages else min(uris, key=lambda uri: (uri == title, uri))
        for title, uris in ((title, found[title]) for title in titles if title in found)
    }


def lookup_names(shards: Sequence[Named], names: Sequence[str]) -> dict[str, str]:
    """Map normalised names to entities. If shards disagree, the rules are those of
    :meth:`trivium.graph.protocols.GraphReader.lookup_names`, among the entities that shards have chosen.
    """
    found: dict[str, dict[str, None]] = {}
    for shard in shards:
        for name, uri in shard.lookup_names(names).items():
            found.setdefault(name, {})[uri] = None
    rivals = {name: list(uris) for name, uris in found.items() if len(uris) > 1}
    if rivals:
        stands_for = resolve(shards, list({uri for uris in rivals.values() for uri in uris}))
        for name, uris in rivals.items():
            found[name] = dict.fromkeys(stands_for[uri] for uri in uris)
            if len(found[name]) > 1:
                found[name] = {_best(shards, name, list(found[name])): None}
    return {name: next(iter(found[name])) for name in names if name in found}


def _best(shards: Sequence[Named], name: str, uris: Sequence[str]) -> str:
    pages = {uri for shard in shards for uri in shard.find_pages(uris)}
    aliases = {
        page for shard in shards for title, page in shard.names_like([name]) if normalise_name(title) == name
    }
    citing = [shard.expand(uris, Hop.CITED_IN) for shard in shards]

    def rank(uri: str) -> tuple[int, bool, int, str]:
        kind = 0 if normalise_name(unescape(uri)) == name else 1 if uri in aliases else 2
        return kind, uri not in pages, -sum(len(chunks[uri]) for chunks in citing), uri

    return min(uris, key=rank)


def cited_sections(store: _Linked, chunks: Sequence[str]) -> dict[str, list[str]]:
    """Return the sections that each chunk's links refer to by an anchor, wherever the pages of links are."""
    pages = list(dict.fromkeys(map(page_of, chunks)))
    own = [chunk for page in store.page_graphs(pages) for chunk in page.chunks if chunk.anchors]
    links = {
        chunk.uri: [split_link(anchor) for anchor in chunk.anchors] for chunk in own if chunk.uri in chunks
    }
    uris = store.resolve(sorted({title for of_chunk in links.values() for title, _ in of_chunk}))
    sections = {
        (page.uri, anchor): section.uri
        for page in store.page_graphs(sorted(set(uris.values())))
        for section in page.sections
        for anchor in section.anchors
    }
    found = {
        chunk: [sections.get((uris.get(title, title), anchor)) for title, anchor in links.get(chunk, ())]
        for chunk in chunks
    }
    return {chunk: list(dict.fromkeys(filter(None, uris))) for chunk, uris in found.items()}


def linked_titles(pages: Sequence[PageGraph]) -> list[str]:
    """Return the titles that links and relations of pages name."""
    titles: set[str] = set()
    for page in pages:
        titles.update(title for chunk in page.chunks for title in chunk.cites)
        titles.update(title for edge in page.relations for title in (edge.source, edge.target))
    return sorted(titles)


def with_links_to(pages: Sequence[PageGraph], uris: Mapping[str, str]) -> list[PageGraph]:
    """Return pages that link to ``uris`` where they link to the titles. A store resolves aliases of its own pages by
    itself; those of pages elsewhere have to be resolved before it gets the page.
    """
    others = {title: uri for title, uri in uris.items() if uri != title}
    return [_resolved(page, others) for page in pages] if others else list(pages)


def _resolved(page: PageGraph, uris: Mapping[str, str]) -> PageGraph:
    relations = (
        edge._replace(source=uris.get(edge.source, edge.source), target=uris.get(edge.target, edge.target))
        for edge in page.relations
    )
    return replace(
        page,
        chunks=tuple(_with_links(chunk, uris) for chunk in page.chunks),
        relations=tuple(dict.fromkeys(relations)),
    )


def _with_links(chunk: ChunkNode, uris: Mapping[str, str]) -> ChunkNode:
    if not any(title in uris for title in chunk.cites):
        return chunk
    links = (split_link(link) for link in chunk.anchors)
    return replace(
        chunk,
        cites=tuple(dict.fromkeys(uris.get(title, title) for title in chunk.cites)),
        anchors=tuple(dict.fromkeys(section_link(uris.get(title, title), anchor) for title, anchor in links)),
    )
