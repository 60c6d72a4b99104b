"""The interface of chunkers, and splitting pages again.

A chunker gets a parsed page and returns it with other chunks. Everything else is kept: sections, links, the pages of a
paginated document, the kinds of blocks. Chunks are ranges of the page's text and never cross a heading.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from trivium.types import Chunk, ChunkKind, Link, Page

Span = tuple[int, int]
"""First character of a piece, and the one after its last."""

Cut = Callable[[str], Sequence[Span]]
"""Splits the text of a section into pieces ordered by start and end. They may overlap; white space around them is
trimmed.
"""


class Chunker(Protocol):
    """Splits pages into chunks. Must be deterministic."""

    @property
    def spec(self) -> str:
        """Its name with sizes, such as ``fixed:300/50``, which is saved with a store."""
        ...

    @property
    def portable(self) -> bool:
        """Whether it can run in the parser processes. A chunker that uses a model runs where the model is loaded."""
        ...

    def rechunk(self, page: Page) -> Page:
        """Return the page with new chunks. ``page.text[chunk.start:chunk.end] == chunk.text`` must hold for each."""
        ...


def recut(page: Page, cut: Cut) -> Page:
    """Return the page with each section's text split by a function. Pictures are kept because they have no text to
    split.
    """
    return replace(
        page,
        chunks=tuple(_recut(page.text, page.chunks, cut)),
        sections=tuple(
            replace(section, chunks=tuple(_recut(page.text, section.chunks, cut)))
            for section in page.sections
        ),
    )


def runs_of(text: str, chunks: Sequence[Chunk]) -> Iterator[list[Chunk]]:
    """Group consecutive chunks of a section that are separated only by white space. A picture is a group of its own."""
    run: list[Chunk] = []
    for chunk in chunks:
        if run and not _follows(text, run[-1], chunk):
            yield run
            run = []
        run.append(chunk)
    if run:
        yield run


def span_of(run: Sequence[Chunk]) -> Span:
    """Return the range from the first character of a run to its last."""
    return run[0].start, run[-1].end


def _follows(text: str, before: Chunk, chunk: Chunk) -> bool:
    if ChunkKind.IMAGE in (before.kind, chunk.kind) or chunk.start < before.end:
        return False
    return not text[before.end : chunk.start].strip()


def _recut(text: str, chunks: Sequence[Chunk], cut: Cut) -> Iterator[Chunk]:
    for run in runs_of(text, chunks):
        if run[0].kind == ChunkKind.IMAGE:
            yield from run
            continue
        begin, end = span_of(run)
        pieces = _trimmed(text, ((begin + a, begin + b) for a, b in cut(text[begin:end])))
        # A section of marks alone (such as "* * *") would lose them, and its links, so it is kept.
        yield from pieces_of(text, run, pieces) if pieces else run


def _trimmed(text: str, spans: Iterator[Span]) -> list[Span]:
    """Trim white space around pieces, and drop pieces without letters and digits."""
    kept: list[Span] = []
    for start, end in spans:
        piece = text[start:end]
        if any(map(str.isalnum, piece)):
            kept.append((start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())))
    return kept


def pieces_of(text: str, run: Sequence[Chunk], spans: Sequence[Span]) -> Iterator[Chunk]:
    """Create the chunks of a run for these spans: each with the links and pages of its content, and the kind of the
    largest part of it, or code if some of it is code.
    """
    starts, ends = [chunk.start for chunk in run], [chunk.end for chunk in run]
    links = _links(run, spans)
    for (start, end), own in zip(spans, links, strict=True):
        # Blocks that overlap the piece.
        blocks = run[bisect_right(ends, start) : bisect_left(starts, end)]
        shares = [min(end, block.end) - max(start, block.start) for block in blocks]
        main = blocks[shares.index(max(shares))]
        kind = ChunkKind.CODE if any(block.kind is ChunkKind.CODE for block in blocks) else main.kind
        paged = [block.pages for block in blocks if block.pages is not None]
        yield replace(
            main,
            kind=kind,
            text=text[start:end],
            start=start,
            end=end,
            links=tuple(own),
            pages=(min(first for first, _ in paged), max(last for _, last in paged)) if paged else None,
            references=tuple(dict.fromkeys(address for block in blocks for address in block.references)),
        )


def _links(run: Sequence[Chunk], spans: Sequence[Span]) -> list[list[Link]]:
    """Return the links that begin in each piece, cut at its end. A link that begins in no piece (it has no text and
    lies between two) belongs to the piece before it.
    """
    firsts, ends = [start for start, _ in spans], [end for _, end in spans]
    own: list[list[Link]] = [[] for _ in spans]
    for link in (link for chunk in run for link in chunk.links):
        holding = range(bisect_right(ends, link.start), bisect_right(firsts, link.start))
        for piece in holding or [max(0, bisect_right(firsts, link.start) - 1)]:
            start, end = spans[piece]
            first = min(max(link.start, start), end)
            own[piece].append(Link(link.target, first, max(first, min(link.end, end))))
    return own
