"""Detects headings and their levels from the outline of the document and from prominent fonts."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trivium.parser.documents.pdf.blocks import Block, Kind
from trivium.parser.documents.pdf.lines import LARGER
from trivium.parser.documents.pdf.pdfium import OutlineEntry

_MAX_CHARACTERS = 150
_MAX_LINES = 3
_MAX_STYLES = 8
_MAX_SHARE = 0.35
"""Maximum share of a document's paragraphs that are headings. If there are more, the font does not indicate headings.
"""
_BELOW_OUTLINE = 100
_AROUND = 2
"""Number of neighbouring pages on each side used to determine the usual font of a page."""
_ENOUGH = 1_000
"""Minimum number of characters needed for that."""

_SENTENCE = re.compile(r"[.,;:!?]['\"”’)]*$")
_NUMBERED = re.compile(
    r"(?:item|note|part|chapter|section|article|exhibit)?\s*[\dIVXA-Z]{1,5}[.):]", re.IGNORECASE
)
_NAMELESS = re.compile(r"(?:page|slide|blank|untitled)?[\s_\-\d.]*", re.IGNORECASE)
_JOINERS = re.compile(r"[\W_]+")

Style = tuple[float, bool, bool, bool]
"""Size relative to the surrounding text, bold, capitals, upright. Greater values are more prominent."""
Type = tuple[float, bool]
"""Font size, and whether it is bold."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading before block ``at``, or in its place. ``number`` is as in ``<h2>``; only the order matters."""

    text: str
    number: int
    at: int
    replaces: bool


def find_headings(blocks: Sequence[Block], outline: Sequence[OutlineEntry], title: str) -> list[Heading]:
    """Return the headings of a document, in order. A heading that only repeats the title is left out."""
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
    """Place each entry at the block of its page that contains its words, else at the beginning of the page."""
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
    if not texts:
        return []
    usual = _usual_types(texts)
    # If no font is bold, all are, or the file does not tell, capitals are used instead.
    capitals = len({block.bold for block in texts}) == 1
    candidates = [
        index
        for index, block in enumerate(blocks)
        if index not in taken
        and block.kind is Kind.TEXT
        and _stands_out(block, usual[block.page], capitals=capitals)
        and _normal(block.text) != _normal(title)
    ]
    if len(candidates) > _MAX_SHARE * len(blocks) + 3:
        candidates = [i for i in candidates if blocks[i].size >= LARGER * usual[blocks[i].page][0]]
    styles = {index: _style(blocks[index], usual[blocks[index].page][0]) for index in candidates}
    ranks = _ranks(blocks, styles)
    return [
        Heading(blocks[index].text, lowest + ranks.index(style), index, replaces=True)
        for index, style in styles.items()
        if style in ranks
    ]


def _usual_types(texts: Sequence[Block]) -> dict[int, Type]:
    """Return the usual font by page, based on the surrounding pages because a file may contain several documents. If
    they have little text, that of the whole document is used.
    """
    counts: Counter[Type] = Counter()
    near: dict[int, Counter[Type]] = defaultdict(Counter)
    for block in texts:
        written, characters = (_size(block.size), block.bold), len(block.text)
        counts[written] += characters
        for page in range(block.page - _AROUND, block.page + _AROUND + 1):
            near[page][written] += characters
    (of_all, _), *_ = counts.most_common(1)
    usual: dict[int, Type] = {}
    for page in {block.page for block in texts}:
        ((local, _),) = near[page].most_common(1)
        usual[page] = local if near[page].total() >= _ENOUGH else of_all
    return usual


def _stands_out(block: Block, usual: Type, *, capitals: bool) -> bool:
    size, bold = usual
    text = block.text
    if block.lines > _MAX_LINES or len(text) > _MAX_CHARACTERS:
        return False
    if not (text[0].isupper() or text[0].isdigit() or text[0] in "“\"'(") or sum(map(str.isalpha, text)) < 3:
        return False
    if block.size < 0.9 * size or not (
        block.size >= LARGER * size or (block.bold and not bold) or (capitals and text.isupper())
    ):
        return False
    return _SENTENCE.search(text) is None or (
        len(text) < 80 and text[-1] in ".?" and _NUMBERED.match(text) is not None
    )


def _ranks(blocks: Sequence[Block], styles: Mapping[int, Style]) -> list[Style]:
    """Return the styles of headings, most prominent first, given by block. A style that occurs only on the first page
    is that of the title and is left out.
    """
    pages: dict[Style, set[int]] = defaultdict(set)
    for index, style in styles.items():
        pages[style].add(blocks[index].page)
    long = bool(blocks) and blocks[-1].page > 3
    counts = Counter(styles.values())
    kept = [style for style, _ in counts.most_common() if not (long and pages[style] == {1})]
    return sorted(kept[:_MAX_STYLES], reverse=True)


def _style(block: Block, usual: float) -> Style:
    return round(block.size / usual, 1), block.bold, block.text.isupper(), not block.italic


def _size(size: float) -> float:
    """Round font sizes to half points."""
    return round(2 * size) / 2
