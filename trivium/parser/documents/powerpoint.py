"""PPTX: each slide is a section and a page. Its XML is read shape by shape, because libraries refuse a file for one chart
or shape that they do not know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from trivium.parser.documents.archive import Archive
from trivium.parser.documents.document_file import DocumentFile
from trivium.parser.documents.drawings import A, drawn_texts, embedded_picture
from trivium.parser.documents.header_rows import head_rows
from trivium.parser.documents.office import Deadline, Package, R, integer, local, translated
from trivium.parser.documents.office_text import M, ShiftedText, formula
from trivium.parser.documents.table_rows import RowRun
from trivium.parser.documents.word_numbering import formatted
from trivium.parser.documents.word_text import content
from trivium.parser.picture_text import Pictures
from trivium.parser.symbol_fonts import SYMBOL_FONTS, symbols
from trivium.parser.tables import MAX_COLUMNS, MAX_ROWS, Cell, Table, linearise, parse_span
from trivium.parser.text_runs import BREAK, COMMA, LINE, TextRun, indented_line
from trivium.settings.limits import InputLimits
from trivium.text.normalise import normalise_heading, normalise_title
from trivium.types import ChunkKind, Page

_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_BANDS = 12  # per slide height: shapes in the same band are read from left to right
_USUAL_HEIGHT = 6_858_000
_MAX_TITLE = 300
_TITLES = frozenset(("title", "ctrTitle"))
# Placeholders repeated on every slide: date, slide number, footer, header.
_RUNNING = frozenset(("dt", "sldNum", "ftr", "hdr"))
_OFF = frozenset(("0", "false"))
_SHAPES = frozenset(("sp", "pic", "graphicFrame", "cxnSp"))
_MAX_LEVEL = 8


def read(file: DocumentFile, limits: InputLimits) -> Page:
    """Read the file as a page; see :class:`.DocumentReader`. Page numbers are those of
    the slides; hidden slides are left out but counted.
    """
    package = Package(Archive(file.data, limits), limits)
    document = package.document
    with translated("a PowerPoint file (.pptx)"):
        main, show = package.main(
            "ppt/presentation.xml", "presentation", (f"{_P}sldIdLst", f"{_P}sldId"), "ppt/slides/slide"
        )
        size = show.find(f"{_P}sldSz")
        slides = _Slides(package, limits, integer(None if size is None else size.get("cy"), _USUAL_HEIGHT))
        deadline = Deadline(limits)
        for number, entry in enumerate(show.iterfind(f"{_P}sldIdLst/{_P}sldId"), start=1):
            deadline.check()
            with document.part(f"slide {number}"):
                slides.read(number, package.entry(main, entry, f"ppt/slides/slide{number}.xml"))
        slides.footers()
        properties = package.properties()
    document.expect_chunks("the presentation has no text")
    return properties.page_of(document, file, "pptx", slides.first_title)


class _Slides:
    def __init__(self, package: Package, limits: InputLimits, height: int) -> None:
        self.document = package.document
        self.first_title: str | None = None
        self._package = package
        self._band = height // _BANDS or 1
        self._pictures = Pictures(limits)
        self._footers: dict[str, None] = {}
        self._layouts: list[_Placeholders] = []
        self._master: Any | None = None
        self._part = ""
        self._where = ""

    def read(self, number: int, part: str) -> None:
        self._part, self._where = part, f" of slide {number}"
        root = self._package.xml(part, f"a part of slide {number}")
        tree = None if root is None else root.find(f"{_P}cSld/{_P}spTree")
        if root is None or tree is None or root.get("show") in _OFF:
            return
        layout, above = self._package.related(part, "slideLayout", f"the layout{self._where}")
        master = (
            self._package.related(layout, "slideMaster", f"the layout{self._where}")[1] if layout else None
        )
        self._layouts = [_placeholders(one) for one in (above, master) if one is not None]
        self._master = master
        shapes = list(self._in_order(tree))
        title = next((shape for shape in shapes if _placeholder(shape).get("type") in _TITLES), None)
        name = "" if title is None else " ".join(_text_of(title).text.split())[:_MAX_TITLE]
        if name and number == 1:
            self.first_title = normalise_title(name) or None
        self.document.page = number
        self.document.heading(normalise_heading(name) or f"Slide {number}", 1)
        if not name:
            self.document.keep_headings_out()
        for shape in shapes:
            if shape is not title:
                with self.document.part(f"a shape{self._where}"):
                    self._shape(shape)
        _, notes = self._package.related(part, "notesSlide", f"the notes{self._where}")
        for shape in () if notes is None else notes.iter(f"{_P}sp"):
            if _placeholder(shape).get("type") == "body":
                self._text(_text_of(shape))
        _, comments = self._package.related(part, "comments", f"the comments{self._where}")
        for text in () if comments is None else comments.iter("{*}text"):
            self.document.block(
                ChunkKind.PARAGRAPH, RowRun([f"Comment: {' '.join((text.text or '').split())}"])
            )

    def footers(self) -> None:
        """Add the footers of the slides, once, behind them."""
        self.document.block(ChunkKind.PARAGRAPH, RowRun(list(self._footers)))

    def _in_order(self, tree: Any) -> Iterator[Any]:
        """Yield shapes from top to bottom and left to right; groups are kept together."""
        placed = []
        for at, shape in enumerate(content(tree)):
            if local(shape) == "grpSp" or local(shape) in _SHAPES:
                left, top = self._offset(shape)
                placed.append((top // self._band, left, at, shape))
        for *_, shape in sorted(placed, key=lambda entry: entry[:3]):
            if local(shape) == "grpSp":
                yield from self._in_order(shape)
            else:
                yield shape

    def _shape(self, shape: Any) -> None:
        if (kind := _placeholder(shape).get("type")) in _RUNNING:
            text = " ".join(_text_of(shape).text.split())
            if kind == "ftr" and text:
                self._footers[text] = None
            return
        table = next(shape.iter(f"{A}tbl"), None)
        if table is not None:
            self.document.block(ChunkKind.TABLE, linearise(_table(table)))
        else:
            self._text(_text_of(shape, self._list_styles(shape)))
        for of_drawing, run in drawn_texts(self._package, self._part, shape, self._where):
            self.document.block(of_drawing, run)
        described = next(shape.iter("{*}cNvPr"), None)
        alt = "" if described is None else described.get("descr") or ""
        for blip in shape.iter(f"{A}blip"):
            picture = embedded_picture(self._package, self._part, blip.get(f"{R}embed"), alt)
            if picture is not None:
                picture.add_to(self.document, self._pictures)

    def _inherited(self, shape: Any) -> Iterator[Any]:
        """Yield the placeholders of the layout and the master that a shape takes the place of."""
        wanted = _placeholder(shape)
        for pair in (("idx", wanted.get("idx")), ("type", wanted.get("type"))):
            for layout in self._layouts:
                if pair in layout:
                    yield layout[pair]

    def _offset(self, shape: Any) -> tuple[int, int]:
        """Return the place of a shape; without one of its own, it is that of its placeholder in the layout."""
        for source in (shape, *self._inherited(shape)):
            place = next(iter(source.iterfind(f"./*/{A}xfrm/{A}off")), None)
            place = source.find(f"{_P}xfrm/{A}off") if place is None else place
            if place is not None:
                return integer(place.get("x")), integer(place.get("y"))
        return 0, 0

    def _list_styles(self, shape: Any) -> list[Any]:
        """Return what layout and master say of the lists of a placeholder: elements with a child for each level."""
        found = [source.find(f"{_P}txBody/{A}lstStyle") for source in self._inherited(shape)]
        if _placeholder(shape).get("type") in ("body", "obj") and self._master is not None:
            found.append(self._master.find(f"{_P}txStyles/{_P}bodyStyle"))
        return [style for style in found if style is not None]

    def _text(self, run: TextRun) -> None:
        self.document.block(ChunkKind.LIST if LINE in run.text else ChunkKind.PARAGRAPH, run)


def _placeholder(shape: Any) -> dict[str, str]:
    """Return what a shape is a placeholder of: its ``type`` and ``idx``; empty if it is none."""
    found = shape.find(f"{_P}nv{local(shape)[:1].upper()}{local(shape)[1:]}Pr/{_P}nvPr/{_P}ph")
    return {} if found is None else {"type": "obj", **found.attrib}


_Placeholders = dict[tuple[str, str | None], Any]
"""The placeholders of a layout, by their ``idx`` and ``type``."""


def _placeholders(layout: Any) -> _Placeholders:
    found: _Placeholders = {}
    for shape in layout.iter(f"{_P}sp"):
        for pair in _placeholder(shape).items():
            found.setdefault(pair, shape)
    return found


def _text_of(shape: Any, list_styles: Sequence[Any] = ()) -> TextRun:
    """Return the text of a shape or cell, with a line for each paragraph. ``list_styles`` are those it inherits."""
    run = TextRun()
    body = next(shape.iterchildren(f"{_P}txBody", f"{A}txBody"), None)
    if body is not None and (own := body.find(f"{A}lstStyle")) is not None:
        list_styles = [own, *list_styles]
    numbers: dict[int, tuple[str, int]] = {}  # by level: kind of number, and the last one
    for paragraph in () if body is None else body.iterchildren(f"{A}p"):
        text = _paragraph(paragraph)
        properties = paragraph.find(f"{A}pPr")
        level = min(integer(None if properties is None else properties.get("lvl")), _MAX_LEVEL)
        if not text.length:
            continue
        label = _label(list_styles, properties, level, numbers)
        run.separate(indented_line(level) if run.length else LINE)
        if label:
            run.add(f"{label} ")
        run.append(text)
    return run


def _paragraph(paragraph: Any) -> TextRun:
    run = TextRun()
    text = ShiftedText(run)
    for child in content(paragraph):
        name = local(child)
        if name in ("r", "fld"):
            properties = child.find(f"{A}rPr")
            look = {} if properties is None else properties.attrib
            if look.get("strike", "noStrike") == "noStrike":
                shown = child.findtext(f"{A}t") or ""
                for font in () if properties is None else properties.iterchildren(f"{A}latin", f"{A}sym"):
                    name = font.get("typeface") or ""
                    if name.lower() in SYMBOL_FONTS:
                        shown = symbols(shown, name, only_private=local(font) == "sym")
                        break
                shown = symbols(shown, None)
                baseline = look.get("baseline", "0").rstrip("%")
                text.add(shown.replace("\v", " "), integer(baseline))
        elif name == "br":
            text.end()
            run.separate(BREAK)
        elif name == "m":
            for inner in child.iter(f"{M}oMath"):
                text.add_formula(formula(inner))
    text.end()
    return run


def _label(
    list_styles: Sequence[Any], properties: Any, level: int, numbers: dict[int, tuple[str, int]]
) -> str:
    """Return the automatic number of a paragraph, and count it."""
    name = f"{A}lvl{level + 1}pPr"
    bullet = None
    for source in (properties, *(style.find(name) for style in list_styles)):
        if bullet is None and source is not None:
            bullet = next((child for child in source if local(child) in _BULLETS), None)
    for deeper in [at for at in numbers if at > level]:
        del numbers[deeper]
    if bullet is None or local(bullet) != "buAutoNum":
        numbers.pop(level, None)
        return ""
    kind, start = bullet.get("type") or "", integer(bullet.get("startAt"), 1)
    last = numbers.get(level)
    number = last[1] + 1 if last is not None and last[0] == kind else start
    numbers[level] = kind, number
    script = next((name for prefix, name in _NUMBERS if kind.startswith(prefix)), "decimal")
    shown = formatted(number, script)
    return (
        f"({shown})"
        if "Both" in kind
        else shown + (")" if "ParenR" in kind else "" if "Plain" in kind else ".")
    )


_BULLETS = frozenset(("buAutoNum", "buNone", "buChar", "buBlip"))
_NUMBERS = (
    ("alphaLc", "lowerLetter"),
    ("alphaUc", "upperLetter"),
    ("romanLc", "lowerRoman"),
    ("romanUc", "upperRoman"),
)


def _table(table: Any) -> Table:
    out = Table(is_infobox=False)
    for row in table.iterchildren(f"{A}tr"):
        cells = []
        for source in row.iterchildren(f"{A}tc"):
            if {source.get("hMerge"), source.get("vMerge")} & {"1", "true"}:
                continue
            cell = Cell(
                is_header=False,
                columns=parse_span(source.get("gridSpan"), MAX_COLUMNS),
                rows=parse_span(source.get("rowSpan"), MAX_ROWS),
            )
            for line in _text_of(source).text.split(LINE):
                cell.separate(COMMA)
                cell.add(line)
            cells.append(cell)
        out.rows.append(cells)
    out.head_rows |= head_rows(out)
    properties = table.find(f"{A}tblPr")
    if len(out.rows) > 1 and properties is not None and properties.get("firstRow") in ("1", "true"):
        out.head_rows.add(0)
    return out
