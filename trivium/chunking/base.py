"""What a chunker is, and how a page is cut anew.

A chunker gets a parsed page and returns it with other chunks. What the parser knows is kept: sections, links, the pages
of a paginated document, the kinds of blocks. Pieces are ranges of the page's text, and none crosses a heading.
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
"""Cuts the text of a section into pieces: in order of their starts and of their ends, each within the text. They may
overlap; white space around them is taken off."""


class Chunker(Protocol):
    """Cuts pages into chunks. The same page gives the same chunks, every time."""

    @property
    def spec(self) -> str:
        """What it is called, with its sizes, such as ``fixed:300/50``; a store remembers it."""
        ...

    @property
    def portable(self) -> bool:
        """Whether the processes that parse can cut, too. One that asks a model works where the model is."""
        ...

    def rechunk(self, page: Page) -> Page:
        """The page with its chunks cut anew: ``page.text[chunk.start:chunk.end] == chunk.text`` for each."""
        ...


def recut(page: Page, cut: Cut) -> Page:
    """The page with each section's text cut by a function. Pictures stay as they are: they have no text to cut."""
    return replace(
        page,
        chunks=tuple(_recut(page.text, page.chunks, cut)),
        sections=tuple(
            replace(section, chunks=tuple(_recut(page.text, section.chunks, cut)))
            for section in page.sections
        ),
    )


def runs_of(text: str, chunks: Sequence[Chunk]) -> Iterator[list[Chunk]]:
    """Chunks of a section that follow one another, with nothing but white space between them; a picture is a run by
    itself."""
    run: list[Chunk] = []
    for chunk in chunks:
        if run and not _follows(text, run[-1], chunk):
            yield run
            run = []
        run.append(chunk)
    if run:
        yield run


def span_of(run: Sequence[Chunk]) -> Span:
    """From the first character of a run to its last."""
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
        # A section of marks alone ("* * *" by its blocks) would lose them, and its links: it stays as it is.
        yield from pieces_of(text, run, pieces) if pieces else run


def _trimmed(text: str, spans: Iterator[Span]) -> list[Span]:
    """Pieces without white space around them; those without a letter or digit are left out."""
    kept: list[Span] = []
    for start, end in spans:
        piece = text[start:end]
        if any(map(str.isalnum, piece)):
            kept.append((start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())))
    return kept


def pieces_of(text: str, run: Sequence[Chunk], spans: Sequence[Span]) -> Iterator[Chunk]:
    """The chunks of a run, cut or joined to these spans: each with the links and pages of what it holds, and the kind
    of what it holds most of."""
    starts, ends = [chunk.start for chunk in run], [chunk.end for chunk in run]
    links = _links(run, spans)
    for (start, end), own in zip(spans, links, strict=True):
        # Blocks that have a character in the piece.
        blocks = run[bisect_right(ends, start) : bisect_left(starts, end)]
        shares = [min(end, block.end) - max(start, block.start) for block in blocks]
        main = blocks[shares.index(max(shares))]
        paged = [block.pages for block in blocks if block.pages is not None]
        yield replace(
            main,
            text=text[start:end],
            start=start,
            end=end,
            links=tuple(own),
            pages=(min(first for first, _ in paged), max(last for _, last in paged)) if paged else None,
            references=tuple(dict.fromkeys(address for block in blocks for address in block.references)),
        )


def _links(run: Sequence[Chunk], spans: Sequence[Span]) -> list[list[Link]]:
    """For each piece the links that begin in it, cut at its end. One that begins in no piece (it has no text of its own,
    and stands between two) goes to the piece before it."""
    firsts, ends = [start for start, _ in spans], [end for _, end in spans]
    own: list[list[Link]] = [[] for _ in spans]
    for link in (link for chunk in run for link in chunk.links):
        holding = range(bisect_right(ends, link.start), bisect_right(firsts, link.start))
        for piece in holding or [max(0, bisect_right(firsts, link.start) - 1)]:
            start, end = spans[piece]
            first = min(max(link.start, start), end)
            own[piece].append(Link(link.target, first, max(first, min(link.end, end))))
    return own
