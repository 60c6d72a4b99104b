"""The rules of the graph, checked page by page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trivium.graph.model import PageGraph
from trivium.graph.schema import CHUNK_MARK, SEPARATOR, chunk_uri


def broken_rules(page: PageGraph) -> list[str]:
    """Return the violations of a page, each rule at most once.

    Sections must be below their page or another of its sections, at the place given by their uri. Every chunk must have
    one parent, have the next number of that parent, and lie within the page's text. Sections and chunks must be
    numbered without gaps in page order.
    """
    return list(dict.fromkeys([*_of_sections(page), *_of_chunks(page)]))


def _of_sections(page: PageGraph) -> Iterator[str]:
    parents = {page.uri: ""}
    for place, section in enumerate(sorted(page.sections, key=lambda section: section.position)):
        if section.uri in parents:
            yield f"section {section.uri!r} is there twice"
        if section.parent not in parents:
            yield f"section {section.uri!r} does not stand below its page"
        if not section.uri.startswith(section.parent + SEPARATOR):
            yield f"section {section.uri!r} stands under {section.parent!r}"
        if section.position != place:
            yield "positions of sections have gaps"
        if section.level < 1:
            yield f"section {section.uri!r} has level {section.level}"
        parents[section.uri] = section.parent


def _of_chunks(page: PageGraph) -> Iterator[str]:
    parents = {page.uri, *(section.uri for section in page.sections)}
    numbers: Counter[str] = Counter()
    for place, chunk in enumerate(sorted(page.chunks, key=lambda chunk: chunk.position)):
        numbers[chunk.parent] += 1
        if chunk.parent not in parents:
            yield f"chunk {chunk.uri!r} does not stand below its page"
        if chunk.uri != chunk_uri(chunk.parent, numbers[chunk.parent]):
            number = numbers[chunk.parent]
            yield f"chunk {chunk.uri!r} is not number {number} of its section (expected {CHUNK_MARK}{number})"
        if chunk.position != place:
            yield "positions of chunks have gaps"
        if not 0 <= chunk.start <= chunk.end <= len(page.text):
            yield f"chunk {chunk.uri!r} does not lie within the text of its page"
