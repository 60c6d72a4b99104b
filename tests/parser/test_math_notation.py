"""What is raised or lowered keeps its meaning in plain text."""

from __future__ import annotations

import re

import pytest

from trivium.parser.html import parse_html
from trivium.parser.math_notation import fraction, lowered, raised, root


@pytest.mark.parametrize(
    ("before", "text", "shown"),
    [
        ("4.2×10", "31", "³¹"),
        ("10", "−3", "⁻³"),
        ("km", "2", "²"),
        ("miles", "2", "²"),
        ("(a + b)", "2n", "²ⁿ"),
        ("e", "x", "^x"),
        ("2", "1/2", "^(1/2)"),
        ("SO", "2−", "²⁻"),
        ("Na", "+", "⁺"),
    ],
)
def test_powers_and_charges_keep_a_sign(before: str, text: str, shown: str) -> None:
    assert raised(before, text) == shown


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("2", "nd"),
        ("XX", "e"),
        ("1", "er"),
        ("M", "me"),
        ("n", "o"),
        ("Trivium", "TM"),
        ("the treaty", "12"),
        ("the treaty", "3, 4"),
        ("ended.", "5"),
        ("word", "[7]"),
        ("word", "*"),
        ("", "1"),
    ],
)
def test_ordinals_and_marks_of_notes_get_no_sign(before: str, text: str) -> None:
    assert raised(before, text) == text


def test_subscripts_of_digits_are_signs_and_others_follow_an_underscore() -> None:
    assert [lowered("CO", "2"), lowered("log", "10"), lowered("x", "n+1")] == ["₂", "₁₀", "_(n+1)"]


def test_fractions_and_roots_keep_what_belongs_together() -> None:
    assert fraction("x + 1", "2y") == "(x + 1)/(2y)"
    assert fraction("(x + 1)(x - 1)", "2") == "((x + 1)(x - 1))/2"
    assert root("2x") == "√(2x)"
    assert root("x", "n") == "ⁿ√x"


def shown(html: str) -> str:
    page = parse_html(f"<h1>Notes</h1>{html}")
    for _, chunk in page.all_chunks():
        assert page.text[chunk.start : chunk.end] == chunk.text
    return "\n".join(chunk.text for _, chunk in page.all_chunks())


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("6.02×10<sup>23</sup> mol<sup>−1</sup>", "6.02×10²³ mol⁻¹"),
        ("10 <sup> 7 </sup> cells of CO <sub>2</sub>", "10⁷ cells of CO₂"),
        ("the 3<sup>rd</sup> and the XX<sup>e</sup>", "the 3rd and the XXe"),
        ("of <sup>14</sup>C and <b><sup>3</sup>He</b>", "of ¹⁴C and ³He"),
        ("02<sup>h</sup> 31<sup>m</sup> 49<sup>s</sup>", "02h 31m 49s"),
        ("e<sup>x<sup>2</sup></sup> + a<sub>i,j</sub>", "e^(x²) + a_(i,j)"),
        ("1<sup>5</sup>&frasl;<sub>8</sub> inch", "1 5/8 inch"),
        ("a <sup>1</sup>/<sub>3</sub> share (<sup>2</sup>/<sub>3</sub>)", "a 1/3 share (2/3)"),
        (
            "2 <span class=sfrac><span class=tion><span class=num>a+b</span><span class=sr-only>/</span>"
            "<span class=den>7</span></span></span>",
            "2 (a+b)/7",
        ),
        ("PO<span><sup>3−</sup><br><sub>4</sub></span> and SiO<sup></sup><br><sub>2</sub>", "PO₄³⁻ and SiO₂"),
        ("7.5<sup>+0.2</sup><br><sub>−0.1</sub> m", "7.5 +0.2 −0.1 m"),
        ("4<span style='font-size:80%; vertical-align: super'>6</span>, m<span class=sup>2</span>", "4⁶, m²"),
        ("a word<sup><a href='#n1'>1</a></sup> of 1907<sup><a href='#n2'>2</a></sup>", "a word1 of 1907[2]"),
        ("small<sup>type that says a whole sentence above a line</sup>", None),
    ],
)
def test_html_keeps_what_is_raised_and_lowered(html: str, text: str | None) -> None:
    plain = re.sub(r"<[^>]+>", "", html) if text is None else text
    assert shown(f"<p>{html}</p>") == plain
    assert shown(f"<table><tr><td>{html}</td></tr></table>") == plain
    assert shown(f"<ul><li>{html}</li></ul>") == plain
    assert [s.heading for s in parse_html(f"<h1>Notes</h1><h2>{html}</h2><p>x").sections] == [plain]


def test_links_keep_their_places_around_and_inside_of_powers() -> None:
    page = parse_html(
        "<h1>N</h1><p>1 <a href='/wiki/Acre'>km<sup>2</sup></a>, x<sup><a href='/wiki/Order'>a+b</a></sup> and"
        " <a href='/wiki/Half'><sup>1</sup>/<sub>2</sub></a> of <a href='/wiki/Carbon'><sup>14</sup>C</a>"
        " <a href='/wiki/End'>end</a>"
    )
    links = {link.target: page.text[link.start : link.end] for link in page.chunks[0].links}
    assert links == {"Acre": "km²", "Order": "a+b", "Half": "1/2", "Carbon": "¹⁴C", "End": "end"}


def test_scripts_in_scripts_take_linear_time() -> None:
    depth = 2_000
    text = shown(f"<p>x{'<sup>a' * depth}{'</sup>' * depth}</p>")
    assert text.count("a") == depth
