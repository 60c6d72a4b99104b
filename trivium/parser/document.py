"""Builds a page's plain text, its section tree, and its chunks, which are ranges of the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from trivium.errors import ParseError, TriviumError, said
from trivium.parser.split_blocks import split_points
from trivium.parser.text_runs import Address, PictureText, TextRun
from trivium.text.headings_in_passages import BETWEEN
from trivium.types import Chunk, ChunkKind, Link, Relation, Section

MAX_TITLE = 500
"""Maximum number of characters of a title. MediaWiki allows 255 bytes, other sites are less strict."""

_MAX_MISSING = 20  # parts named that could not be read
_MAX_REASON = 300  # characters


class DamagedPartError(ParseError):
    """A part of a document is damaged or missing. The others can be read."""


@dataclass(slots=True)
class _OpenSection:
    """A section that is still receiving chunks."""

    heading: str
    number: int  # as in <h2>; decides nesting only
    level: int
    parent: int | None
    anchors: tuple[str, ...]
    start: int | None
    page: int | None
    chunks: list[Chunk] = field(default_factory=list)


class Document:
    """Receives headings and blocks in document order."""

    def __init__(self, max_headings: int) -> None:
        """``max_headings`` is the maximum number of headings."""
        self._max_headings = max_headings
        self.lead: list[Chunk] = []
        self.relations: dict[Relation, None] = {}  # an ordered set
        self._sections: list[_OpenSection] = []
        self._path: list[int] = []  # indices of the enclosing sections, outermost first
        self._current = self.lead
        self._parts: list[str] = []
        self._length = 0
        self._waiting: list[TextRun] = []
        self._titled = False
        self.page: int | None = None
        """Current page of a paginated document, from 1. Following blocks are assigned to it."""
        self._missing: dict[str, None] = {}  # an ordered set

    @property
    def text(self) -> str:
        return "".join(self._parts)

    @property
    def sections(self) -> tuple[Section, ...]:
        return tuple(
            Section(
                heading=s.heading,
                level=s.level,
                parent=s.parent,
                chunks=tuple(s.chunks),
                anchors=s.anchors,
                start=s.start,
                page=s.page,
            )
            for s in self._sections
        )

    @property
    def has_sections(self) -> bool:
        return bool(self._sections)

    @property
    def has_chunks(self) -> bool:
        return bool(self.lead) or any(section.chunks for section in self._sections)

    @property
    def has_text(self) -> bool:
        """Whether there are chunks, or headings that become some (:mod:`trivium.text.headings_in_passages`)."""
        return self.has_chunks or self._titled or any(s.start is not None for s in self._sections)

    @property
    def missing(self) -> tuple[str, ...]:
        """The parts that could not be read; see :attr:`trivium.types.Page.missing`."""
        return tuple(self._missing)

    def leave_out(self, part: str, reason: str | Exception) -> None:
        """Note that a part of the document cannot be read: its name for a reader, such as ``the chart of slide 3``, and
        why. Of many, only the first are noted.
        """
        if len(self._missing) < _MAX_MISSING:
            why = reason if isinstance(reason, str) else said(reason) or type(reason).__name__
            self._missing[" ".join(f"{part}: {why}".split())[:_MAX_REASON]] = None

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Read a part of the document, called ``name``: if the block fails on it, :meth:`leave_out` the rest of it.
        Errors about limits (a ParseError other than DamagedPartError) end the document.
        """
        try:
            yield
        except DamagedPartError as error:
            self.leave_out(name, error)
        except (TriviumError, ImportError, MemoryError):
            raise
        except Exception as error:  # libraries assume that documents conform to their standard
            self.leave_out(name, error)

    def expect_chunks(self, otherwise: str) -> None:
        """Raise ParseError, with this message and what could not be read, if there is no text."""
        if not self.has_text:
            raise ParseError("; ".join((otherwise, *self._missing))[:_MAX_REASON])

    def title(self, text: str) -> None:
        """Write the title: above everything else it is the heading of the first passage, otherwise a paragraph."""
        if not self._parts:
            self._write(text)
            self._titled = True
        else:
            run = TextRun()
            run.add(text)
            self.block(ChunkKind.PARAGRAPH, run)

    def heading(self, text: str, number: int, anchors: tuple[str, ...] = ()) -> None:
        """Open a section under the nearest section whose heading has a smaller number. ``anchors`` are those of
        :class:`~trivium.types.Section`. Raises ParseError when there are too many headings.
        """
        if len(self._sections) >= self._max_headings:
            raise ParseError(
                f"the document has more than {self._max_headings:,} headings, the limit: split it into pages"
            )
        while self._path and self._sections[self._path[-1]].number >= number:
            self._path.pop()
        parent = self._path[-1] if self._path else None
        level = len(self._path) + 1
        start = self._write(text)
        section = _OpenSection(
            heading=text,
            number=number,
            level=level,
            parent=parent,
            anchors=anchors,
            start=start,
            page=self.page,
        )
        self._path.append(len(self._sections))
        self._sections.append(section)
        self._current = section.chunks
        self.write_pictures()

    def keep_headings_out(self) -> None:
        """Keep the current headings out of passages if nothing stands below them yet: their content is left out, such as
        a list of references, or they are no text of the document.
        """
        for index in self._path:
            section = self._sections[index]
            if not section.chunks:
                section.start = None

    def picture(self, run: TextRun) -> None:
        """Add the text of a picture as a block of its own, after the current block and in the same section."""
        self._waiting.append(run)

    def write_pictures(self) -> None:
        """Write the pictures that were waiting for the end of a block."""
        waiting, self._waiting = self._waiting, []
        for run in waiting:
            self.block(ChunkKind.IMAGE, run)

    def block(
        self,
        kind: ChunkKind,
        run: TextRun,
        *,
        places: Sequence[tuple[int, int]] = (),
        references: Sequence[tuple[str, int]] = (),
    ) -> None:
        """Add a block as one chunk, or as several if it is too long. A block without letters or digits is dropped.

        ``places`` marks where in its text other pages than :attr:`page` begin: (character, page), in order.
        ``references`` are addresses of other documents with their offsets; those among the links of the run
        (:class:`~trivium.parser.text_runs.Address`) are added to them. Each chunk of a picture has its thumbnail.
        """
        text = run.text.rstrip()
        if not any(map(str.isalnum, text)):
            self.write_pictures()
            return
        at = self._write(text)
        pieces = split_points(text, code=kind is ChunkKind.CODE)
        titles = run.links
        if any(isinstance(target, Address) for target, _, _ in titles):
            references = [
                *references,
                *((str(to), place) for to, place, _ in titles if isinstance(to, Address)),
            ]
            titles = [link for link in titles if not isinstance(link[0], Address)]
        for (start, end), links in zip(pieces, _split_links(titles, pieces), strict=True):
            inside = tuple(Link(target, at + min(a, end), at + min(b, end)) for target, a, b in links)
            self._current.append(
                Chunk(
                    kind=kind,
                    text=text[start:end],
                    start=at + start,
                    end=at + end,
                    links=inside,
                    pages=self._pages(places, start, end),
                    references=tuple(
                        dict.fromkeys(
                            address
                            for address, place in references
                            if start <= place < end or (place >= end == len(text))
                        )
                    ),
                    thumbnail=run.thumbnail if isinstance(run, PictureText) else b"",
                )
            )
        if places:
            self.page = places[-1][1]
        self.write_pictures()

    def _pages(self, places: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int] | None:
        """Return the first and last page of characters ``start`` to ``end`` of a block."""
        first = last = self.page
        for place, page in places:
            if place <= start:
                first = last = page
            elif place < end:
                last = page
                first = page if first is None else first
        return None if first is None or last is None else (first, last)

    def relate(self, relation_type: str, target: str) -> None:
        self.relations[Relation(type=relation_type, target=target)] = None

    def _write(self, text: str) -> int:
        if self._parts:
            self._parts.append(BETWEEN)
            self._length += len(BETWEEN)
        at = self._length
        self._parts.append(text)
        self._length += len(text)
        return at


def _split_links(
    links: list[tuple[str, int, int]], pieces: list[tuple[int, int]]
) -> Iterator[list[tuple[str, int, int]]]:
    """Yield the links that start in each piece. Pieces must be in order.

    A link without visible text may be at the very end of a piece.
    """
    if len(pieces) == 1:
        yield links
        return
    links = sorted(links, key=lambda link: link[1])  # of nested links, the inner one comes first
    at = 0
    for _, end in pieces:
        first = at
        while at < len(links) and (links[at][1] < end or links[at][1] == links[at][2] == end):
            at += 1
        yield links[first:at]
