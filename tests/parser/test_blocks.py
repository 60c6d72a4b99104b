"""How the blocks of a page become chunks, and its headings a tree of sections."""

from __future__ import annotations

import pytest

from trivium.parser.html import parse_html
from trivium.types import Page


def parse(body: str) -> Page:
    return parse_html(
        f'<title>T</title><div id="mw-content-text"><div class="mw-parser-output">{body}</div></div>'
    )


def chunks(body: str) -> list[tuple[str, str]]:
    return [(chunk.kind.value, chunk.text) for _, chunk in parse(body).all_chunks()]


LONG = "A sentence that is certainly longer than sixty characters, all told."
THUMB = '<div class="thumb"><div class="thumbinner"><img><div class="thumbcaption">{}</div></div></div>'
NESTED = "<ul><li>a<ol><li>b</li><li>c<ul><li>d</li></ul></li></ol></li><li><p>e</p><p>f</p></li></ul><ul><li>g</ul>"

BLOCKS: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "white space is one space, and none at the edges": (
        "<p> one\n  two&nbsp;three<br>four <b> five</b><i>six</i> </p>",
        [("paragraph", "one two three four fivesix")],
    ),
    "invisible characters are dropped, joiners stay": (
        "<p>a\u00adb \u200b c\u200ed &#7; e\u200df\ufeff</p>",
        [("paragraph", "ab cd e\u200df")],
    ),
    "loose text is a paragraph": (
        f"<div>{LONG}</div><div>{LONG}</div> tail",
        [("paragraph", LONG), ("paragraph", LONG), ("paragraph", "tail")],
    ),
    "short loose lines, as the labels of a drawing, stay together": (
        "<div><div>water</div><div>first life</div><div>today</div></div><p>Text.</p>",
        [("list", "water\nfirst life\ntoday"), ("paragraph", "Text.")],
    ),
    "captions of old thumbs and new figures are paragraphs in place": (
        f"<p>Before.</p>{THUMB.format('One')}{THUMB.format('Two')}<figure><img><figcaption>Three</figcaption></figure>",
        [("paragraph", text) for text in ("Before.", "One", "Two", "Three")],
    ),
    "a list is one chunk with indented lists in it": (
        NESTED,
        [("list", "a\n  1. b\n  2. c\n    d\ne\nf"), ("list", "g")],
    ),
    "a term and its meaning are on one line, further meanings on their own": (
        "<dl><dt>Aphelion</dt><dd>farthest point</dd><dd>second sense</dd><dt>Orbit:</dt><dd>a path</dd></dl>",
        [("definition", "Aphelion: farthest point\nsecond sense\nOrbit: a path")],
    ),
    "a quotation has its lines": (
        "<blockquote><p>To be</p><p>or not</p></blockquote>",
        [("quote", "To be\nor not")],
    ),
    "a quotation may be a box": (
        '<div class="quotebox pullquote"><div>Words</div><p>Author</p></div>',
        [("quote", "Words\nAuthor")],
    ),
    "a quotation may be a table": (
        '<table class="cquote"><tr><td>“</td><td>Words</td><td>”</td></tr></table>',
        [("quote", "“\nWords\n”")],
    ),
    "code has its lines and indentation, and none of a highlighter": (
        '<pre><span class="k">def</span> f():\n    return 1   \n\n\tx</pre>',
        [("code", "def f():\n    return 1\n\n    x")],
    ),
    "preformatted text in a list keeps its lines": (
        "<ul><li>run<pre>a\n  b</pre>done</li></ul>",
        [("list", "run\na\n  b\ndone")],
    ),
    "a displayed formula is a block": (
        '<p>We add</p><div class="mwe-math-element"><img alt="{\\displaystyle a+b}"></div><p>then</p>',
        [("paragraph", "We add"), ("paragraph", "a+b"), ("paragraph", "then")],
    ),
    "a bibliography is text although it shares the columns of footnotes": (
        '<h2>Works</h2><div class="refbegin reflist"><ul><li>A book</ul></div>',
        [("list", "A book")],
    ),
    "a heading inside a list is a line": ("<ul><li><h3>Head</h3>item</li></ul>", [("list", "Head\nitem")]),
}


@pytest.mark.parametrize(("body", "expected"), BLOCKS.values(), ids=BLOCKS)
def test_blocks_become_chunks(body: str, expected: list[tuple[str, str]]) -> None:
    assert chunks(body) == expected


@pytest.mark.parametrize(
    "empty", ["<p></p>", "<p>\n</p>", "<p>—</p>", "<ul><li></li></ul>", "<p><img src=x></p>"]
)
def test_blocks_without_a_word_are_no_chunks(empty: str) -> None:
    """Neither white space nor a lonely dash."""
    assert chunks(f"{empty}<p>x</p>") == [("paragraph", "x")]


@pytest.mark.parametrize(
    "formula",
    [
        '<span class="mwe-math-element"><span style="display:none"><math><mi>E</mi></math></span>'
        '<img class="mwe-math-fallback-image-inline" alt="{\\displaystyle E=mc^{2}}"></span>',
        '<math alttext="{\\displaystyle E=mc^{2}}"><semantics><mi>E</mi></semantics></math>',
        '<math><mi>E</mi><annotation encoding="application/x-tex">{\\textstyle E=mc^{2}}</annotation></math>',
    ],
)
def test_a_formula_is_written_once_as_tex(formula: str) -> None:
    """Out of its image, its attribute or its annotation."""
    assert chunks(f"<p>So {formula}, he said.</p>") == [("paragraph", "So E=mc^{2}, he said.")]


def test_headings_make_a_tree_by_nesting() -> None:
    """Levels count enclosing sections, whatever number the heading has; skipped numbers do no harm."""
    page = parse("<p>lead</p><h2>A</h2><h4>B</h4><p>in b</p><h3>C</h3><h2>D</h2><p>in d</p>")
    assert [(s.heading, s.level, s.parent, [c.text for c in s.chunks]) for s in page.sections] == [
        ("A", 1, None, []),
        ("B", 2, 0, ["in b"]),
        ("C", 2, 0, []),
        ("D", 1, None, ["in d"]),
    ]
    assert [c.text for c in page.chunks] == ["lead"]


def test_the_text_reads_as_the_article() -> None:
    """Headings and blocks in order, with blank lines between."""
    assert (
        parse("<p>lead</p><h2>A</h2><ul><li>x<li>y</ul><h3>B</h3><p>z</p>").text
        == "lead\n\nA\n\nx\ny\n\nB\n\nz"
    )


def test_headings_lose_their_edit_links_and_keep_their_words() -> None:
    """Markup, footnotes and line breaks inside a heading; an empty heading is none."""
    body = (
        '<h2><span class="mw-headline">The <i>Great</i><br>War<sup class="reference">[1]</sup></span>'
        '<span class="mw-editsection">[edit]</span></h2><h2> </h2><p>x</p>'
    )
    assert [s.heading for s in parse(body).sections] == ["The Great War"]


def test_a_section_of_references_exists_without_chunks() -> None:
    """Its heading is part of the outline, its footnotes are not text."""
    page = parse(
        '<p>x</p><h2>References</h2><div class="reflist"><ol class="references"><li>A source</ol></div>'
    )
    assert [(s.heading, s.chunks) for s in page.sections] == [("References", ())]
    assert "source" not in page.text
