"""One line of text, marked up alike in every format that can."""

from __future__ import annotations

import pptx
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont

from tests.parser.documents.files import book_of, read, saved, texts, workbook
from tests.parser.documents.office_xml import paragraph, run, word

FORMATS = ("html", "wiki", "epub", "markdown", "docx", "pptx", "xlsx")
TAGS = {"up": "sup", "down": "sub", "struck": "s", "": ""}
_WORD = {
    "up": '<w:vertAlign w:val="superscript"/>',
    "down": '<w:vertAlign w:val="subscript"/>',
    "struck": "<w:strike/>",
    "": "",
}
_SLIDE = {"up": ("baseline", "30000"), "down": ("baseline", "-25000"), "struck": ("strike", "dblStrike")}
_SHEET = {"up": {"vertAlign": "superscript"}, "down": {"vertAlign": "subscript"}, "struck": {"strike": True}}

Parts = list[tuple[str, str]]
"""Text, and how it looks: ``up``, ``down``, ``struck``, or plain (empty)."""


def html_of(parts: Parts) -> str:
    """The parts with the tags of HTML."""
    return "".join(f"<{TAGS[look]}>{text}</{TAGS[look]}>" if look else text for text, look in parts)


def file_of(format: str, parts: Parts) -> bytes:
    """A file in which the parts are the first paragraph, text box or cell below a header."""
    html = html_of(parts)
    if format in ("html", "wiki", "epub"):
        title = "<title>Notes</title>"
        inside = f'<div id="mw-content-text"><p>{html}</p></div>' if format == "wiki" else f"<p>{html}</p>"
        page = f"<html><head>{title}</head><body>{inside}</body></html>"
        return book_of(page) if format == "epub" else page.encode()
    if format == "markdown":
        return f"{html}\n".encode()
    if format == "docx":
        return word(paragraph(*(run(text, _WORD[look]) for text, look in parts)))
    if format == "pptx":
        show = pptx.Presentation()
        frame = show.slides.add_slide(show.slide_layouts[6]).shapes.add_textbox(0, 0, 9, 9).text_frame
        for text, look in parts:
            one = frame.paragraphs[0].add_run()
            one.text = text
            if look:
                one._r.get_or_add_rPr().set(*_SLIDE[look])
        return saved(show)
    book = workbook(["Line", "Of"])
    book.active["B2"] = "one"
    rich = [TextBlock(InlineFont(**_SHEET[look]), text) if look else text for text, look in parts]
    book.active["A2"] = CellRichText(*rich)
    return saved(book)


def line_of(format: str, parts: Parts) -> str:
    """The parts as they are read from a file of the format."""
    name = "html" if format == "wiki" else format
    lines = [
        line for _, _, text in texts(read(name, file_of(format, parts))) for line in text.split("\n") if line
    ]
    return lines[-1].removeprefix("Line: ").removesuffix("; Of: one").removesuffix(": one")
