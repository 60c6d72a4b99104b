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


def test_paragraphs_have_normal_white_space() -> None:
    """Line breaks, runs of spaces, no-break spaces and <br> are one space; edges have none."""
    assert chunks("<p> one\n  two&nbsp;three<br>four <b> five</b><i>six</i> </p>") == [
        ("paragraph", "one two three four fivesix")
    ]


def test_invisible_characters_are_dropped() -> None:
    """Soft hyphens, zero-width spaces, direction marks and controls; joiners stay."""
    assert chunks("<p>a\u00adb \u200b c\u200ed &#7; e\u200df\ufeff</p>") == [("paragraph", "ab cd e\u200df")]


def test_loose_text_is_a_paragraph() -> None:
    """Text straight in a container counts like text in <p>."""
    long = "A sentence that is certainly longer than sixty characters, all told."
    assert chunks(f"<div>{long}</div><div>{long}</div> tail") == [
        ("paragraph", long),
        ("paragraph", long),
        ("paragraph", "tail"),
    ]


def test_short_loose_lines_stay_together() -> None:
    """The labels of a drawing come one a container; each as a chunk would be worth nothing."""
    assert chunks("<div><div>water</div><div>first life</div><div>today</div></div><p>Text.</p>") == [
        ("list", "water\nfirst life\ntoday"),
        ("paragraph", "Text."),
    ]


@pytest.mark.parametrize(
    "empty", ["<p></p>", "<p>\n</p>", "<p>—</p>", "<ul><li></li></ul>", "<p><img src=x></p>"]
)
def test_blocks_without_a_word_are_no_chunks(empty: str) -> None:
    """Neither white space nor a lonely dash."""
    assert chunks(f"{empty}<p>x</p>") == [("paragraph", "x")]


def test_image_captions_are_paragraphs_in_place() -> None:
    """Old thumbs and new figures alike."""
    thumb = '<div class="thumb"><div class="thumbinner"><img><div class="thumbcaption">{}</div></div></div>'
    figure = "<figure><img><figcaption>Cap three</figcaption></figure>"
    body = f"<p>Before.</p>{thumb.format('Cap one')}{thumb.format('Cap two')}{figure}<p>After.</p>"
    assert [text for _, text in chunks(body)] == ["Before.", "Cap one", "Cap two", "Cap three", "After."]


def test_a_top_level_list_is_one_chunk_with_indented_sublists() -> None:
    """Paragraphs inside items are lines of it too."""
    inner = "<ol><li>b</li><li>c<ul><li>d</li></ul></li></ol>"
    body = f"<ul><li>a{inner}</li><li><p>e</p><p>f</p></li></ul><ul><li>g</ul>"
    assert chunks(body) == [("list", "a\n  1. b\n  2. c\n    d\ne\nf"), ("list", "g")]


def test_definitions_keep_term_and_meaning_on_one_line() -> None:
    """Further meanings follow on their own lines; a colon is not doubled."""
    body = (
        "<dl><dt>Aphelion</dt><dd>farthest point</dd><dd>second sense</dd><dt>Orbit:</dt><dd>a path</dd></dl>"
    )
    assert chunks(body) == [("definition", "Aphelion: farthest point\nsecond sense\nOrbit: a path")]


def test_block_quotes_are_quotes_with_their_lines() -> None:
    """Also the quotation templates that are boxes or tables."""
    assert chunks("<blockquote><p>To be</p><p>or not</p></blockquote>") == [("quote", "To be\nor not")]
    box = '<div class="quotebox pullquote"><div>Words</div><p>Author</p></div>'
    assert chunks(box) == [("quote", "Words\nAuthor")]
    table = '<table class="cquote"><tr><td>“</td><td>Words</td><td>”</td></tr></table>'
    assert chunks(table) == [("quote", "“\nWords\n”")]


def test_code_keeps_its_lines_and_indentation() -> None:
    """Spans of a highlighter leave no trace."""
    body = '<pre><span class="k">def</span> f():\n    return 1   \n\n\tx</pre>'
    assert chunks(body) == [("code", "def f():\n    return 1\n\n    x")]
    assert chunks("<ul><li>run<pre>a\n  b</pre>done</li></ul>") == [("list", "run\na\n  b\ndone")]


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


def test_a_displayed_formula_is_a_block() -> None:
    """Newer pages wrap it in a div."""
    formula = '<div class="mwe-math-element"><img alt="{\\displaystyle a+b}"></div>'
    assert chunks(f"<p>We add</p>{formula}<p>then</p>") == [
        ("paragraph", "We add"),
        ("paragraph", "a+b"),
        ("paragraph", "then"),
    ]


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


def test_a_heading_inside_a_list_is_a_line() -> None:
    """It cannot open a section in the middle of a chunk."""
    page = parse("<ul><li><h3>Head</h3>item</li></ul>")
    assert page.sections == ()
    assert page.chunks[0].text == "Head\nitem"


def test_a_section_of_references_exists_without_chunks() -> None:
    """Its heading is part of the outline, its footnotes are not text."""
    page = parse(
        '<p>x</p><h2>References</h2><div class="reflist"><ol class="references"><li>A source</ol></div>'
    )
    assert [(s.heading, s.chunks) for s in page.sections] == [("References", ())]
    assert "source" not in page.text


def test_a_bibliography_is_text() -> None:
    """Works to read are content even where they share the footnotes' columns."""
    assert chunks('<h2>Works</h2><div class="refbegin reflist"><ul><li>A book</ul></div>') == [
        ("list", "A book")
    ]
