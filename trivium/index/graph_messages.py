"""Serialises a page's graph as JSON messages between processes. They are small, so that parsing one does not block
the other threads of the receiving process.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any

from trivium.common.iteration import batched
from trivium.graph.page_graph import ChunkNode, Name, PageGraph, RelationEdge, SectionNode

_NODES_A_MESSAGE = 500
_THUMBNAILS = "thumbnails"
_THUMBNAILS_A_MESSAGE = 50
_VALUES = {
    kind: attrgetter(*(name for name in names if name != "thumbnail"))
    for kind, names in (
        ("sections", [field.name for field in fields(SectionNode)]),
        ("chunks", [field.name for field in fields(ChunkNode)]),
        ("relations", RelationEdge._fields),
    )
}
_PAGE_VALUES = attrgetter(
    "uri",
    "text",
    "source",
    "revision",
    "content_hash",
    "aliases",
    "format",
    "path",
    "modified",
    "differing",
    "missing",
)


def dump(message: object) -> bytes:
    """Serialise a message. Its texts may contain anything found in a document."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def load(message: bytes) -> Any:
    """Parse a message written by :func:`dump`."""
    return json.loads(message.decode("utf-8", "surrogatepass"))


def parts_of(graph: PageGraph) -> Iterator[list[Any]]:
    """Split a graph into messages for :class:`Joined`."""
    for kind, values in _VALUES.items():
        nodes = getattr(graph, kind)
        for start in range(0, len(nodes), _NODES_A_MESSAGE):
            yield [kind, [values(node) for node in nodes[start : start + _NODES_A_MESSAGE]]]
    pictures = ([i, b64encode(c.thumbnail).decode()] for i, c in enumerate(graph.chunks) if c.thumbnail)
    for some in batched(pictures, _THUMBNAILS_A_MESSAGE):
        yield [_THUMBNAILS, some]
    yield ["page", [*_PAGE_VALUES(graph), dict(graph.metadata)]]


class Joined:
    """Reassembles graphs from messages."""

    def __init__(self) -> None:
        self._nodes: dict[str, list[Sequence[Any]]] = {kind: [] for kind in (*_VALUES, _THUMBNAILS)}

    def add(self, kind: str, content: Any) -> PageGraph | None:
        """Add a message. Return the graph when it was the last one."""
        if kind in self._nodes:
            self._nodes[kind].extend(content)
            return None
        *own, aliases, format, path, modified, differing, missing, metadata = content
        uri, text, source, revision, content_hash = own
        nodes = self._nodes
        pictures = {number: b64decode(picture) for number, picture in nodes[_THUMBNAILS]}
        graph = PageGraph(
            uri=uri,
            text=text,
            source=source,
            revision=revision,
            content_hash=content_hash,
            aliases=tuple(aliases),
            sections=tuple(_section(*values) for values in nodes["sections"]),
            chunks=tuple(_chunk(values, pictures.get(i, b"")) for i, values in enumerate(nodes["chunks"])),
            relations=tuple(RelationEdge(*values) for values in nodes["relations"]),
            format=format,
            path=path,
            modified=modified,
            metadata=metadata,
            differing=tuple(differing),
            missing=tuple(missing),
        )
        for kept in nodes.values():
            kept.clear()
        return graph


def _section(uri: str, parent: str, level: int, position: int, anchors: Sequence[str]) -> SectionNode:
    return SectionNode(uri, parent, level, position, tuple(anchors))


def _chunk(values: Sequence[Any], thumbnail: bytes) -> ChunkNode:
    *own, pages, references, anchors, names = values
    uri, parent, text, kind, position, start, end, tokens, cites, terms, heading_terms = own
    return ChunkNode(
        uri=uri,
        parent=parent,
        text=text,
        kind=kind,
        position=position,
        start=start,
        end=end,
        token_count=tokens,
        cites=tuple(cites),
        terms=terms,
        heading_terms=heading_terms,
        pages=None if pages is None else (pages[0], pages[1]),
        references=tuple(references),
        thumbnail=thumbnail,
        anchors=tuple(anchors),
        names=tuple(Name(*name) for name in names),
    )
