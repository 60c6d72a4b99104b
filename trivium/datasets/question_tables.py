"""Question files that are tables: CSV and TSV, as spreadsheets write them.

The first row has the keys of question files, in any case; ``answer``, ``quote`` and ``gold_title`` are for one value.
A cell may have several answers, titles, pages, quotes or earlier questions, one in each line. Answers may be separated
by ``|``, and those in a column ``answers``, page numbers and titles in ``gold_titles`` also by ``;``. Columns
``answer 1``, ``answer 2`` are read together. A cell may also be JSON. With a ``quote`` a ``page`` is the passage that
holds it; several pages are all needed (``gold_titles``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trivium.errors import InputError
from trivium.parser.documents.delimited import table_rows
from trivium.settings.limits import DEFAULT_LIMITS

_SINGULAR = {"answer": "answers", "quote": "quotes", "gold_title": "gold_titles"}
_SEPARATORS = {
    "answer": r"[\n|]", "answers": r"[\n|;]", "page": r"\n", "pages": r"[\n|;,]", "quote": r"(?!)", "quotes": r"\n",
    "gold_title": r"\n", "gold_titles": r"[\n|;]", "history": r"\n",
}  # fmt: skip
_FLAGS = ("unanswerable", "gold_any")
_NO = ("false", "no", "n", "0", "-", "falsch", "nein", "faux", "non")


def is_table(path: Path) -> bool:
    """Whether a question file is a table, by its name."""
    return path.suffix.lower() in (".csv", ".tsv", ".tab")


def table_questions(data: bytes, name: str) -> list[tuple[int, Mapping[str, Any]]]:
    """Return the rows of a table with their numbers, as objects of a question file. Raises InputError without a column
    ``question``.
    """
    filled = [
        (number, [str(cell).strip() for cell in row])
        for number, row in enumerate(table_rows(data, name, DEFAULT_LIMITS), 1)
        if any(str(cell).strip() for cell in row)
    ]
    names = filled[0][1] if filled else []
    heads = [re.sub(r"\W+", "_", head.lower().rstrip("0123456789").rstrip(" _")) for head in names]
    if "question" not in heads:
        raise InputError(f'expected a column "question", got the columns {", ".join(names)[:200] or "none"}')
    return [(number, _row(heads, cells)) for number, cells in filled[1:]]


def _row(heads: list[str], cells: list[str]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for head, cell in zip(heads, cells, strict=False):
        value = _json(cell) if cell[:1] in ("[", "{") else cell
        if cell and head in _SEPARATORS:
            parts = value if isinstance(value, list) else re.split(_SEPARATORS[head], cell)
            given = [part.strip() if isinstance(part, str) else part for part in parts]
            row.setdefault(_SINGULAR.get(head, head), []).extend(part for part in given if part != "")
        elif cell:
            row[head] = cell.casefold() not in _NO if head in _FLAGS else value
    pages, quotes = row.pop("page", []), row.pop("quotes", [])
    if "pages" in row:
        row["pages"] = [int(number) if str(number).isdecimal() else number for number in row["pages"]]
    if quotes and "document" in row:
        row.setdefault("evidence", [{"document": row["document"], "quotes": quotes}])
    elif quotes and len(pages) == 1:
        row.setdefault("gold_passages", [{"title": pages[0], "text": quote} for quote in quotes])
    elif len(pages) > 1:
        row.setdefault("gold_titles", pages)
    return row | ({"page": pages[0]} if pages else {})


def _json(cell: str) -> Any:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell
