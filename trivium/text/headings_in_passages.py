"""Headings as text: the first passage below a heading begins with it, so that an answer can quote it.

What is embedded, counted and searched of a passage is its body, which does not repeat the headings above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from trivium.text.normalise import normalise_title
from trivium.types import Chunk, ChunkKind, Page

BETWEEN = "\n\n"
"""Separates the blocks of a page's text."""


class _Heading(NamedTuple):
    """A heading that waits for a passage: its characters, its page, and the index of its section (-1: the title)."""

    start: int
    end: int
    page: int | None
    section: int


def with_headings(page: Page) -> Page:
    """Return the page with its title and headings in its passages: in the first passage below, or, if there is none, in
    a passage of their own. A page that has them already stays as it is.

    >>> from trivium.types import Section
    >>> moons = Section("Moons", 1, None, (Chunk(ChunkKind.PARAGRAPH, "Two.", 7, 11),), start=0)
    >>> with_headings(Page("Mars", "Moons\\n\\nTwo.", sections=(moons,))).sections[0].chunks[0].text
    'Moons\\n\\nTwo.'
    """
    chunks = [list(page.chunks), *(list(section.chunks) for section in page.sections)]
    parents = [-2, *(-1 if section.parent is None else section.parent for section in page.sections)]
    waiting: list[_Heading] = []

    def place_alone() -> None:
        if waiting:
            text = page.text[waiting[0].start : waiting[-1].end]
            alone = Chunk(ChunkKind.PARAGRAPH, text, waiting[0].start, waiting[-1].end)
            chunks[waiting[-1].section + 1].insert(0, replace(alone, pages=_pages(waiting)))
            waiting.clear()

    for heading, parent, own in zip(_headings(page), parents, chunks, strict=True):
        if heading is None or (waiting and waiting[-1].section != parent):
            place_alone()
        if heading is not None:
            waiting.append(heading)
        if own:
            waiting[:] = [one for one in waiting if one.start < own[0].start]
        if own and waiting and page.text[waiting[-1].end : own[0].start].isspace():
            start, first = waiting[0].start, own[0]
            text = page.text[start : first.end]
            own[0] = replace(first, text=text, start=start, pages=_pages(waiting, first.pages))
            waiting.clear()
        elif own:
            place_alone()
    place_alone()
    lead, *below = map(tuple, chunks)
    sections = (replace(section, chunks=own) for section, own in zip(page.sections, below, strict=True))
    return replace(page, chunks=lead, sections=tuple(sections))


def _headings(page: Page) -> list[_Heading | None]:
    """Return the title, which is the text above everything else, and the heading of each section; None for those that
    are not in the text.
    """
    above: int | None = len(page.text)
    if page.chunks:
        above = page.chunks[0].start
    elif page.sections:
        above = page.sections[0].start
    end = len(page.text[:above].rstrip()) if above else 0
    first = page.chunks[0].pages if page.chunks else None
    return [
        _Heading(0, end, first and first[0], -1) if end else None,
        *(
            None if one.start is None else _Heading(one.start, one.start + len(one.heading), one.page, index)
            for index, one in enumerate(page.sections)
        ),
    ]


def _pages(headings: Sequence[_Heading], below: tuple[int, int] | None = None) -> tuple[int, int] | None:
    pages = [*(heading.page for heading in headings if heading.page is not None), *(below or ())]
    return (min(pages), max(pages)) if pages else None


def body_of(text: str, headings: Sequence[str]) -> str:
    """Return the text of a passage without the headings it begins with. A passage of headings alone is its own body.
    ``headings`` are those above it, from the title down; equal ones may be told apart by an addition in parentheses.

    >>> body_of("Moons\\n\\nPhobos\\n\\nIt is near.", ["Mars", "Moons", "Phobos (2)"])
    'It is near.'
    >>> body_of("Moons\\n\\nPhobos", ["Mars", "Moons", "Phobos"])
    'Moons\\n\\nPhobos'
    """
    blocks = text.split(BETWEEN, len(headings))
    for count in range(len(blocks) - 1, 0, -1):
        if all(map(_is_same, blocks, headings[-count:])):
            return text[sum(map(len, blocks[:count])) + len(BETWEEN) * count :]
    return text


def _is_same(block: str, heading: str) -> bool:
    if len(block) > 2 * len(heading):  # normalising long paragraphs would take time
        return False
    written, name = normalise_title(block), heading.replace("_", " ")
    return name == written or (name.startswith(f"{written} (") and name.endswith(")"))
