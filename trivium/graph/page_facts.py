"""What every store does with pages alike: their facts, as it writes them down, their digest, which of several versions it
keeps, which chunker cut them, and reading them all.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import chain
from pathlib import PurePath
from typing import Any, Protocol

from trivium.errors import ChunkerMismatchError
from trivium.graph.page_graph import ChunkNode, PageGraph, SectionNode
from trivium.graph.records import PageRecord, WriteReport
from trivium.types import MetadataValue


def now() -> str:
    """The time of day in UTC, to the second, as ISO 8601 writes it: ``2026-11-23T16:45:00Z``."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def encode_metadata(metadata: Mapping[str, MetadataValue], given: Collection[str] = ()) -> str:
    """Metadata as JSON, its keys in order, so that the same metadata is the same text. What the user has ``given`` stands
    in brackets.

    >>> encode_metadata({"year": 2020, "author": "Ada"}, given=["year"])
    '{"author":"Ada","year":[2020]}'
    """
    written = {key: [value] if key in given else value for key, value in metadata.items()}
    return json.dumps(written, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def decode_metadata(text: str | None) -> dict[str, MetadataValue]:
    """The metadata of :func:`encode_metadata`; none for None."""
    facts: dict[str, Any] = json.loads(text) if text else {}
    return {key: value[0] if isinstance(value, list) else value for key, value in facts.items()}


def decode_given(text: str | None) -> tuple[str, ...]:
    """The keys in :func:`encode_metadata` that the user has given, in order.

    >>> decode_given('{"author":"Ada","year":[2020]}')
    ('year',)
    """
    facts: dict[str, Any] = json.loads(text) if text and "[" in text else {}
    return tuple(sorted(key for key, value in facts.items() if isinstance(value, list)))


def page_record(
    source: str,
    revision: int | None,
    content_hash: str,
    format_: str,
    path: str,
    modified: str | None,
    metadata: str | None,
    added: str | None,
    uri: str,
) -> PageRecord:
    """A page of its facts, as stores keep them."""
    facts, given = decode_metadata(metadata), decode_given(metadata)
    return PageRecord(uri, source, revision, content_hash, format_, path, modified, facts, added, given)


def document_name(document: str) -> str:
    """What a document is called to whoever asks: where files lie on this machine is nobody's business.

    >>> document_name("records:/home/ada/notes.jsonl"), document_name("reports/1.pdf")
    ('notes.jsonl', 'reports/1.pdf')
    """
    name = document.removeprefix("records:")
    if ":" not in name and not name.startswith(("/", "\\")):  # cheaper than a path, which each hit would make
        return name
    return PurePath(name).name if PurePath(name).is_absolute() else name


def has_facts(page: PageGraph) -> bool:
    """Whether a page, or any of its chunks, knows more than pages of an encyclopaedia do."""
    return bool(page.format or page.path or page.modified is not None or page.metadata) or any(
        chunk.pages is not None for chunk in page.chunks
    )


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
        if isinstance(node, ChunkNode) and node.names:
            yield node.uri, *chain.from_iterable(node.names)


def _place(node: SectionNode | ChunkNode) -> tuple[int, str]:
    return node.position, node.uri


def latest(pages: Sequence[PageGraph]) -> dict[str, PageGraph]:
    """One page a uri: the higher revision, then the earlier. An unknown revision is the lowest."""
    chosen: dict[str, PageGraph] = {}
    for page in pages:
        other = chosen.get(page.uri)
        if other is None or _newer(page.revision, other.revision):
            chosen[page.uri] = page
    return chosen


def choose(
    pages: Mapping[str, PageGraph], stored: Mapping[str, tuple[str, int | None]]
) -> tuple[dict[str, PageGraph], list[str], WriteReport]:
    """Pages to load, those of them that replace a stored one, and the report.

    ``stored`` has content hash and revision of the pages that are there. A revision that is unknown on either side
    settles nothing: such a page is loaded.
    """
    loaded: dict[str, PageGraph] = {}
    replaced: list[str] = []
    skipped: list[str] = []
    unchanged = 0
    for uri, page in pages.items():
        if uri in stored:
            content_hash, revision = stored[uri]
            if page.content_hash == content_hash:
                unchanged += 1
                continue
            if _newer(revision, page.revision) and page.revision is not None:
                skipped.append(uri)
                continue
            replaced.append(uri)
        loaded[uri] = page
    return (
        loaded,
        replaced,
        WriteReport(len(loaded) - len(replaced), len(replaced), unchanged, tuple(skipped)),
    )


def _newer(revision: int | None, than: int | None) -> bool:
    return revision is not None and (than is None or revision > than)


BLOCKS = "blocks"
"""The chunker of stores that remember none."""


def check_chunker(stored: str | None, wanted: str) -> None:
    """Raise ChunkerMismatchError where a store's pages (None: it has none) were cut by another chunker."""
    if stored is not None and stored != wanted:
        raise ChunkerMismatchError(
            f"the pages of the store were cut by the chunker {stored}, not by {wanted}: leave the chunker out, or build"
            " another store"
        )


PAGES_A_READ = 1_000


class PageLister(Protocol):
    """The part of a store that :func:`each_page` uses."""

    def pages(self, after: str | None = None, limit: int | None = None) -> Sequence[PageRecord]: ...


def each_page(store: PageLister) -> Iterator[PageRecord]:
    """Iterate over the pages sorted by uri, read in batches. Pages written meanwhile may or may not be included."""
    after: str | None = None
    while True:
        some = store.pages(after, PAGES_A_READ)
        yield from some
        if len(some) < PAGES_A_READ:
            return
        after = some[-1].uri
