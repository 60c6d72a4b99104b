"""Writes the blocks of a PDF to a document: sections, paragraphs continued on the next page, lists."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.parser.document import Document
from trivium.parser.documents.pdf.blocks import NUMBERED, Block, Kind, Words, goes_on
from trivium.parser.documents.pdf.headings import find_headings
from trivium.parser.documents.pdf.pdfium import OutlineEntry
from trivium.parser.text_runs import LINE, PictureText, TextRun
from trivium.types import ChunkKind

_BULLET = "• "
_KINDS = {Kind.TABLE: ChunkKind.TABLE, Kind.PICTURE: ChunkKind.IMAGE}


def assemble(
    document: Document, blocks: Sequence[Block], words: Words, outline: Sequence[OutlineEntry], title: str
) -> None:
    """Write ``blocks`` under their headings. Raises ParseError when there are too many headings."""
    headings = find_headings(blocks, outline, title)
    replaced = {heading.at for heading in headings if heading.replaces}
    at = 0
    for heading in headings:
        _write(
            document,
            _merged([b for i, b in enumerate(blocks[at : heading.at], at) if i not in replaced], words),
        )
        at = max(at, heading.at)
        if heading.at < len(blocks):
            document.page = blocks[heading.at].page
        document.heading(heading.text, heading.number)
    _write(document, _merged([b for i, b in enumerate(blocks[at:], at) if i not in replaced], words))


def _merged(blocks: Sequence[Block], words: Words) -> list[Block]:
    """Join blocks that were separated by a column, a page or a picture."""
    out: list[Block] = []
    last: Block | None = None  # the last block that is not a picture
    for block in blocks:
        if last is not None and goes_on(last, block):
            text = words.joined(last.text, block.text, soft=last.hyphen)
            start = len(text) - len(block.text)
            if block.page != (last.places[-1][1] if last.places else last.page):
                last.places.append((start, block.page))
            last.places.extend((start + place, page) for place, page in block.places)
            last.text, last.flow_end, last.hyphen = text, block.flow_end, block.hyphen
        else:
            out.append(block)
            last = last if block.kind is Kind.PICTURE else block
    return out


def _write(document: Document, blocks: Sequence[Block]) -> None:
    at = 0
    while at < len(blocks):
        end = _end_of_list(blocks, at)
        if end > at:
            _write_list(document, blocks[at:end])
            at = end
            continue
        block = blocks[at]
        document.page = block.page
        run = TextRun() if block.kind is not Kind.PICTURE else PictureText(block.thumbnail)
        document.block(
            _KINDS.get(block.kind, ChunkKind.PARAGRAPH), _filled(run, block.text), places=block.places
        )
        at += 1


def _end_of_list(blocks: Sequence[Block], first: int) -> int:
    """Return the end of the list that begins with a block; ``first`` if none does. A single numbered paragraph is not a
    list.
    """
    end = first
    while end < len(blocks) and blocks[end].kind is Kind.ITEM:
        end += 1
    if end > first:
        return end
    while end < len(blocks) and blocks[end].kind is Kind.TEXT and NUMBERED.match(blocks[end].text):
        end += 1
    return end if end - first > 1 else first


def _write_list(document: Document, items: Sequence[Block]) -> None:
    text = ""
    places: list[tuple[int, int]] = []
    page = items[0].page
    for item in items:
        start = len(text) + bool(text)
        marker = _BULLET if item.kind is Kind.ITEM else ""
        text += (LINE if text else "") + marker + item.text
        for place, number in [(start, item.page), *((start + len(marker) + p, n) for p, n in item.places)]:
            if number != page:
                places.append((place, number))
                page = number
    document.page = items[0].page
    document.block(ChunkKind.LIST, _filled(TextRun(), text), places=places)


def _filled(run: TextRun, text: str) -> TextRun:
    """Fill the run with text that is already clean, so that its offsets do not change."""
    run.parts.append(text)
    run.length = len(text)
    return run
