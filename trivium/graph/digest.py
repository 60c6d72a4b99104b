"""A digest of what a store keeps of a page, to tell later whether it is still what was written."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

from trivium.graph.model import ChunkNode, PageGraph, SectionNode
from trivium.graph.page_facts import encode_metadata, has_facts


def page_digest(page: PageGraph) -> str:
    """128 bits of BLAKE2b, in hexadecimal, of a page with its sections, chunks and citations, and what it knows of
    itself. Where it knows nothing, the digest is what it was before there were such facts.

    Not of its relations and aliases: those come and go while the page stays. Raises UnicodeEncodeError for a text with a
    lone surrogate.
    """
    whole = blake2b(digest_size=16)
    for values in (
        (page.uri, page.source, page.revision, page.content_hash, page.text),
        *(
            (section.uri, section.parent, section.level, section.position)
            for section in sorted(page.sections, key=_place)
        ),
        *(
            (
                chunk.uri,
                chunk.parent,
                chunk.kind,
                chunk.position,
                chunk.start,
                chunk.end,
                chunk.token_count,
                *dict.fromkeys(chunk.cites),
                " ".join(chunk.heading_terms.split()),
                " ".join(chunk.terms.split()),
                chunk.text,
            )
            for chunk in sorted(page.chunks, key=_place)
        ),
        *_facts(page),
    ):
        whole.update("\x1f".join(map(str, values)).encode())
        whole.update(b"\x1e")
    return whole.hexdigest()


def _facts(page: PageGraph) -> Iterator[tuple[object, ...]]:
    if has_facts(page):
        yield page.format, page.path, page.modified, encode_metadata(page.metadata, page.given)
        for chunk in sorted(page.chunks, key=_place):
            if chunk.pages is not None:
                yield chunk.uri, *chunk.pages
    for chunk in sorted(page.chunks, key=_place):
        if chunk.thumbnail:
            yield chunk.uri, blake2b(chunk.thumbnail, digest_size=16).hexdigest()
    nodes: list[SectionNode | ChunkNode] = [
        *sorted(page.sections, key=_place),
        *sorted(page.chunks, key=_place),
    ]
    for node in nodes:
        if node.anchors:
            yield node.uri, *node.anchors


def _place(node: SectionNode | ChunkNode) -> tuple[int, str]:
    return node.position, node.uri
