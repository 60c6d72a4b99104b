"""PPTX: each slide is a section and a page."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from trivium.errors import ParseError
from trivium.limits import InputLimits
from trivium.parser.document import Document
from trivium.parser.documents.archive import Archive
from trivium.parser.documents.base import DocumentFile, page_of
from trivium.parser.documents.embedded import EmbeddedPicture
from trivium.parser.documents.heads import head_rows
from trivium.parser.documents.office import (
    Deadline,
    check_strict,
    metadata_of,
    modified_of,
    plain_type,
    sensible_title,
    translated,
)
from trivium.parser.documents.rows import RowRun, clean_cell
from trivium.parser.grid import Cell, Table
from trivium.parser.pictures import Pictures
from trivium.parser.runs import COMMA, LINE, TextRun, indented_line
from trivium.parser.tables import linearise
from trivium.text import normalise_heading, normalise_title
from trivium.types import ChunkKind, Page

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_SMART_ART = "/diagramData"
_BANDS = 12  # per slide height: shapes in the same band are read from left to right
_MAX_TITLE = 300
# Placeholders repeated on every slide: date, slide number, footer, header.
_RUNNING = frozenset(("dt", "sldNum", "ftr", "hdr"))


def read(file: DocumentFile, limits: InputLimits) -> Page:
    """Read the file as a page; see :class:`~trivium.parser.documents.base.DocumentReader`. Page numbers are those of
    the slides; hidden slides are left out but counted.
    """
    archive = Archive(file.data, limits)
    check_strict(archive)
    with translated("a PowerPoint file (.pptx)"):
        import pptx

        show = pptx.Presentation(archive.parts(plain_type))
        slides = _Slides(archive, limits, (show.slide_height or 0) // _BANDS or 1)
        deadline = Deadline(limits)
        for number, slide in enumerate(show.slides, start=1):
            deadline.check()
            if slide._element.get("show") not in ("0", "false"):
                slides.read(number, slide)
        properties = show.core_properties
        title = sensible_title(properties.title) or slides.first_title
        metadata, modified = metadata_of(properties), modified_of(properties)
    document = slides.document
    if not document.has_chunks:
        raise ParseError("the presentation has no text")
    return page_of(document, file, "pptx", title=title, modified=modified, metadata=metadata)


class _Slides:
    def __init__(self, archive: Archive, limits: InputLimits, band: int) -> None:
        self.document = Document(limits.headings)
        self.first_title: str | None = None
        self._archive = archive
        self._band = band
        self._pictures = Pictures(limits)
        self._blocks = 0  # blocks of the current slide

    def read(self, number: int, slide: Any) -> None:
        shapes = list(self._in_order(slide.shapes))
        title = slide.shapes.title
        name = "" if title is None else clean_cell(title.text_frame.text)[:_MAX_TITLE]
        if name and number == 1:
            self.first_title = normalise_title(name) or None
        self.document.page = number
        self._blocks = 0
        self.document.heading(normalise_heading(name) or f"Slide {number}", 1)
        for shape in shapes:
            if title is None or shape.shape_id != title.shape_id:
                self._shape(shape, slide)
        if slide.has_notes_slide:
            frame = slide.notes_slide.notes_text_frame
            if frame is not None:
                self._text(frame)
        if name and not self._blocks:  # a slide with only a title is found by its title
            self._block(ChunkKind.PARAGRAPH, RowRun([name]))

    def _block(self, kind: ChunkKind, run: TextRun) -> None:
        self._blocks += run.length > 0
        self.document.block(kind, run)

    def _in_order(self, shapes: Any) -> Iterator[Any]:
        """Yield shapes from top to bottom and left to right; groups are kept together."""

        def place(entry: tuple[int, Any]) -> tuple[int, int, int]:
            at, shape = entry
            return (shape.top or 0) // self._band, shape.left or 0, at

        for _, shape in sorted(enumerate(shapes), key=place):
            if shape.shape_type is not None and hasattr(shape, "shapes"):
                yield from self._in_order(shape.shapes)
            else:
                yield shape

    def _shape(self, shape: Any, slide: Any) -> None:
        if shape.is_placeholder and shape._element.ph.get("type") in _RUNNING:
            return
        if getattr(shape, "has_table", False):
            self._block(ChunkKind.TABLE, linearise(_table(shape.table)))
        elif getattr(shape, "has_chart", False):
            self._block(ChunkKind.TABLE, linearise(_chart(shape.chart)))
        elif shape.has_text_frame:
            self._text(shape.text_frame)
        else:
            self._smart_art(shape, slide)
        self._picture(shape, slide)

    def _text(self, frame: Any) -> None:
        run = TextRun()
        count = 0
        for paragraph in frame.paragraphs:
            text = clean_cell(paragraph.text.replace("\v", " "))
            if text:
                run.separate(indented_line(paragraph.level) if run.length else LINE)
                run.add(text)
                count += 1
        self._block(ChunkKind.LIST if count > 1 else ChunkKind.PARAGRAPH, run)

    def _smart_art(self, shape: Any, slide: Any) -> None:
        """Add the texts of a diagram, which are in a separate part."""
        lines: list[str] = []
        for element in shape._element.iter():
            identifier = element.get(f"{_R}dm") if isinstance(element.tag, str) else None
            part = self._part(slide, identifier, _SMART_ART)
            if part is not None:
                from pptx.oxml import parse_xml

                root: Any = parse_xml(part.blob)
                lines += [
                    clean_cell("".join(t.text or "" for t in paragraph.iter(f"{_A}t")))
                    for paragraph in root.iter(f"{_A}p")
                ]
        lines = list(filter(None, lines))
        self._block(ChunkKind.LIST, RowRun(lines) if lines else TextRun())

    def _picture(self, shape: Any, slide: Any) -> None:
        element = shape._element
        described = next((e for e in element.iter() if str(e.tag).endswith("}cNvPr")), None)
        alt = "" if described is None else described.get("descr") or ""
        for blip in element.iter(f"{_A}blip"):
            part = self._part(slide, blip.get(f"{_R}embed"), "/image")
            if part is not None:
                name = str(part.partname).lstrip("/")
                EmbeddedPicture(partial(self._archive.get, name), alt).add_to(self.document, self._pictures)

    @staticmethod
    def _part(slide: Any, identifier: str | None, kind: str) -> Any | None:
        if identifier is None or identifier not in slide.part.rels:
            return None
        relationship = slide.part.rels[identifier]
        if relationship.is_external or not relationship.reltype.endswith(kind):
            return None
        return relationship.target_part


def _table(table: Any) -> Table:
    out = Table(is_infobox=False)
    for row in table.rows:
        cells = []
        for source in row.cells:
            if source.is_spanned:
                continue
            cell = Cell(is_header=False, columns=source.span_width, rows=source.span_height)
            for paragraph in source.text_frame.paragraphs:
                cell.separate(COMMA)
                cell.add(clean_cell(paragraph.text.replace("\v", " ")))
            cells.append(cell)
        out.rows.append(cells)
    out.head_rows |= head_rows(out)
    if len(out.rows) > 1 and table.first_row:
        out.head_rows.add(0)
    return out


def _chart(chart: Any) -> Table:
    """Return the data of a chart: one row per category, one column per series."""
    out = Table(is_infobox=False)
    if chart.has_title and chart.chart_title.has_text_frame:
        out.caption.add(clean_cell(chart.chart_title.text_frame.text))
    for plot in chart.plots:
        series = list(plot.series)
        categories = [str(category) for category in plot.categories]
        values = [tuple(one.values) for one in series]
        out.head_rows.add(len(out.rows))
        out.rows.append(_cells(["", *(one.name for one in series)]))
        for at in range(max(map(len, values), default=0)):
            shown = [_number(column[at]) if at < len(column) else "" for column in values]
            out.rows.append(_cells([categories[at] if at < len(categories) else "", *shown]))
    return out


def _cells(texts: list[str]) -> list[Cell]:
    cells = []
    for text in texts:
        cell = Cell(is_header=False)
        cell.add(clean_cell(text))
        cells.append(cell)
    return cells


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.15g}"
