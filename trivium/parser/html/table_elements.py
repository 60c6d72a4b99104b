"""Handlers for tables: data tables, infoboxes, and tables used only for layout."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from trivium.parser.document import Document
from trivium.parser.html.reader import SKIP, Leave, Mode, Reader, handles
from trivium.parser.html.skipped_elements import is_skipped, is_struck
from trivium.parser.tables import BETWEEN_CELLS, MAX_COLUMNS, MAX_ROWS, Cell, Table, linearise, parse_span
from trivium.parser.text_runs import COLON, LINE, TextRun
from trivium.types import ChunkKind

_MAX_NESTED = 4  # nested tables; deeper ones are read as plain content of the surrounding cell
_LAYOUT_CLASSES = (  # nested layout tables that are read line by line
    (ChunkKind.QUOTE, frozenset(("cquote", "pullquote", "quotebox"))),
    (ChunkKind.LIST, frozenset(("clade",))),
)
_DATA_CLASSES = frozenset(("wikitable", "infobox"))
_BLOCKS = frozenset(("ul", "ol", "dl", "table", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre"))
_ROW_GROUPS = frozenset(("tbody", "thead", "tfoot"))


@handles("table")
def _table(reader: Reader, node: LexborNode) -> Leave:
    attributes = node.attributes
    if is_skipped(attributes, "table"):
        return SKIP
    names = (attributes.get("class") or "").split()
    if reader.mode is Mode.FLOW:
        for kind, classes in _LAYOUT_CLASSES:
            if not classes.isdisjoint(names):
                reader.open_chunk(kind)
                reader.tables.append(None)
                return _leave_layout_chunk
    if len(reader.tables) >= _MAX_NESTED or _is_layout(node, attributes, names):
        reader.edge()
        reader.tables.append(None)
        return _leave_layout_table
    outer = reader.tables[-1] if reader.tables else None
    is_infobox = "infobox" in names or (outer is not None and outer.is_infobox)
    if reader.mode is Mode.FLOW:
        reader.flush()
    reader.tables.append(Table(is_infobox))
    return _leave_table


def _leave_table(reader: Reader) -> None:
    table = reader.tables.pop()
    if table is None:
        return
    is_nested = reader.mode is not Mode.FLOW
    if table.is_infobox:
        run = linearise_infobox(table, reader.document)
    else:
        run = linearise(table, "; ") if reader.mode is Mode.CELL else linearise(table)
    if is_nested:
        reader.edge()
        reader.run.append(run)
        reader.edge()
    else:
        kind = ChunkKind.CODE if table.has_code else ChunkKind.TABLE
        reader.document.block(ChunkKind.INFOBOX if table.is_infobox else kind, run)


def _leave_layout_table(reader: Reader) -> None:
    reader.tables.pop()
    reader.edge()


def _leave_layout_chunk(reader: Reader) -> None:
    reader.tables.pop()
    reader.close_chunk()


@handles("caption")
def _caption(reader: Reader, node: LexborNode) -> Leave:
    if is_skipped(node.attributes, "caption"):
        return SKIP
    table = reader.tables[-1] if reader.tables else None
    if table is None:
        reader.edge()
        return Reader.edge
    reader.open(table.caption, Mode.CELL, ChunkKind.TABLE)
    return Reader.leave_run


@handles("tr")
def _row(reader: Reader, node: LexborNode) -> Leave | None:
    if is_skipped(node.attributes, "tr"):
        return SKIP
    table = reader.tables[-1] if reader.tables else None
    if table is None:
        reader.edge()
        return Reader.edge
    parent = node.parent
    if parent is not None and parent.tag == "thead":
        table.head_rows.add(len(table.rows))
    if parent is not None and parent.tag in _ROW_GROUPS and parent.mem_id != table.group:
        table.group = parent.mem_id
        table.groups.add(len(table.rows))
    table.rows.append([])
    return None


@handles("td", "th")
def _cell(reader: Reader, node: LexborNode) -> Leave:
    attributes = node.attributes
    tag = node.tag
    if attributes and is_skipped(attributes, tag):
        return SKIP
    table = reader.tables[-1] if reader.tables else None
    if table is None or not table.rows:
        reader.edge()
        return Reader.edge
    cell = Cell(is_header=tag == "th")
    if attributes:
        if "colspan" in attributes:
            cell.columns = parse_span(attributes["colspan"], MAX_COLUMNS)
        if "rowspan" in attributes:
            cell.rows = parse_span(attributes["rowspan"], MAX_ROWS)
        cell.of_row = cell.is_header and attributes.get("scope") in ("row", "rowgroup")
    table.rows[-1].append(cell)
    if attributes and is_struck(attributes):
        return SKIP
    reader.open(cell, Mode.CELL, ChunkKind.TABLE)
    return Reader.leave_run


def _is_layout(node: LexborNode, attributes: dict[str, str | None], names: list[str]) -> bool:
    """Whether a table is used only for layout: it has no headers and its cells contain blocks, such as lists in columns
    or images side by side.
    """
    if not _DATA_CLASSES.isdisjoint(names):
        return False
    if attributes.get("role") == "presentation":
        return True
    has_blocks = False
    for cell in _cells(node):
        if cell.tag == "th":
            return False
        if not has_blocks:
            has_blocks = any(child.tag in _BLOCKS for child in cell.iter())
    return has_blocks


def _cells(table: LexborNode) -> Iterator[LexborNode]:
    for group in table.iter():
        if group.tag == "tr":
            yield from group.iter()
        elif group.tag in _ROW_GROUPS:
            for row in group.iter():
                yield from row.iter()


_MAX_TYPE = 80  # characters; longer labels are sentences, not the name of a relation
_MAX_LABEL = 1_000  # characters; decoration of longer labels is not removed, which would take quadratic time
_PLURAL = re.compile(r"\((?:e?s|ren)\)(?=\W*$)")
_ORNAMENT = re.compile(r"^[\W_]+|[^\w)\]%'’\"]+$")


def relation_type(label: str) -> str | None:
    """Convert a row's label to a relation type: lower case, without plural endings in parentheses, bullets and colon.
    None if no letter remains, or more than 80 characters.

    >>> relation_type(" • Official language(s):")
    'official language'
    """
    if len(label) > _MAX_LABEL:
        return None
    clean = _PLURAL.sub("", _ORNAMENT.sub("", " ".join(label.lower().split())))
    return clean if 0 < len(clean) <= _MAX_TYPE and any(map(str.isalpha, clean)) else None


def linearise_infobox(table: Table, document: Document) -> TextRun:
    """Write the rows of an infobox, one per line, and add the links of its values to the document's relations."""
    out = TextRun()
    out.append(table.caption)
    for row in table.rows:
        out.separate(LINE)
        cells = [cell for cell in row if cell.length]
        label = _label_of(row)
        if label is not None:
            cells = [cell for cell in cells if cell is not label]
            if cells:
                _relate(label, row, document)
                out.append(label)
                out.separate(COLON)
        for cell in cells or row[:1]:
            out.append(cell)
            out.separate(BETWEEN_CELLS)
    return out


def _label_of(row: list[Cell]) -> Cell | None:
    """Return the cell that labels the other cells of its row: a header, or a plain cell that ends with a colon."""
    if len(row) < 2 or not row[0].length:
        return None
    first = row[0]
    if first.is_header:
        return None if all(cell.is_header for cell in row) else first
    return first if first.parts[-1].endswith(":") else None


def _relate(label: Cell, row: list[Cell], document: Document) -> None:
    name = relation_type(label.text)
    if name is None:
        return
    for cell in row:
        if cell is not label:
            for target, start, end in cell.links:
                if end > start:  # a link without text is an icon, not a value
                    document.relate(name, target)
