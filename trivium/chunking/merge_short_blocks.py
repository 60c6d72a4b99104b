"""Merges consecutive short blocks of a section.

Encyclopaedias consist of paragraphs; working documents consist of lines: a sentence, a list of three words, a row. On
their own they have too little content to be found, and an answer needs the lines before them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from trivium.chunking.chunker import pieces_of, runs_of, span_of
from trivium.chunking.split_by_length import count
from trivium.parser.documents.formats import document_formats
from trivium.types import Chunk, Page

MAX_TOKENS = 200
"""Maximum number of tokens of merged blocks, about 150 words."""


def _is_joined(page: Page) -> bool:
    """Whether to merge blocks of a page. Both encyclopaedia pages and other sites are HTML; the former are identified
    by their titles, have no path and are kept as they are.
    """
    format = document_formats().get(page.format)
    return format is not None and format.joined and (bool(page.path) or page.format != "html")


def joined(page: Page, limit: int = MAX_TOKENS) -> Page:
    """Merge consecutive blocks of a section while they have at most ``limit`` tokens. Pictures, and blocks on different
    pages of a paginated document, are not merged.
    """
    if not _is_joined(page):
        return page
    return replace(
        page,
        chunks=tuple(_joined(page.text, page.chunks, limit)),
        sections=tuple(
            replace(section, chunks=tuple(_joined(page.text, section.chunks, limit)))
            for section in page.sections
        ),
    )


def _joined(text: str, chunks: Sequence[Chunk], limit: int) -> Iterator[Chunk]:
    for run in runs_of(text, chunks):
        if len(run) == 1:
            yield from run
        else:
            yield from pieces_of(text, run, [span_of(group) for group in _groups(run, limit)])


def _groups(run: Sequence[Chunk], limit: int) -> Iterator[list[Chunk]]:
    group: list[Chunk] = []
    total = 0
    for chunk in run:
        tokens = count(chunk.text)
        if group and (total + tokens > limit or chunk.pages != group[-1].pages):
            yield group
            group, total = [], 0
        group.append(chunk)
        total += tokens
    if group:
        yield group
