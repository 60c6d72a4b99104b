"""Code in pages, books and Markdown: of its own kind, and as it was written."""

from __future__ import annotations

import pytest

from tests.parser.documents.files import book_of, read, texts

FORMATS = ("html", "epub", "markdown")


def blocks(format: str, html: str) -> list[tuple[str, str]]:
    """Kind and text of each block of a page, book or Markdown file with this content."""
    page = f"<html><head><title>Mill</title></head><body><p>The mill.</p>{html}</body></html>"
    data = {"html": page.encode(), "epub": book_of(page), "markdown": f"The mill.\n\n{html}\n".encode()}[
        format
    ]
    return [(kind, text) for _, kind, text in texts(read(format, data))][1:]


@pytest.mark.parametrize("format", FORMATS)
def test_the_first_line_keeps_its_indentation(format: str) -> None:
    code = "<pre><code>    if dry:\n        fill(1)\n    stop()</code></pre>"
    assert blocks(format, code) == [("code", "    if dry:\n        fill(1)\n    stop()")]


@pytest.mark.parametrize("format", FORMATS)
def test_code_in_items_of_lists_and_quotations_is_a_block_of_its_own(format: str) -> None:
    grind = "<pre><code>grind \\\n  --fine</code></pre>"
    html = f"<ol><li>Fill it.{grind}then wait<ul><li>long{grind}</li></ul></li><li>Empty it.</li></ol>"
    assert blocks(format, html) == [
        ("list", "1. Fill it."),
        ("code", "grind \\\n  --fine"),
        ("list", "then wait\n  long"),
        ("code", "grind \\\n  --fine"),
        ("list", "2. Empty it."),
    ]
    assert blocks(format, f"<blockquote>He said:{grind}</blockquote>") == [
        ("quote", "He said:"),
        ("code", "grind \\\n  --fine"),
    ]


@pytest.mark.parametrize("format", FORMATS)
def test_code_in_tables_keeps_its_lines_and_its_header(format: str) -> None:
    html = (
        "<table><tr><th>Task</th><th>Script</th><th>Time</th></tr><tr><td>Grind</td><td><pre><code>for sack in sacks:\n"
        "    grind(sack)</code></pre></td><td>an hour</td></tr>"
        "<tr><td>Rest</td><td><pre>rest()</pre></td><td>a day</td></tr></table>"
    )
    assert blocks(format, html) == [
        (
            "code",
            "Task | Script | Time\nTask: Grind\nScript:\nfor sack in sacks:\n    grind(sack)\nTime: an hour\n"
            "Task: Rest; Script: rest(); Time: a day",
        )
    ]


@pytest.mark.parametrize("format", FORMATS)
def test_raised_marks_do_not_change_code_but_numbers_keep_their_powers(format: str) -> None:
    html = "<p>Use <code>mill<sup>2</sup></code>, <kbd>F<sub>3</sub></kbd>, <code>2<sup>16</sup>-1</code> 5<sup>2</sup>."
    assert blocks(format, html) == [("paragraph", "Use mill2, F3, 2^16-1 5².")]
    assert blocks(format, "<pre><code>sack(x<sup>1</sup>)</code></pre>") == [("code", "sack(x1)")]


@pytest.mark.parametrize("format", FORMATS)
def test_numbers_of_lines_are_no_code(format: str) -> None:
    code = "<pre><code>fill(1)\n  stop(2)</code></pre>"
    html = f"<table><tr><td class=linenos><pre>1\n2</pre></td><td>{code}</td></tr></table>"
    assert blocks(format, html) == [("code", "fill(1)\n  stop(2)")]
