"""Charts and diagrams of Office files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from trivium.parser.document import Document
from trivium.parser.documents.office import Package, R, local
from trivium.parser.documents.table_rows import RowRun, clean_cell
from trivium.parser.picture_text import Pictures
from trivium.parser.tables import Cell, Table, linearise
from trivium.parser.text_runs import TextRun
from trivium.types import ChunkKind

if TYPE_CHECKING:
    from trivium.parser.documents.office import Package

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
"""The XML namespace of text in drawings."""
_MAX_LABEL = 300  # characters of a nested category
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"


def drawn_texts(package: Package, part: str, drawing: Any, where: str) -> list[tuple[ChunkKind, TextRun]]:
    """Return the texts of the charts and diagrams (SmartArt) in a drawing of ``part``: of a chart, a row for each
    category and a column for each series. ``where`` tells a reader where the drawing is.
    """
    found: list[tuple[ChunkKind, TextRun]] = []
    for chart in drawing.iter(f"{_C}chart"):
        relation = package.relations(part).get(chart.get(f"{R}id") or "")
        if relation is None:
            package.document.leave_out(f"a chart{where}", "the file has no data of it")
        elif (root := package.xml(relation.target, f"a chart{where}")) is not None:
            found.append((ChunkKind.TABLE, linearise(_table(root))))
    for diagram in drawing.iter("{*}relIds"):
        relation = package.relations(part).get(diagram.get(f"{R}dm") or "")
        root = None if relation is None else package.xml(relation.target, f"a diagram{where}")
        found.append((ChunkKind.LIST, RowRun(texts_of(root))))
    return found


def texts_of(root: Any | None) -> list[str]:
    """Return the texts of all paragraphs below an element of a drawing."""
    paragraphs = () if root is None else root.iter(f"{A}p")
    texts = (clean_cell("".join(text.text or "" for text in one.iter(f"{A}t"))) for one in paragraphs)
    return list(filter(None, texts))


def _table(root: Any) -> Table:
    table = Table(is_infobox=False)
    for title in root.iterfind(f"{_C}chart/{_C}title"):
        table.caption.add(clean_cell(" ".join(text.text or "" for text in title.iter(f"{A}t", f"{_C}v"))))
    for plot in root.iterfind(f"{_C}chart/{_C}plotArea/*"):
        series = list(plot.iterchildren(f"{_C}ser"))
        if not series or not local(plot).endswith("Chart"):
            continue
        names = [" ".join(filter(None, _points(one, "tx").values())) for one in series]
        categories: dict[int, str] = {}
        for one in series:
            categories = categories or _points(one, "cat") or _points(one, "xVal")
        values = [_points(one, "val") or _points(one, "yVal") for one in series]
        table.head_rows.add(len(table.rows))
        table.rows.append(_cells(["", *names]))
        for at in sorted({*categories, *(at for column in values for at in column)}):
            shown = [_number(column.get(at, "")) for column in values]
            table.rows.append(_cells([categories.get(at, ""), *shown]))
    return table


def _points(series: Any, name: str) -> dict[int, str]:
    """Return the cached values of a series by their place; of nested categories, all levels of a place."""
    found: dict[int, str] = {}
    parent = series.find(f"{_C}{name}")
    for number, point in enumerate(() if parent is None else parent.iter(f"{_C}pt")):
        index = point.get("idx") or ""
        text = point.findtext(f"{_C}v") or ""
        at = int(index) if index.isascii() and index.isdigit() else number
        found[at] = f"{text} {found[at]}"[:_MAX_LABEL] if at in found else text
    direct = "" if parent is None else parent.findtext(f"{_C}v") or ""
    return found or ({0: direct} if direct else {})


def _number(text: str) -> str:
    try:
        return f"{float(text):.15g}"
    except ValueError:  # an error such as #N/A
        return "" if text.startswith("#") else text


def _cells(texts: list[str]) -> list[Cell]:
    cells = []
    for text in texts:
        cell = Cell(is_header=False)
        cell.add(clean_cell(text))
        cells.append(cell)
    return cells


@dataclass(frozen=True, slots=True)
class EmbeddedPicture:
    """A picture. ``load`` returns its bytes, None if they are missing or too many; nothing is unpacked before. ``alt``
    is the alternative text, ``caption`` the paragraph below it.
    """

    load: Callable[[], bytes | None]
    alt: str = ""
    caption: str = ""

    def add_to(self, document: Document, pictures: Pictures) -> None:
        """Add its alternative text, its caption and, with the extra ``ocr``, the text in it."""
        pictures.add(document, alt=self.alt, caption=self.caption, picture=self.load)


def embedded_picture(package: Package, part: str, identifier: str | None, alt: str) -> EmbeddedPicture | None:
    """Return the picture that a part of an Office file refers to; None if it refers to none in the file."""
    relation = package.relations(part).get(identifier or "")
    if relation is None or relation.is_external or relation.kind != "image":
        return None
    if relation.target not in package.archive:
        package.document.leave_out("a picture", f"the file has no {relation.target!r}")
    return EmbeddedPicture(partial(package.archive.get, relation.target), alt)
