"""Detects headings and their levels from the outline of the document, prominent fonts and numbering."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from trivium.parser.documents.pdf.blocks import SIZE_TOLERANCE, Block, Kind
from trivium.parser.documents.pdf.columns import LARGER
from trivium.parser.documents.pdf.pdfium import OutlineEntry

_MAX_CHARACTERS = 150
_MAX_LINES = 3
_SHORT_LINE = 60
"""Maximum number of characters of a heading that text in lower case may follow."""
_MAX_STYLES = 8
_MAX_SHARE = 0.35
"""Maximum share of a document's paragraphs that are headings. If there are more, the font does not indicate headings.
"""
_SHORTEST = 3
"""Number of letters of an outline entry that may be part of a longer text."""
_MOST = 0.8
"""Share of an outline entry that a heading has to have."""
_MISSING = 1 / 3
"""Maximum number of entries whose words are not on their pages, if they shall be headings: a third of all entries, or
two for three pages.
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
_SERIES = re.compile(
    r"(part|chapter|article|item|section|note|exhibit|appendix|schedule)\b[\s.]*(\d[\d.]*|[IVXLC]+\b|[A-Z]\b)"
    r"|(\d{1,3}(?:\.\d{1,3})*)(?=[.)])",
    re.IGNORECASE,
)
"""A word and a number, or a number, with which headings of one level begin."""
_WITHIN = ("part", "chapter", "article", "item", "section", "note")
"""Words of such headings, from the highest level to the lowest."""
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
    usual = _usual_types([block for block in blocks if block.kind is Kind.TEXT])
    typed, styles = _of_type(blocks, taken, title, usual, _BELOW_OUTLINE if named else 1)
    headings = sorted([*named, *typed], key=lambda heading: (heading.at, heading.replaces))
    if not named:
        return headings
    for heading in named:
        if heading.replaces and (block := blocks[heading.at]).page in usual:
            styles[heading.at] = _style(block, usual[block.page][0])
    return list(_levelled(headings, styles))


def _levelled(headings: Iterable[Heading], styles: Mapping[int, Style]) -> Iterator[Heading]:
    """Give headings that look like those of the outline before them, or more prominent, the level of these. The outline
    may name only some: others end their sections, too.
    """
    path: list[tuple[Heading, Style | None]] = []
    for heading in headings:
        style = styles.get(heading.at) if heading.replaces else None
        if heading.number >= _BELOW_OUTLINE and style is not None:
            heading = replace(heading, number=_level(heading, style, path))
        if heading.number < _BELOW_OUTLINE:
            while path and path[-1][0].number >= heading.number:
                path.pop()
            path.append((heading, style))
        yield heading


def _level(heading: Heading, style: Style, path: Sequence[tuple[Heading, Style | None]]) -> int:
    """Return the number of the outermost section of ``path`` that a heading ends; its own if it ends none."""
    number = heading.number
    below: Style | None = None
    for section, its in reversed(path):
        order = _order(heading.text, section.text)
        if order is None:
            if its is None or not _as_prominent(style, its) or its == below == style:
                break
            below = its
        elif order > 0:
            break
        number = section.number
    return number


def _as_prominent(style: Style, other: Style) -> bool:
    """Whether a style is as prominent as another one in size, weight and capitals."""
    return all(mine >= its for mine, its in zip(style[:3], other[:3], strict=True))


def _series(text: str) -> tuple[str, int] | None:
    """Return the word and the depth of the number that a heading begins with."""
    found = _SERIES.match(text)
    return None if found is None else ((found[1] or "").lower(), (found[2] or found[3]).count("."))


def _order(text: str, other: str) -> int | None:
    """Compare the levels of two headings by their numbering: 0 for the same, more if the first is below the other; None
    if it does not tell.
    """
    first, second = _series(text), _series(other)
    if first is None or second is None:
        return None
    if first[0] == second[0]:
        return first[1] - second[1]
    if first[0] in _WITHIN and second[0] in _WITHIN:
        return _WITHIN.index(first[0]) - _WITHIN.index(second[0])
    return None


def _useful(outline: Sequence[OutlineEntry]) -> list[OutlineEntry]:
    kept = [entry for entry in outline if not _NAMELESS.fullmatch(entry.title)]
    return kept if len({entry.title for entry in kept}) > 1 else []


def _normal(text: str) -> str:
    return _JOINERS.sub("", text.casefold())


