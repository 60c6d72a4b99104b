"""Words of documents that are in no passage, over documents made here, by extractors independent of the parser."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest

from experiments.documents.lost_words import lost
from tests.parser.documents.files import book_of


def _words(random_: random.Random, count: int) -> str:
    syllables = ["ba", "ko", "li", "mur", "ne", "pol", "ra", "sti", "tu", "vex", "zor", "qui"]
    return " ".join("".join(random_.choices(syllables, k=3)).capitalize() for _ in range(count))


def _steps(seed: int) -> list[tuple[str, str]]:
    random_ = random.Random(seed)
    kinds = random_.choice(
        (["heading"], ["heading", "text"], ["heading", "text", "list", "table", "bold", "code", "quote"])
    )
    return [(random_.choice(kinds), _words(random_, random_.randint(1, 6))) for _ in range(30)]


def html(steps: list[tuple[str, str]]) -> bytes:
    forms = {"heading": "<h{n}>{t}</h{n}>", "text": "<p>{t}</p>", "list": "<ul><li>{t}</li></ul>"}
    forms |= {"table": "<table><caption>{t} x</caption><tr><td>{t}</td><td>{t}</td></tr></table>"}
    forms["bold"] = "<p><b>{t}</b></p>"
    forms["code"] = (
        "<ol><li>{t}<pre><code>go = 1\n {t}</code></pre>x</ol><table><tr><th>{t}<td><pre>a\n{t}</pre></table>"
    )
    forms["quote"] = "<blockquote>{t}<pre><code>{t} = 2</code></pre></blockquote><dl><dt>{t}<dd>{t}</dl>"
    body = "".join(forms[kind].format(t=text, n=1 + at % 4) for at, (kind, text) in enumerate(steps))
    return f"<html><head><title>Deeds</title></head><body><main>{body}</main></body></html>".encode()


def markdown(steps: list[tuple[str, str]]) -> bytes:
    forms = {"heading": "## {t}", "text": "{t}", "list": "- {t}", "bold": "**{t}**"}
    forms |= {"table": "| {t} | a |\n|---|---|\n| {t} | b |", "quote": "> {t}\n>\n> ```\n> {t}\n> ```"}
    forms["code"] = "1. {t}\n\n   ```\n   go = 1\n   {t}\n   ```\n\n   so $a*{t}$"
    lines = [
        f"{text}\n----" if kind == "heading" and at % 3 == 0 else forms[kind].format(t=text)
        for at, (kind, text) in enumerate(steps)
    ]
    return "\n\n".join(lines).encode()


def word(steps: list[tuple[str, str]]) -> bytes:
    made = docx.Document()
    for at, (kind, text) in enumerate(steps):
        if kind == "heading":
            made.add_heading(text, 0 if at == 0 else 1 + at % 3)
        elif kind == "table":
            made.add_table(1, 2).rows[0].cells[0].text = text
        elif kind == "bold":
            made.add_paragraph().add_run(text).bold = True
        else:
            made.add_paragraph(
                text, style="List Bullet" if kind == "list" else "Caption" if at % 4 == 0 else None
            )
    return _saved(made)


def powerpoint(steps: list[tuple[str, str]]) -> bytes:
    show = pptx.Presentation()
    for kind, text in steps:
        slide = show.slides.add_slide(show.slide_layouts[5])
        slide.shapes.title.text = text
        if kind == "text":
            slide.notes_slide.notes_text_frame.text = f"{text} noted"
        elif kind == "table":
            slide.shapes.add_table(1, 2, 0, 9, 9, 9).table.cell(0, 1).text = text
        elif kind != "heading":
            slide.shapes.add_textbox(0, 0, 100, 100).text_frame.text = f"{text} boxed"
    return _saved(show)


def excel(steps: list[tuple[str, str]]) -> bytes:
    book = openpyxl.Workbook()
    for kind, text in steps:
        book.active.append([text] if kind == "heading" else [text, "and", kind])
    return _saved(book)


def epub(steps: list[tuple[str, str]]) -> bytes:
    return book_of(html(steps).decode())


def _saved(made: object) -> bytes:
    data = io.BytesIO()
    made.save(data)  # type: ignore[attr-defined]
    return data.getvalue()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("suffix", "make"),
    [
        (".html", html),
        (".md", markdown),
        (".docx", word),
        (".pptx", powerpoint),
        (".xlsx", excel),
        (".epub", epub),
    ],
)
def test_every_word_of_a_document_is_in_a_passage(
    suffix: str, make: Callable[[list[tuple[str, str]]], bytes], seed: int, tmp_path: Path
) -> None:
    path = tmp_path / f"deeds{suffix}"
    path.write_bytes(make(_steps(seed)))
    total, gone = lost(path) or (0, {"refused": 1})
    assert total > 30 and not gone


@pytest.mark.parametrize(
    ("name", "content"), [("a.md", b"# Only a title\n"), ("a.html", b"<h1>Only a title</h1>")]
)
def test_a_document_of_its_title_alone_has_a_passage(name: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert lost(path) == (2, {})
