"""Tables as text: every cell keeps its row and column header, spans are resolved, layout is not data."""

from __future__ import annotations

import pytest

from trivium.parser.html import parse_html
from trivium.parser.tables import MAX_COLUMNS, parse_span
from trivium.types import Page


def parse(table: str) -> Page:
    return parse_html(f'<title>T</title><div id="mw-content-text">{table}</div>')


def lines(table: str) -> list[str]:
    (chunk,) = parse(table).chunks
    assert chunk.kind == "table"
    return chunk.text.split("\n")


TABLES: dict[str, tuple[str, list[str]]] = {
    "the caption and the headers are lines of their own, cells follow their header": (
        "<caption>Nordic countries</caption><tr><th>Country<th>Capital<th>Population:"
        "<tr><td>Norway<td>Oslo<td>5 million<tr><td>Iceland<td><td>0.3 million",
        [
            "Nordic countries",
            "Country | Capital | Population:",
            "Country: Norway; Capital: Oslo; Population: 5 million",
            "Country: Iceland; Population: 0.3 million",
        ],
    ),
    "row headers stand first": (
        "<tr><td><th>2019<th>2020<tr><th>Oslo<td>1<td>2",
        ["2019 | 2020", "Oslo; 2019: 1; 2020: 2"],
    ),
    "without column headers they label the row": (
        "<tr><th>Oslo<td>1<td>2<tr><th>Bergen<td>3<td>4",
        ["Oslo: 1; 2", "Bergen: 3; 4"],
    ),
    "of headers in two rows the outer one stands once a row": (
        "<tr><th rowspan=2>City<th colspan=2>Population</tr><tr><th>2010<th>2020</tr><tr><td>Oslo<td>1<td>2</tr>",
        ["City | Population", "2010 | 2020", "City: Oslo; Population 2010: 1, 2020: 2"],
    ),
    "a row whose values all span from above is no header": (
        "<tr><th>Moon<th>Found<th>With<tr><th>Nix<td rowspan=2>2005<td rowspan=3>Hubble<tr><th>Hydra"
        "<tr><th>Styx<td>2012",
        [
            "Moon | Found | With",
            "Moon: Nix; Found: 2005; With: Hubble",
            "Moon: Hydra; Found: 2005; With: Hubble",
            "Moon: Styx; Found: 2012; With: Hubble",
        ],
    ),
    "a row of headers below a spanning value is one": (
        "<tr><td rowspan=2>ACME<td>2010<tr><th>Year<th>Sales",
        ["ACME | 2010", "Year | Sales"],
    ),
    "a cell without a header is not put under its neighbours": (
        "<tr><th>Country<th><th>Pop<tr><td>Norway<td>note<td>5",
        ["Country | Pop", "Country: Norway; note; Pop: 5"],
    ),
    "cells under one header share it": (
        "<tr><th>Rank<th colspan=3>Element<tr><td>1<td>8<td>oxygen<td>O",
        ["Rank | Element", "Rank: 1; Element: 8, oxygen, O"],
    ),
    "a cell that spans columns names them all": (
        "<tr><th>A<th>B<th>C<tr><td colspan=2>both<td>last",
        ["A | B | C", "A / B: both; C: last"],
    ),
    "a row across the table is a line, and the headers stay": (
        "<tr><th colspan=2>Title<tr><th>A<th>B<tr><td>1<td>2<tr><th colspan=2>Group<tr><td>3<td>4",
        ["Title", "A | B", "A: 1; B: 2", "Group", "A: 3; B: 4"],
    ),
    "new headers replace the old": (
        "<tr><th>A<th>B<tr><td>1<td>2<tr><th>C<th>D<tr><td>3<td>4",
        ["A | B", "A: 1; B: 2", "C | D", "C: 3; D: 4"],
    ),
    "cells of a thead are headers": (
        "<thead><tr><td>A<td>B</thead><tbody><tr><td>1<td>2</tbody>",
        ["A | B", "A: 1; B: 2"],
    ),
    "without headers cells are told apart": ("<tr><td>a<td>b<tr><td>c<td>d", ["a | b", "c | d"]),
    "parts of a cell are told apart, but not before a parenthesis or after punctuation": (
        "<tr><th>A<th>B<tr><td>x<br>y<br>(z)<td><ul><li>one;<li>two</ul><p>three",
        ["A | B", "A: x, y (z); B: one; two, three"],
    ),
    "a nested table stays in its cell": (
        "<tr><th>A<th>B<tr><td>1<td><table><tr><td>p<td>q<tr><td>r<td>s</table>",
        ["A | B", "A: 1; B: p | q; r | s"],
    ),
}


@pytest.mark.parametrize(("rows", "expected"), TABLES.values(), ids=TABLES)
def test_rows_become_lines(rows: str, expected: list[str]) -> None:
    assert lines(f"<table class=wikitable>{rows}</table>") == expected