def _of_outline(blocks: Sequence[Block], outline: Sequence[OutlineEntry]) -> list[Heading]:
    """Place each entry at the block of its page that contains its words, the others at the beginning of their pages if
    there are few. If there are many, as in pages cut from another file, only blocks equal to an entry are headings.
    """
    pages: dict[int, list[int]] = defaultdict(list)
    for index, block in enumerate(blocks):
        pages[block.page].append(index)
    spots: list[tuple[OutlineEntry, int | None, bool]] = []
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
            if at is None and len(wanted) > _SHORTEST and _names(wanted, text, blocks[index]):
                at = index
        earliest = earliest if at is None else at + replaces
        spots.append((entry, at, replaces))
    missing = sum(at is None for _, at, _ in spots)
    trusted = missing <= _MISSING * max(len(spots), 2 * max(pages, default=0))
    found: list[Heading] = []
    earliest = 0
    for entry, at, replaces in spots:
        if not (trusted or replaces) or len(entry.title) > _MAX_CHARACTERS:
            continue
        at = _first_of_page(blocks, entry.page) if at is None else at
        replaces = replaces and at >= earliest
        at = max(at, earliest)
        earliest = at + replaces
        found.append(Heading(blocks[at].text if replaces else entry.title, entry.level + 1, at, replaces))
    return found


def _names(wanted: str, text: str, block: Block) -> bool:
    """Whether a block begins with the title of an entry, or is a heading that has it, or most of it."""
    return text.startswith(wanted) or (
        block.lines <= _MAX_LINES
        and len(text) <= _MAX_CHARACTERS
        and (wanted in text or (text in wanted and len(text) > _MOST * len(wanted)))
    )


def _first_of_page(blocks: Sequence[Block], page: int) -> int:
    return next((index for index, block in enumerate(blocks) if block.page >= page), len(blocks))


def _of_type(
    blocks: Sequence[Block], taken: set[int], title: str, usual: Mapping[int, Type], lowest: int
) -> tuple[list[Heading], dict[int, Style]]:
    """Return the headings in prominent fonts, with numbers from ``lowest`` on, and their styles by block."""
    # If no font is bold, all are, or the file does not tell, capitals are used instead.
    capitals = len({block.bold for block in blocks if block.kind is Kind.TEXT}) == 1
    candidates = [
        index
        for index, block in enumerate(blocks)
        if index not in taken
        and block.kind is Kind.TEXT
        and _stands_out(block, usual[block.page], capitals=capitals)
        and _normal(block.text) != _normal(title)
        and not _goes_on(block, blocks[index + 1 : index + 2])
    ]
    if len(candidates) > _MAX_SHARE * len(blocks) + 3:
        candidates = [i for i in candidates if blocks[i].size >= LARGER * usual[blocks[i].page][0]]
    styles = {index: _style(blocks[index], usual[blocks[index].page][0]) for index in candidates}
    ranks = _ranks(blocks, styles)
    by_series = _ranks_of_series(blocks, styles, ranks)
    found = []
    above, moved = 0, 0  # the rank of the style of the last heading of a series, and how far it is below that
    for index, style in styles.items():
        text = blocks[index].text
        rank = ranks.index(style) if style in ranks else None
        of_series = by_series.get((_series(text) or ("", 0))[0])
        if of_series is not None:
            above, moved = (rank, max(0, of_series - rank)) if rank is not None else (0, 0)
            rank = of_series
        elif rank is not None:
            moved = moved if rank > above else 0
            rank += moved
        if rank is not None:
            found.append(Heading(text, lowest + rank, index, replaces=True))
    return found, styles


def _goes_on(block: Block, following: Sequence[Block]) -> bool:
    """Whether the text of a block continues in the next one: it is a line of running text."""
    return len(block.text) > _SHORT_LINE and any(
        after.kind is Kind.TEXT
        and not block.flow_end
        and after.text[0].islower()
        and abs(after.size - block.size) <= SIZE_TOLERANCE * block.size
        for after in following
    )


def _ranks_of_series(
    blocks: Sequence[Block], styles: Mapping[int, Style], ranks: Sequence[Style]
) -> dict[str, int]:
    """Return the rank of headings with a word and a number, such as "Item 3": that of most of them, whatever their
    style, and none above those that they are parts of.
    """
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    for index, style in styles.items():
        if style in ranks and (series := _series(blocks[index].text)) is not None and series[0]:
            counts[series[0]][ranks.index(style)] += 1
    found = {word: count.most_common(1)[0][0] for word, count in counts.items() if count.total() > 1}
    least = 0
    for word in filter(found.__contains__, _WITHIN):
        least = found[word] = max(least, found[word])
    return found


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
    usual: dict[int, Type] = {}
    if not counts:
        return usual
    (of_all, _), *_ = counts.most_common(1)
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
