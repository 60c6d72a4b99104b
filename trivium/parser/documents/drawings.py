"""Charts and diagrams of Office files."""

from __future__ import annotations

from typing import Any

from trivium.parser.documents.office import Package, R, local
from trivium.parser.documents.rows import clean_cell
from trivium.parser.grid import Cell, Table

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
"""The XML namespace of text in drawings."""
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"


def chart_of(package: Package, part: str, drawing: Any, where: str) -> Table | None:
    """Return the data of the chart in a drawing of ``part``: a row for each category, a column for each series. None if
    there is none. ``where`` tells a reader where the drawing is.
    """
    chart = next(drawing.iter(f"{_C}chart"), None)
    if chart is None:
        return None
    relation = package.relations(part).get(chart.get(f"{R}id") or "")
    if relation is None:
        package.document.leave_out(f"a chart{where}", "the file has no data of it")
        return None
    root = package.xml(relation.target, f"a chart{where}")
    return None if root is None else _table(root)


def diagram_of(package: Package, part: str, drawing: Any, where: str) -> list[str]:
    """Return the texts of the diagram (SmartArt) in a drawing of ``part``."""
    lines = []
    for element in drawing.iter("{*}relIds"):
        relation = package.relations(part).get(element.get(f"{R}dm") or "")
        root = None if relation is None else package.xml(relation.target, f"a diagram{where}")
        paragraphs = () if root is None else root.iter(f"{A}p")
        lines += [clean_cell("".join(text.text or "" for text in one.iter(f"{A}t"))) for one in paragraphs]
    return list(filter(None, lines))


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
        found[at] = f"{text} {found[at]}" if at in found else text
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