def test_a_cell_that_spans_rows_comes_in_each() -> None:
    """With its links."""
    table = (
        '<table><tr><th>Year<th>Prize<tr><td rowspan="2"><a href="/wiki/1921">1921</a><td>Physics'
        "<tr><td>Peace</table>"
    )
    page = parse(table)
    assert page.chunks[0].text.split("\n")[1:] == ["Year: 1921; Prize: Physics", "Year: 1921; Prize: Peace"]
    assert [page.text[link.start : link.end] for link in page.chunks[0].links] == ["1921", "1921"]


def test_a_table_that_only_arranges_is_read_as_its_content() -> None:
    """Columns of lists are lists, headings in it make sections."""
    page = parse("<table><tr><td><h2>Left</h2><ul><li>a</ul><td><ul><li>b</ul></table>")
    assert [(c.kind, c.text) for _, c in page.all_chunks()] == [("list", "a"), ("list", "b")]
    assert [section.heading for section in page.sections] == ["Left"]


def test_long_headers_are_cut_where_they_repeat() -> None:
    """The header row keeps them in full."""
    long = "header " * 40
    first, second = lines(f"<table><tr><th>A<th>{long}<tr><td>1<td>2</table>")
    assert first == f"A | {long.strip()}"
    assert len(second) < 100


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, 1),
        ("", 1),
        ("2", 2),
        (" 3 ", 3),
        ("0", MAX_COLUMNS),
        ("99999999999", MAX_COLUMNS),
        ("-1", 1),
        ("x", 1),
        ("²", 1),
    ],
)
def test_spans_are_read_with_care(value: str | None, expected: int) -> None:
    """Malformed ones are 1, endless ones are cut."""
    assert parse_span(value, MAX_COLUMNS) == expected


def test_spans_cannot_blow_up_a_table() -> None:
    """A hundred cells over a thousand rows each add no more than a few times the table's own size."""
    spanning = "".join(f"<td rowspan=65534>{'x' * 100}" for _ in range(100))
    html = f"<table><tr>{spanning}{'<tr><td>y' * 1_000}</table>"
    assert len(parse(html).text) < 6 * len(html)


INFOBOX = (
    '<table class="infobox vcard"><caption>Mars</caption><tr><th colspan="2">Orbit</th></tr>'
    '<tr><th scope="row"><a href="/wiki/Aphelion">Aphelion</a>:</th><td>249 Gm<br>(1.66 AU)</td></tr>'
    '<tr><th>Satellite(s)</th><td><div class="plainlist"><ul><li><a href="/wiki/Phobos_(moon)">Phobos</a>'
    '<li><a href="/wiki/Deimos_(moon)">Deimos</a></ul></div></td></tr>'
    '<tr><td>Named&nbsp;after:</td><td><a href="/wiki/Mars_(mythology)">Mars</a>'
    '<sup class="reference">[1]</sup></td></tr>'
    '<tr><th>Flag</th><td><a href="/wiki/Nowhere"><img src="x"></a> none</td></tr>'
    '<tr><td colspan="2">A picture by <a href="/wiki/Viking_1">Viking 1</a></td></tr></table>'
)


def test_an_infobox_is_lines_of_label_and_value() -> None:
    """One chunk of its own kind."""
    (chunk,) = parse(INFOBOX).chunks
    assert chunk.kind == "infobox"
    assert chunk.text.split("\n") == [
        "Mars",
        "Orbit",
        "Aphelion: 249 Gm (1.66 AU)",
        "Satellite(s): Phobos, Deimos",
        "Named after: Mars",
        "Flag: none",
        "A picture by Viking 1",
    ]


def test_linked_values_of_an_infobox_are_relations() -> None:
    """Typed by their label in lower case; labels, icons and rows without label make none."""
    assert [(r.type, r.target) for r in parse(INFOBOX).relations] == [
        ("satellite", "Phobos (moon)"),
        ("satellite", "Deimos (moon)"),
        ("named after", "Mars (mythology)"),
    ]


def test_relations_are_not_repeated_and_data_tables_make_none() -> None:
    """The same label and value twice is one relation."""
    row = '<tr><th>• Type</th><td><a href="/wiki/Planet">planet</a></td></tr>'
    assert len(parse(f'<table class="infobox">{row}{row}</table>').relations) == 1
    assert parse(f'<table class="wikitable">{row}</table>').relations == ()


def test_a_label_that_is_a_sentence_makes_no_relation() -> None:
    """Types are names, of at most 80 characters."""
    row = f'<tr><th>{"word " * 30}</th><td><a href="/wiki/Planet">planet</a></td></tr>'
    assert parse(f'<table class="infobox">{row}</table>').relations == ()
