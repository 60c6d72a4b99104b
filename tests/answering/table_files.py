"""Tables as files of several formats, for tests of what is answered from their rows. The first row is the heads."""

from __future__ import annotations

import io
from collections.abc import Sequence

import docx
import openpyxl

Rows = Sequence[Sequence[str]]


def in_html(title: str, rows: Rows) -> str:
    cells = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows[1:])
    heads = "".join(f"<th>{cell}</th>" for cell in rows[0])
    return f"<h1>{title}</h1><table><tr>{heads}</tr>{cells}</table>"


def in_word(title: str, rows: Rows) -> bytes:
    document, saved = docx.Document(), io.BytesIO()
    document.add_heading(title, 1)
    table = document.add_table(len(rows), len(rows[0]))
    for at, row in enumerate(rows):
        for column, text in enumerate(row):
            table.cell(at, column).text = text
    document.save(saved)
    return saved.getvalue()


def in_excel(rows: Sequence[Sequence[str | float]]) -> bytes:
    book, saved = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(list(row))
    book.save(saved)
    return saved.getvalue()
