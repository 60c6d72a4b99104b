"""An infobox as "label: value" lines, and its linked values as relations of the page's subject."""

from __future__ import annotations

import re

from trivium.parser.document import Document
from trivium.parser.grid import Cell, Table
from trivium.parser.runs import COLON, LINE, TextRun
from trivium.parser.tables import BETWEEN_CELLS

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
