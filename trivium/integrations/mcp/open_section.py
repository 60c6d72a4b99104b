"""Reads sections and their passages, in parts of limited length."""

from __future__ import annotations

from difflib import get_close_matches

from trivium.errors import InputError
from trivium.graph.protocols import GraphReader
from trivium.graph.records import ChunkRecord
from trivium.graph.schema import CHUNK_MARK, SEPARATOR, Hop, headings_of, page_of, section_of
from trivium.integrations.mcp.output_schemas import OpenedSection, PassageText, SectionName
from trivium.search.subgraph_drawings import find_entity

MAX_CHARACTERS = 12_000
"""Maximum number of characters shown at once."""
MAX_SECTIONS = 200
_SUGGESTED = 8


def open_section(store: GraphReader, uri: str, start: int | None = None) -> OpenedSection:
    """Return a section, the section of a passage, or the beginning of a page (title and aliases are accepted).
    ``start`` is the offset in the page's text from which to read; by default the beginning, or such that the given
    passage is included. Raises InputError that lists alternatives.
    """
    page = _page(store, page_of(uri))
    outline = store.outline([page]).get(page, [])
    asked = page + uri[len(page_of(uri)) :]
    section = section_of(asked) if CHUNK_MARK in asked else asked
    if section != page and section not in outline:
        raise InputError(f"there is no section {section!r}: {_instead(section, page, outline)}")
    chunks = store.expand([section], Hop.CHILD).get(section, [])
    if CHUNK_MARK in asked and asked not in chunks:
        raise InputError(f"there is no passage {asked!r}: open its section {section!r}")
    records = store.fetch(chunks)
    begin = _beginning(records, asked) if start is None else start
    shown, following = _shown(records, begin)
    parts = [part for part in outline if part.rpartition(SEPARATOR)[0] == section]
    return OpenedSection(
        uri=section,
        page=page,
        headings=headings_of(section),
        passages=shown,
        next_start=following,
        above=None if section == page else section.rpartition(SEPARATOR)[0],
        sections=[SectionName(uri=part, heading=headings_of(part)[-1]) for part in parts[:MAX_SECTIONS]],
        sections_left_out=max(0, len(parts) - MAX_SECTIONS),
    )


def _page(store: GraphReader, name: str) -> str:
    """Return the uri of a page. Raises InputError when there is no such document."""
    page = find_entity(store, name)
    if page is None:
        raise InputError(
            f"there is no page {name!r}: take a uri from the answer of search, as it stands there, or a page's"
            " title; what is not from the collection (`live`) has an address, and cannot be opened"
        )
    if not store.expand([page], Hop.BELOW).get(page) and not store.outline([page]).get(page):
        raise InputError(
            f"the collection has no document of {page!r}, it is only mentioned: the tool neighbours says by which pages"
        )
    return page


def _instead(section: str, page: str, outline: list[str]) -> str:
    if not outline:
        return f"the page {page!r} has none"
    close = get_close_matches(section, outline, n=_SUGGESTED, cutoff=0.6)
    named = list(dict.fromkeys([*close, *outline]))[:_SUGGESTED]
    return f"there are {', '.join(map(repr, named))}" + (" and others" if len(outline) > len(named) else "")


def _beginning(records: list[ChunkRecord], asked: str) -> int:
    """Return the offset to begin at: the section's beginning if the requested passage (if any) is included then, else
    the passage.
    """
    if not records:
        return 0
    passage = next((record for record in records if record.uri == asked), records[0])
    length = sum(record.end - record.start for record in records if record.start <= passage.start)
    return records[0].start if length <= MAX_CHARACTERS else passage.start


def _shown(records: list[ChunkRecord], begin: int) -> tuple[list[PassageText], int | None]:
    """Return what fits from an offset on, and the offset of the rest. The common part of overlapping passages is shown
    only once.
    """
    shown: list[PassageText] = []
    room = MAX_CHARACTERS
    for record in records:
        first = max(record.start, begin)
        if first >= record.end:
            continue
        if room <= 0:
            return shown, first
        last = min(record.end, first + room)
        text = record.text[first - record.start : last - record.start]
        shown.append(PassageText(uri=record.uri, kind=record.kind, start=first, end=last, text=text))
        if last < record.end:
            return shown, last
        room -= last - first
        begin = last
    return shown, None
