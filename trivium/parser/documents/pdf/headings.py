"""Which blocks are headings, and how deep: by the outline of the document, and by type that stands out."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from trivium.parser.documents.pdf.blocks import Block, Kind
from trivium.parser.documents.pdf.pdfium import OutlineEntry

_LARGER = 1.12
"""How many times the size of the text a heading has that is not bold."""
_MAX_CHARACTERS = 150
_MAX_LINES = 3
_MAX_STYLES = 6
_MAX_SHARE = 0.35
"""Share of a document's paragraphs that may be headings; where there are more, the type does not tell them."""
_BELOW_OUTLINE = 100

_SENTENCE = re.compile(r"[.,;:!?]['\"”’)]*$")
_NUMBERED = re.compile(
    r"(?:item|note|part|chapter|section|article|exhibit)?\s*[\dIVXA-Z]{1,5}[.):]", re.IGNORECASE
)
_NAMELESS = re.compile(r"(?:page|slide|blank|untitled)?[\s_\-\d.]*", re.IGNORECASE)
_JOINERS = re.compile(r"[\W_]+")

Style = tuple[float, bool, bool, bool]
"""Size of type, bold, capitals, upright: greater ones stand out more."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading before block ``at``, or in its place. ``number`` is as in ``<h2>``: only the order counts."""

    text: str
    number: int
    at: int
    replaces: bool


def find_headings(blocks: Sequence[Block], outline: Sequence[OutlineEntry], title: str) -> list[Heading]:
    """The headings of a document, in order. What only repeats the title is none."""
    named = _of_outline(blocks, _useful(outline))
    taken = {heading.at for heading in named if heading.replaces}
    typed = _of_type(blocks, taken, title, _BELOW_OUTLINE if named else 1)
    return sorted([*named, *typed], key=lambda heading: (heading.at, heading.replaces))


def _useful(outline: Sequence[OutlineEntry]) -> list[OutlineEntry]:
    kept = [entry for entry in outline if not _NAMELESS.fullmatch(entry.title)]
    return kept if len({entry.title for entry in kept}) > 1 else []


def _normal(text: str) -> str:
    return _JOINERS.sub("", text.casefold())


def _of_outline(blocks: Sequence[Block], outline: Sequence[OutlineEntry]) -> list[Heading]:
    """Each entry stands where its page has its words, else where its page begins."""
    pages: dict[int, list[int]] = defaultdict(list)
    for index, block in enumerate(blocks):
        pages[block.page].append(index)
    found: list[Heading] = []
    earliest = 0
    texts: dict[int, list[str]] = {}
    for entry in outline:
        places = pages.get(entry.page, [])
        if entry.page not in texts:
            texts[entry.page] = [_normal(blocks[index].text[:400]) for index in places]
        wanted = _normal(entry.title)
        at, replaces = None, False
        for index, text in zip(places, texts[entry.page], strict=True):
            if index < earliest or blocks[index].kind in (Kind.TABLE, Kind.PICTURE) or not wanted:
                continue
            if text == wanted:
                at, replaces = index, True
                break
            if at is None and len(wanted) > 3 and text.startswith(wanted):
                at = index
        if at is None:
            at = _first_of_page(blocks, entry.page)
        at = max(at, earliest)
        earliest = at + replaces
        text = blocks[at].text if replaces else entry.title
        found.append(Heading(text, entry.level + 1, at, replaces))
    return found


def _first_of_page(blocks: Sequence[Block], page: int) -> int:
    return next((index for index, block in enumerate(blocks) if block.page >= page), len(blocks))


def _of_type(blocks: Sequence[Block], taken: set[int], title: str, lowest: int) -> list[Heading]:
    texts = [block for block in blocks if block.kind is Kind.TEXT]
    counts: Counter[tuple[float, bool]] = Counter()
    for block in texts:
        counts[_size(block.size), block.bold] += len(block.text)
    if not counts:
        return []
    (size, bold), _ = counts.most_common(1)[0]
    # Where no type is bold, or all is, or the file does not tell, capitals have to do.
    capitals = len({block.bold for block in texts}) == 1
    candidates = [
        index
        for index, block in enumerate(blocks)
        if index not in taken
        and _stands_out(block, size, bold, capitals=capitals)
        and _normal(block.text) != _normal(title)
    ]
    if len(candidates) > _MAX_SHARE * len(blocks) + 3:
        candidates = [index for index in candidates if blocks[index].size >= _LARGER * size]
    styles = _styles(blocks, candidates)
    return [
        Heading(blocks[index].text, lowest + styles.index(style), index, replaces=True)
        for index in candidates
        if (style := _style(blocks[index])) in styles
    ]


def _stands_out(block: Block, size: float, bold: bool, *, capitals: bool) -> bool:
    text = block.text
    if block.kind is not Kind.TEXT or block.lines > _MAX_LINES or len(text) > _MAX_CHARACTERS:
        return False
    if not (text[0].isupper() or text[0].isdigit() or text[0] in "“\"'(") or sum(map(str.isalpha, text)) < 3:
        return False
    if block.size < 0.9 * size or not (
        block.size >= _LARGER * size or (block.bold and not bold) or (capitals and text.isupper())
    ):
        return False
    return _SENTENCE.search(text) is None or (
        len(text) < 80 and text[-1] in ".?" and _NUMBERED.match(text) is not None
    )


def _styles(blocks: Sequence[Block], candidates: Sequence[int]) -> list[Style]:
    """The styles of headings, the one that stands out most first. One that only the first page has is that of a title."""
    pages: dict[Style, set[int]] = defaultdict(set)
    counts: Counter[Style] = Counter()
    for index in candidates:
        style = _style(blocks[index])
        pages[style].add(blocks[index].page)
        counts[style] += 1
    long = bool(blocks) and blocks[-1].page > 3
    kept = [style for style, _ in counts.most_common() if not (long and pages[style] == {1})]
    return sorted(kept[:_MAX_STYLES], reverse=True)


def _style(block: Block) -> Style:
    return _size(block.size), block.bold, block.text.isupper(), not block.italic


def _size(size: float) -> float:
    """Sizes of type in halves of a point."""
    return round(2 * size) / 2
