"""PDF files: what is read of them, in which order, and on which pages it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.fakes.pdf_writer import WIDTH, PdfFile, PdfPage, width_of
from trivium.cli.app import main
from trivium.errors import ParseError
from trivium.parser.documents import pdf as reader
from trivium.parser.documents.document_file import DocumentFile
from trivium.parser.documents.formats import format_of_content
from trivium.parser.documents.pdf import ocr_pages, pdfium
from trivium.parser.documents.render_pdf_page import draw_page
from trivium.settings.limits import InputLimits
from trivium.types import ChunkKind, Page

TEXT = "The survey of the northern ridge began in the spring of that year and went on until the first snow"


def read(data: bytes, name: str = "ridge survey 1923.pdf", limits: InputLimits | None = None) -> Page:
    return reader.read(DocumentFile(data, name, f"reports/{name}"), limits or InputLimits())


def filled(page: PdfPage, x: float, y: float, lines: list[str], size: float = 10) -> None:
    page.lines(x, y, lines, size, 1.2 * size)


def outline_of(page: Page) -> list[tuple[int, str, list[str]]]:
    return [(s.level, s.heading, [c.text for c in s.chunks]) for s in page.sections]


def test_a_paragraph_is_joined_from_its_lines_and_knows_its_page():
    file = PdfFile()
    file.page().lines(72, 700, ["The survey began", "in spring."])
    file.page().lines(72, 700, ["It ended in autumn."])
    page = read(file.data())
    assert page.title == "ridge survey 1923"
    assert page.format == "pdf"
    assert page.path == "reports/ridge survey 1923.pdf"
    assert [(c.text, c.pages) for c in page.chunks] == [
        ("The survey began in spring.", (1, 1)),
        ("It ended in autumn.", (2, 2)),
    ]
    assert all(page.text[c.start : c.end] == c.text for c in page.chunks)


def test_a_paragraph_that_goes_on_on_the_next_page_is_one_chunk_of_both_pages():
    file = PdfFile()
    file.page().lines(72, 700, [TEXT, "when the surveyors of the second party"])
    file.page().lines(72, 700, ["left the ridge for the valley.", "They came back."])
    page = read(file.data())
    assert [(c.text, c.pages) for c in page.chunks] == [
        (
            f"{TEXT} when the surveyors of the second party left the ridge for the valley. They came back.",
            (1, 2),
        ),
    ]


LEFT = [f"left line {n} with words enough to fill it" for n in "abcdefgh"]
RIGHT = [f"right line {n} with words enough to fill" for n in "abcdefgh"]


def in_order(text: str, *words: str) -> bool:
    places = [text.index(word) for word in words]
    return places == sorted(places)


def test_two_columns_are_read_one_after_the_other_and_lines_over_both_stay_where_they_are():
    page = (file := PdfFile()).page()
    page.text(
        72,
        720,
        "A line as wide as the page stands above both of the columns, from the left to the right edge",
    )
    filled(page, 72, 690, LEFT)
    filled(page, 330, 688, RIGHT)
    page.text(
        72, 570, "Another line as wide as the page stands below both of the columns, from left to right edge"
    )
    assert in_order(read(file.data()).text, "above both", LEFT[0], LEFT[7], RIGHT[0], RIGHT[7], "below both")


@pytest.mark.parametrize("size", [10, 12, 14, 18, 24])
@pytest.mark.parametrize("leading", [10.5, 12])
def test_lines_of_a_column_stay_apart_beside_larger_type_in_the_next_one(size: int, leading: float):
    """At whatever height the heading stands."""
    for lowered in range(12):
        page = (file := PdfFile()).page()
        page.lines(72, 690, LEFT, 10, leading)
        page.lines(330, 690 - lowered / 2, RIGHT[:3], 10, leading)
        page.text(330, 690 - 4 * leading - lowered, "Optics", size, bold=True)
        page.lines(330, 690 - 5 * leading - lowered - 6, RIGHT[3:], 10, leading)
        chunks = [c.text for _, c in read(file.data()).all_chunks()]
        assert chunks[0].startswith(" ".join(LEFT))
        assert [s.heading for s in read(file.data()).sections] == ["Optics"]


def test_a_marker_that_is_raised_stands_behind_its_word():
    """Though the line begins above it, and though other lines are as near."""
    page = (file := PdfFile()).page()
    for row, (label, value) in enumerate([("Net sales", "4,100"), ("Costs", "3,200"), ("Profit", "900")]):
        page.text(72, 700 - 8 * row, label, 7)
        page.text(72 + width_of(label, 7) + 0.5, 700 - 8 * row + 3.5, f"({row + 1})", 4)
        page.right(400, 700 - 8 * row, value, 7)
    text = read(file.data()).text
    assert [line.split(";")[0].split(":")[0] for line in text.splitlines()] == [
        "Net sales(1)",
        "Costs(2)",
        "Profit(3)",
    ]


def after(page: PdfPage, x: float, y: float, *parts: tuple[str, float, float]) -> None:
    """Parts of a line, one behind the other: text, size, how far it is raised."""
    for text, size, up in parts:
        page.text(x, y + up, text, size)
        x += width_of(text, size)


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([("a mass of 7.1 x 10", 10, 0), ("19", 6, 4), (" kg", 10, 0)], "a mass of 7.1 x 10¹⁹ kg"),
        ([("a dose of 10", 10, 0), ("-4", 6, 4), (" g", 10, 0)], "a dose of 10⁻⁴ g"),
        ([("an area of 25 km", 10, 0), ("2", 6, 4), (" of fen", 10, 0)], "an area of 25 km² of fen"),
        ([("a cube of 5", 10, 0), ("3", 6, 3), (" cells", 10, 0)], "a cube of 5³ cells"),
        ([("the gas CO", 10, 0), ("2", 6, -2), (" is heavy", 10, 0)], "the gas CO₂ is heavy"),
        ([("the speed v", 10, 0), ("max", 6, -2), (" of it", 10, 0)], "the speed v_max of it"),
        (
            [("a board of 3", 10, 0), ("5", 6, 4), ("/", 10, 0), ("8", 6, 0), (" inches", 10, 0)],
            "a board of 3 5/8 inches",
        ),
        ([("the 22", 10, 0), ("nd", 6, 4), (" of May", 10, 0)], "the 22nd of May"),
        ([("revenue", 10, 0), ("3", 6, 4), (" of mills", 10, 0)], "revenue3 of mills"),
        ([("in 2021", 10, 0), ("2", 6, 4), (" it was", 10, 0)], "in 2021[2] it was"),
        ([("up by 14%", 10, 0), ("2", 6, 4), (" or so", 10, 0)], "up by 14%[2] or so"),
        ([("it was 61", 10, 0), ("(b)", 6, 4), (" or so", 10, 0)], "it was 61(b) or so"),
        ([("cost 1,250", 10, 0), ("1", 6, 4), (" or so", 10, 0)], "cost 1,250[1] or so"),
    ],
)
def test_superscripts_and_subscripts_have_signs_and_marks_of_notes_have_none(
    parts: list[tuple[str, float, float]], text: str
):
    page = (file := PdfFile()).page()
    after(page, 72, 700, *parts)
    filled(page, 72, 660, [TEXT])
    assert read(file.data()).chunks[0].text == text


def test_a_passage_with_signs_is_found_on_the_drawn_page_that_has_digits():
    page = (file := PdfFile()).page()
    parts = [("a mass of 7.1 x 10", 10, 0), ("19", 6, 4), (" kg in 25 km", 10, 0), ("2", 6, 4)]
    after(page, 72, 700, *parts, (" in 2021", 10, 0), ("2", 6, 4), (" of peat", 10, 0))
    text = read(file.data()).chunks[0].text
    drawn_page = draw_page(file.data(), 1, longest=0, passage=text, texts=[text])
    assert text == "a mass of 7.1 x 10¹⁹ kg in 25 km² in 2021[2] of peat" and drawn_page.shown == 1
    ((left, _, width, _),) = drawn_page.marks
    assert left * WIDTH == pytest.approx(72, abs=2) and width * WIDTH > width_of(
        "a mass of 7.1 x 10 kg in 25 km in 2021 of peat", 10
    )


def test_a_number_behind_a_short_word_or_number_is_the_mark_of_a_note_that_stands_on_the_page():
    page = (file := PdfFile()).page()
    after(
        page,
        72,
        700,
        ("a herd of 61", 10, 0),
        ("2", 6, 4),
        (" and a field of 4 m", 10, 0),
        ("2", 6, 4),
        (" x 10", 10, 0),
        ("2", 6, 4),
    )
    after(page, 72, 640, ("2", 6, 4), (" Without the calves of the year.", 10, 0))
    assert read(file.data()).chunks[0].text == "a herd of 61[2] and a field of 4 m² x 10²"


def rows(page: PdfPage, x: float, y: float, labels: list[str], right: float, leading: float = 12) -> None:
    """A label and two numbers each, the second of which ends at ``right``."""
    for index, label in enumerate(labels):
        page.text(x, y - leading * index, label)
        page.right(right - 50, y - leading * index, f"{index + 1},100")
        page.right(right, y - leading * index, f"{index + 1},200")


def test_a_column_of_text_beside_a_table_is_read_on_its_own():
    """Though every line of it has numbers to its right."""
    page = (file := PdfFile()).page()
    filled(page, 72, 690, LEFT)
    rows(page, 320, 690, ["Germany", "Japan", "India", "Mexico"], 530)
    filled(page, 332, 640, RIGHT[:5], 8)
    text = read(file.data()).text
    assert in_order(text, *LEFT, "Germany", "4,200", RIGHT[0])
    assert " ".join(LEFT) in " ".join(text.split())


def test_columns_below_a_table_as_wide_as_the_page_are_found_though_its_labels_are_short():
    page = (file := PdfFile()).page()
    labels = [f"Short but long enough {n}" for n in range(12)]
    rows(page, 72, 720, labels, 530)
    filled(page, 72, 560, LEFT)
    filled(page, 330, 560, RIGHT)
    assert in_order(read(file.data()).text, labels[11], LEFT[0], LEFT[7], RIGHT[0], RIGHT[7])


def test_a_heading_below_two_columns_is_that_of_the_table_as_wide_as_both():
    page = (file := PdfFile()).page()
    filled(page, 72, 690, LEFT)
    filled(page, 330, 690, RIGHT[:6])
    page.text(72, 580, "Results of the year", bold=True)
    rows(page, 72, 560, ["Gross sales of the firm", "Net sales of the firm", "Profit of the firm"], 530)
    text = read(file.data()).text
    assert in_order(text, LEFT[7], RIGHT[0], RIGHT[5], "Gross sales")
    headed = [s.heading for s in read(file.data()).sections if any("Gross sales" in c.text for c in s.chunks)]
    assert headed == ["Results of the year"]


def test_a_table_with_two_columns_of_words_is_read_row_by_row():
    page = (file := PdfFile()).page()
    for index in range(8):
        page.text(72, 690 - 12 * index, f"Medicine {index}")
        page.text(200, 690 - 12 * index, f"what it is given for, case number {index}")
        page.right(470, 690 - 12 * index, f"{index + 1},100")
        page.right(530, 690 - 12 * index, f"{index + 1},200")
    text = read(file.data()).text
    assert in_order(
        text, *(w for n in range(8) for w in (f"Medicine {n}", f"case number {n}", f"{n + 1},200"))
    )


def test_a_heading_stands_out_from_the_text_around_it_not_from_that_of_another_part():
    """A report in small type with appendices in large type."""
    file = PdfFile()
    for number in range(6):
        page = file.page()
        page.text(72, 720, f"Finding {'ABCDEF'[number]}", 8, bold=True)
        filled(page, 72, 700, [f"{TEXT} {n}" for n in range(20)], 8)
    for _ in range(9):
        filled(file.page(), 72, 700, ["Not a heading", *(f"{TEXT} {n}" for n in range(20))], 11)
    headings = [s.heading for s in read(file.data()).sections]
    assert headings == [f"Finding {letter}" for letter in "ABCDEF"]


def sfnt(weight: int, selection: int) -> bytes:
    """The file of a font with the tables ``head`` and ``OS/2`` alone."""
    os2 = bytearray(96)
    os2[4:6], os2[62:64] = weight.to_bytes(2, "big"), selection.to_bytes(2, "big")
    head = bytes(54)
    start = 12 + 2 * 16
    tables = b"".join(
        name + bytes(4) + place.to_bytes(4, "big") + size.to_bytes(4, "big")
        for name, place, size in ((b"OS/2", start + 54, 96), (b"head", start, 54))
    )
    return b"\0\1\0\0" + (2).to_bytes(2, "big") + bytes(6) + tables + head + bytes(os2)


@pytest.mark.parametrize(
    ("weight", "selection", "expected"),
    [(400, 0, (False, False)), (700, 0, (True, False)), (400, 1, (False, True)), (4140, 0, (False, False))],
)
def test_a_font_file_says_how_heavy_it_is_and_whether_it_leans(
    weight: int, selection: int, expected: tuple[bool, bool]
):
    assert pdfium.face_of_file(sfnt(weight, selection)) == expected


def test_a_font_file_that_ends_early_says_nothing():
    data = sfnt(700, 1)
    told = {pdfium.face_of_file(data[:size]) for size in range(len(data) - 40)}
    assert told <= {(False, False), (True, False)} and pdfium.face_of_file(data[:60]) == (False, False)


def test_headings_are_told_by_their_type_and_nest_by_its_size():
    file = PdfFile()
    for number in (1, 2):
        page = file.page()
        page.text(72, 720, f"Chapter {'One' if number == 1 else 'Two'}", 18, bold=True)
        page.text(72, 690, f"Part {number} of it", 12, bold=True)
        page.lines(72, 670, [TEXT, TEXT + "."])
    assert outline_of(read(file.data())) == [
        (1, "Chapter One", []),
        (2, "Part 1 of it", [f"{TEXT} {TEXT}."]),
        (1, "Chapter Two", []),
        (2, "Part 2 of it", [f"{TEXT} {TEXT}."]),
    ]


def test_headings_of_the_outline_stand_where_their_words_are():
    outline = [(0, "Beginnings", 1, None), (1, "The north", 1, None), (0, "What came of it", 2, None)]
    file = PdfFile(outline=outline)
    first = file.page()
    first.lines(72, 720, ["Beginnings"])
    first.lines(72, 690, ["Text of the beginning."])
    first.lines(72, 660, ["The North"])
    first.lines(72, 630, ["Text of the north."])
    file.page().lines(72, 720, ["Text of the end."])
    assert outline_of(read(file.data())) == [
        (1, "Beginnings", ["Text of the beginning."]),
        (2, "The North", ["Text of the north."]),
        (1, "What came of it", ["Text of the end."]),
    ]


def test_entries_of_an_outline_that_lead_to_none_of_its_words_are_those_of_pages_that_were_cut_out():
    outline = [(n % 3, f"Voyage {n} to the islands", 1 + n % 2, 700 - n) for n in range(1, 40)]
    file = PdfFile(outline=[*outline, (0, "The harbour", 2, None), (1, "Its lamps", 2, None)])
    file.page().lines(72, 720, ["Tides are low in spring.", "They are high in autumn."])
    page = file.page()
    page.text(72, 720, "The Harbour", 16, bold=True)
    page.lines(72, 690, ["Ships lie at the quay."])
    page.text(72, 650, "Its lamps", 12, bold=True)
    page.lines(72, 630, ["They burn oil."])
    assert outline_of(read(file.data())) == [
        (1, "The Harbour", ["Ships lie at the quay."]),
        (2, "Its lamps", ["They burn oil."]),
    ]


@pytest.mark.parametrize(
    ("heading", "size", "level"),
    [
        ("Prospects of the fleet", 14, 2),  # looks like the last entry
        ("PROSPECTS OF THE FLEET", 14, 2),
        ("Prospects of the fleet", 18, 1),  # looks like the one above it
        ("Part II", 12, 1),  # is numbered like it
        ("Section 4. Prospects", 12, 2),
        ("Prospects of the fleet", 12, 3),
        ("A fleet with prospects", 12, 3),
    ],
)
def test_a_heading_of_the_same_rank_ends_the_section_of_the_last_entry_of_the_outline(
    heading: str, size: int, level: int
):
    file = PdfFile(
        outline=[(0, "Part I", 1, None), (1, "Section 2. Nets", 1, None), (1, "Section 3. Sails", 1, None)]
    )
    page = file.page()
    page.text(72, 740, "Part I", 18, bold=True)
    for row, (name, text) in enumerate(
        [("Section 2. Nets", "Nets are of hemp."), ("Section 3. Sails", "Sails are white.")]
    ):
        page.text(72, 710 - 60 * row, name, 14, bold=True)
        page.lines(72, 690 - 60 * row, [text])
    page = file.page()
    page.text(72, 740, heading, size, bold=True)
    page.lines(72, 710, [f"{TEXT}."])
    *before, last = outline_of(read(file.data()))
    assert before[-1] == (2, "Section 3. Sails", ["Sails are white."])
    assert last == (level, heading, [f"{TEXT}."])


def test_headings_with_a_word_and_a_number_have_one_level_whatever_they_look_like():
    """And what is below them is below them, though it is larger on the second page."""
    things = [("Ropes", "Knots"), ("Masts", "Spars"), ("Boats", "Oars"), ("Crews", "Pay")]
    file = PdfFile()
    for number, (thing, part) in enumerate(things, 1):
        page = file.page()
        page.text(72, 720, f"Note {number}. {thing}", 14 if number == 2 else 12, bold=True)
        page.text(72, 690, part, 12 if number == 2 else 10, bold=True)
        for row in range(6):
            filled(page, 72, 670 - 60 * row, [TEXT, TEXT, TEXT + "."])
    levels = [(level, heading) for level, heading, _ in outline_of(read(file.data()))]
    assert levels == [
        entry for n, (a, b) in enumerate(things, 1) for entry in [(1, f"Note {n}. {a}"), (2, b)]
    ]


def test_a_bold_line_of_running_text_is_no_heading():
    page = (file := PdfFile()).page()
    page.text(72, 720, "The second party of surveyors was led by a captain of the engineers from", bold=True)
    page.lines(72, 708, ["Thorsby, who had drawn maps before.", TEXT + "."])
    page.text(
        72, 660, "Provisions for the winter were carried by mules and kept in a hut that stood", bold=True
    )
    page.lines(72, 648, ["below the pass. " + TEXT, TEXT + "."])
    assert not read(file.data()).sections


def test_running_heads_and_page_numbers_are_dropped():
    file = PdfFile()
    for number in range(1, 6):
        page = file.page()
        page.text(72, 760, f"Annual report {2020 + number} of the society", 8)
        page.lines(72, 700, [f"Body {'abcde'[number - 1]}."])
        page.text(300, 40, str(number), 8)
    assert read(file.data()).text == "Body a.\n\nBody b.\n\nBody c.\n\nBody d.\n\nBody e."


def test_on_two_pages_the_second_running_head_and_the_page_numbers_are_dropped():
    """The first one may be a title."""
    file = PdfFile()
    for number in (1, 2):
        page = file.page()
        page.text(72, 760, "Annual review, volume 12", 8)
        page.lines(72, 700, [f"{TEXT} and", "the"] if number == 1 else ["second one.", "It ended."])
        page.text(290, 30, f"Page {number} of 2", 8)
    assert [line for line in read(file.data()).text.splitlines() if line] == [
        "Annual review, volume 12",
        f"{TEXT} and the second one. It ended.",
    ]


def test_pages_that_differ_in_a_number_alone_are_no_running_heads():
    file = PdfFile()
    for number in range(1, 9):
        file.page().text(72, 700, f"Sheet {number} of the survey.")
    page = read(file.data())
    assert "Sheet 1 of the survey." in page.text and "Sheet 8 of the survey." in page.text


def test_page_numbers_at_different_heights_are_dropped():
    file = PdfFile()
    for number in range(1, 6):
        page = file.page()
        page.lines(72, 700, [f"Body {'abcde'[number - 1]}."])
        page.text(300, 40 + 80 * number, str(number + 16), 8)
    assert "17" not in read(file.data()).text


def test_hyphens_of_line_ends_are_mended_and_those_of_words_kept():
    file = PdfFile()
    lines = [
        "A long-term plan for the co-",
        "operation of surveyors, made for the long-",
        "term use of maps and",
    ]
    file.page().lines(72, 700, [*lines, "their dis-", "tribution."])
    assert read(file.data()).text == (
        "A long-term plan for the cooperation of surveyors, made for the long-term use of maps and their distribution."
    )


def test_compounds_keep_the_hyphen_that_a_line_ends_with():
    """Of words that stand nowhere else with it: where there is another hyphen, or both parts are words."""
    file = PdfFile()
    lines = [
        "Dollar figures of state-of-the-",
        "art, dollar-",
        "denominated and self-",
        "evident plans are well-",
    ]
    file.page().lines(72, 700, [*lines, "known as denominated. The inter-", "stellar dust is not."])
    assert read(file.data()).text == (
        "Dollar figures of state-of-the-art, dollar-denominated and self-evident plans are well-known as denominated."
        " The interstellar dust is not."
    )


def financial(file: PdfFile) -> None:
    page = file.page()
    page.lines(72, 720, [TEXT + "."])
    page.text(360, 680, "Year ended June 30,", 9, bold=True)
    page.text(72, 668, "($ in millions)", 9)
    page.right(400, 668, "2023", 9, bold=True)
    page.right(480, 668, "2022", 9, bold=True)
    rows = [
        ("Net sales", "14,694", "14,544"),
        ("Cost of sales", "(11,969)", "(11,724)"),
        ("Gross profit", "2,725", "2,820"),
    ]
    for index, (label, *numbers) in enumerate(rows):
        y = 656 - 12 * index
        page.text(72, y, label, 9)
        for right, number in zip((400, 480), numbers, strict=True):
            page.text(right - 45, y, "$", 9)
            page.right(right, y, number, 9)


def test_cells_of_a_financial_statement_keep_their_row_and_their_column():
    financial(file := PdfFile())
    _, table = read(file.data()).chunks
    assert table.kind is ChunkKind.TABLE
    assert table.pages == (1, 1)
    assert table.text.splitlines() == [
        "($ in millions)",
        "Year ended June 30,",
        "2023 | 2022",
        "Net sales; Year ended June 30, 2023: $14,694, 2022: $14,544",
        "Cost of sales; Year ended June 30, 2023: $(11,969), 2022: $(11,724)",
        "Gross profit; Year ended June 30, 2023: $2,725, 2022: $2,820",
    ]


def centred(page: PdfPage, x: float, y: float, text: str) -> None:
    page.text(x - width_of(text, 8, bold=True) / 2, y, text, 8, bold=True)


def test_a_head_of_several_lines_is_that_of_the_column_it_stands_over():
    page = (file := PdfFile()).page()
    centred(page, 560, 713, "Square")
    page.text(72, 705, "Fiscal Year", 8, bold=True)
    for x, text in ((430, "Opened"), (480, "Closed"), (520, "Total"), (560, "Feet (1)")):
        centred(page, x, 705, text)
    for row, (year, *values) in enumerate(
        [("2014", "12", "1", "632", "84,382"), ("2015", "16", "2", "647", "86,510")]
    ):
        page.text(72, 690 - 13 * row, year, 8)
        for x, value in zip((444, 488, 528, 576), values, strict=True):
            page.right(x, 690 - 13 * row, value, 8)
    text = read(file.data()).text.splitlines()
    assert text == [
        "Fiscal Year | Opened | Closed | Total | Square Feet (1)",
        "Fiscal Year: 2014; Opened: 12; Closed: 1; Total: 632; Square Feet (1): 84,382",
        "Fiscal Year: 2015; Opened: 16; Closed: 2; Total: 647; Square Feet (1): 86,510",
    ]


def test_titles_of_several_columns_stand_over_the_middle_of_theirs():
    """Though one stands near the edge of a column, and another over one column alone."""
    page = (file := PdfFile()).page()
    centred(page, 342, 722, "Northern shops")
    centred(page, 501, 722, "Clubs")
    centred(page, 412, 711, "Small markets")
    for x, text in (
        (246, "Large markets"),
        (320, "Discount stores"),
        (412, "and other formats"),
        (501, "of all"),
    ):
        centred(page, x, 703, text)
    for row, (label, *values) in enumerate(
        [("Alabama", "101", "1", "30", "13"), ("Alaska", "7", "2", "0", "5")]
    ):
        page.text(19, 690 - 13 * row, label, 8)
        for x, value in zip((271, 347, 463, 525), values, strict=True):
            page.right(x, 690 - 13 * row, value, 8)
    text = read(file.data()).text.splitlines()
    assert text[-2] == (
        "Alabama; Northern shops Large markets: 101, Discount stores: 1, Small markets and other formats: 30;"
        " Clubs of all: 13"
    )


def test_titles_side_by_side_part_the_columns_between_them():
    page = (file := PdfFile()).page()
    for x, text in ((248, "2022"), (386, "2021"), (525, "2020")):
        centred(page, x, 711, text)
    for x in (248, 386, 525):
        centred(page, x - 34, 700, "Net sales")
        centred(page, x + 36, 700, "Assets")
    for row, label in enumerate(("Canada", "Mexico")):
        page.text(26, 686 - 12 * row, label, 8)
        for index, x in enumerate((243, 312, 381, 450, 519, 588)):
            page.right(x, 686 - 12 * row, f"{row + 1},{index}00", 8)
    assert read(file.data()).text.splitlines()[-2] == (
        "Canada; 2022 Net sales: 1,000, Assets: 1,100; 2021 Net sales: 1,200, Assets: 1,300;"
        " 2020 Net sales: 1,400, Assets: 1,500"
    )


def test_years_behind_labels_are_values_and_a_footnote_ends_its_table():
    page = (file := PdfFile()).page()
    centred(page, 260, 710, "Patent expires")
    centred(page, 400, 710, "Patent begins")
    for row, label in enumerate(("Alpha", "Beta", "Gamma", "Delta")):
        page.text(72, 696 - 11 * row, label, 8)
        page.right(268, 696 - 11 * row, f"202{row}", 8)
        page.right(408, 696 - 11 * row, f"201{row}", 8)
    page.text(52, 650, "(1)", 6)
    page.text(64, 647, "The years are those of the office that granted the patent, not those of courts.", 8)
    lines = read(file.data()).text.splitlines()
    assert "Beta; Patent expires: 2021; Patent begins: 2011" in lines
    assert lines[-1].startswith("(1) The years are those")


def test_a_head_of_words_above_numbers_alone_need_not_be_bold():
    page = (file := PdfFile()).page()
    table = [("Lighthouse", "Height (m)", "Built"), ("Skagen Grey", "46", "1858"), ("Rubjerg", "23", "1900")]
    for row, cells in enumerate([*table, ("Lindesnes", "16", "1915")]):
        for x, text in zip((72, 150, 220), cells, strict=True):
            page.text(x, 700 - 18 * row, text)
    lines = read(file.data()).text.splitlines()
    assert lines[:2] == [
        "Lighthouse | Height (m) | Built",
        "Lighthouse: Skagen Grey; Height (m): 46; Built: 1858",
    ]


def test_a_table_of_words_has_its_headers_in_every_row():
    page = (file := PdfFile()).page()
    rows = [("Name", "Office"), ("Ada North", "Surveyor"), ("Ben South", "Clerk"), ("Cy West", "Guide")]
    for index, row in enumerate(rows):
        for x, text in zip((72, 250), row, strict=True):
            page.text(x, 700 - 14 * index, text, bold=index == 0)
    (table,) = read(file.data()).chunks
    assert table.text.splitlines()[1:3] == [
        "Name: Ada North; Office: Surveyor",
        "Name: Ben South; Office: Clerk",
    ]


def test_columns_of_words_below_their_heads_are_a_table_and_not_columns_of_text():
    page = (file := PdfFile()).page()
    rows = [("Lamp", "Means", "What the keeper does"), ("one red", "storm", "rings all along the quay")]
    rows += [
        ("two red", "storm from the west", "calls the boats back in"),
        ("green", "all is clear", "sleeps"),
    ]
    rows += [("white", "somebody is missing", "wakes the harbour master"), ("blue", "fog", "sounds the horn")]
    filled(page, 72, 760, [TEXT] * 2)
    for index, row in enumerate(rows):
        for x, text in zip((72, 140, 330), row, strict=True):
            page.text(x, 720 - 14 * index, text)
    text = read(file.data()).text.splitlines()
    assert "Lamp: two red; Means: storm from the west; What the keeper does: calls the boats back in" in text


def test_lines_of_a_cell_nearer_than_rows_are_to_one_another_are_one_row_and_no_is_a_head():
    page = (file := PdfFile()).page()
    rows = [("No.", "What is done", "Who"), ("A1", "Grease the axle", "Ada"), ("A2", "Call", "Ben")]
    for index, row in enumerate([*rows, ("A3", "Paint the gate", "Cy")]):
        for x, text in zip((72, 140, 330), row, strict=True):
            page.text(x, 700 - 30 * index, text, bold=index == 0)
    page.text(140, 658, "of the mill")
    page.text(140, 598, "and the fence")
    page.text(72, 560, "Nothing else was said.")
    lines = read(file.data()).text.splitlines()
    assert lines[1:4] == [
        "No.: A1; What is done: Grease the axle of the mill; Who: Ada",
        "No.: A2; What is done: Call; Who: Ben",
        "No.: A3; What is done: Paint the gate and the fence; Who: Cy",
    ]
    assert lines[-1] == "Nothing else was said."


def test_a_unit_below_one_of_several_heads_is_that_of_its_column():
    page = (file := PdfFile()).page()
    for x, text in zip((72, 150, 220, 290), ("Harbour", "Berths", "Fee", "Showers"), strict=True):
        page.text(x, 700, text, bold=True)
    page.text(220, 688, "(EUR)", bold=True)
    for index, row in enumerate([("Skagen", "12", "18", "yes"), ("Rubjerg", "4", "9", "no")]):
        for x, text in zip((72, 150, 220, 290), row, strict=True):
            page.text(x, 670 - 18 * index, text)
    lines = read(file.data()).text.splitlines()
    assert lines[1] == "Harbour: Skagen; Berths: 12; Fee (EUR): 18; Showers: yes"


def test_items_with_bullets_are_a_list():
    page = (file := PdfFile()).page()
    page.lines(72, 720, ["They took:"])
    for index, item in enumerate(("ropes,", "maps,", "tea.")):
        page.text(80, 700 - 13 * index, "\u2022")
        page.text(95, 700 - 13 * index, item)
    _, items = read(file.data()).chunks
    assert (items.kind, items.text) == (ChunkKind.LIST, "• ropes,\n• maps,\n• tea.")


@pytest.mark.parametrize("kind", ["Widget", "FreeText"])
def test_what_was_filled_into_a_form_stands_where_it_is_shown(kind: str):
    file = PdfFile()
    page = file.page()
    page.lines(72, 700, ["Name of the boat:"])
    page.lines(72, 600, ["Signed in the harbour."])
    _, shown = file.form()
    shown.text(2, 4, "Zephyrine")
    field = f"<< /Type /Annot /Subtype /{kind} /F 4 /Rect [160 696 360 716] /AP << /N 12 0 R >> >>"
    data = file.data()
    assert b"12 0 obj\n<< /Type /XObject /Subtype /Form" in data
    data = data.replace(b"/BBox [0 0 612 792]", b"/BBox [0 0 200 20]")
    data = data.replace(b"/Resources << /XObject <<", b"/Resources << /Font << /F1 3 0 R >> /XObject <<")
    texts = [c.text for c in read(data.replace(b"/Contents", f"/Annots [{field}] /Contents".encode())).chunks]
    assert texts == ["Name of the boat: Zephyrine", "Signed in the harbour."]


def with_glyphs(data: bytes, differences: str) -> bytes:
    """The same file with other characters of its font: ``97 /alpha`` shows alpha for "a"."""
    return data.replace(
        b"/Encoding /WinAnsiEncoding", f"/Encoding << /Differences [{differences}] >>".encode()
    )


@pytest.mark.parametrize(
    "glyph", ["uni2023", "uni25AA", "uni25C6", "uni27A4", "uniF0A7", "uniF0D8", "endash"]
)
def test_items_begin_with_marks_of_many_kinds_and_their_lines_are_joined(glyph: str):
    page = (file := PdfFile()).page()
    page.lines(72, 730, ["What the crew has to bring:"])
    page.lines(72, 712, ["Z Boots that are made for ice and reach", "  above the knee", "Z A lamp", "Z Wool"])
    (lead, items) = read(with_glyphs(file.data(), f"90 /{glyph}")).chunks
    assert lead.text == "What the crew has to bring:"
    assert (items.kind, items.text) == (
        ChunkKind.LIST,
        "• Boots that are made for ice and reach above the knee\n• A lamp\n• Wool",
    )


@pytest.mark.parametrize("mark", ["*", "o", "\u00bb", "\u00a7"])
def test_marks_that_are_also_words_or_signs_begin_items_behind_others(mark: str):
    page = (file := PdfFile()).page()
    items = [f"{mark} Ropes of the north wall.", f"{mark} Maps.", f"{mark} Tea."]
    page.lines(72, 730, ["They took:", *items])
    assert [chunk.text for chunk in read(file.data()).chunks] == ["They took:", *items]


def test_a_word_at_the_begin_of_a_line_is_no_mark():
    page = (file := PdfFile()).page()
    page.lines(72, 730, ["Ontem vimos que o inverno ali foi longo e que agora", "o Brasil tem menos gelo."])
    (chunk,) = read(file.data()).chunks
    assert chunk.text.endswith("agora o Brasil tem menos gelo.")


def test_a_line_left_of_the_text_of_a_short_item_is_none_of_it():
    page = (file := PdfFile()).page()
    for row, (label, text) in enumerate(
        [("(a)", "Paid at once"), ("(b)", "Paid in a year"), ("(c)", "Not paid")]
    ):
        page.text(
            72, 712 - 12 * row, label, 12
        )  # labels larger and lower than the items, as one program makes them
        page.text(90, 714 - 12 * row, text)
    filled(page, 72, 676, [TEXT, "and then it ended."])
    items, text = read(file.data()).chunks
    assert (items.kind, items.text) == (ChunkKind.LIST, "(a) Paid at once\n(b) Paid in a year\n(c) Not paid")
    assert text.text == f"{TEXT} and then it ended."


HEBREW = "אבגדהוזחטיךכלםמןנסעףפץצקרש"


def drawn(text: str) -> str:
    """Hebrew as it is drawn, letter by letter from the left, with the letters a to z; numbers run to the right."""
    letters = str.maketrans(HEBREW, "abcdefghijklmnopqrstuvwxyz")
    return " ".join(word if word.isdigit() else word[::-1] for word in text.split()[::-1]).translate(letters)


def test_hebrew_is_read_from_right_to_left_with_its_numbers_and_columns():
    page = (file := PdfFile()).page()
    page.right(540, 730, drawn("המשאבה פועלה מאז שנ 1998 בכפר"))
    page.right(540, 718, drawn("נפח המיכל הוא 340 ליטר"))
    for row, (name, number) in enumerate([("מים", "17"), ("מלח", "230"), ("שמן", "5")]):
        page.right(540, 660 - 14 * row, drawn(name))
        page.right(340, 660 - 14 * row, number)
    names = " ".join(f"/afii{57664 + index}" for index in range(26))
    first, table = read(with_glyphs(file.data(), f"97 {names}")).chunks
    assert first.text == "המשאבה פועלה מאז שנ 1998 בכפר נפח המיכל הוא 340 ליטר"
    assert [re.findall(r"\w+", line) for line in table.text.splitlines()] == [
        ["מים", "17"],
        ["מלח", "230"],
        ["שמן", "5"],
    ]


@pytest.mark.parametrize("instead", [b"null", b"(gone)", b"<< /Type /Font >>"])
def test_a_page_that_cannot_be_read_is_named_and_the_others_are_read(instead: bytes):
    file = PdfFile()
    for word in ("first", "second", "third"):
        file.page().lines(72, 700, [f"The {word} page."])
    data = file.data()
    _, start, _ = (found.start() for found in re.finditer(b"<< /Type /Page /", data))
    end = data.index(b"endobj", start)
    page = read(data[:start] + instead.ljust(end - start) + data[end:])
    assert [(c.text, c.pages) for c in page.chunks] == [
        ("The first page.", (1, 1)),
        ("The third page.", (3, 3)),
    ]
    assert page.missing == ("page 2: it is damaged",)
    alone = (file := PdfFile()).page()
    alone.lines(72, 700, ["Nothing else."])
    data = file.data()
    start = data.index(b"<< /Type /Page /")
    end = data.index(b"endobj", start)
    with pytest.raises(ParseError, match="page 1: it is damaged"):
        read(data[:start] + instead.ljust(end - start) + data[end:])


def test_numbered_paragraphs_are_a_list():
    page = (file := PdfFile()).page()
    page.lines(72, 720, ["1. Go to the ridge.", "2. Measure it.", "3. Come back."])
    (items,) = read(file.data()).chunks
    assert (items.kind, items.text) == (ChunkKind.LIST, "1. Go to the ridge.\n2. Measure it.\n3. Come back.")


@pytest.mark.parametrize(
    ("name", "stated", "title"),
    [
        ("AMCOR_2023_10K.pdf", "0001628280-17-001754", "AMCOR 2023 10K"),
        ("1706.03762.pdf", "Attention and its uses", "Attention and its uses"),
        ("1706.03762.pdf", "Microsoft Word - x.doc", "A Survey of the Ridge"),
        ("scan.pdf", "untitled", "A Survey of the Ridge"),
        ("ridge-survey.pdf", "untitled", "A Survey of the Ridge"),
        ("ridge-survey.pdf", "Surveys", "A Survey of the Ridge"),
        ("ridge-survey.pdf", "Survey of a high ridge", "Survey of a high ridge"),
        ("ridge-survey-2023.pdf", "untitled", "ridge-survey-2023"),
    ],
)
def test_the_title_is_the_telling_one_of_file_metadata_and_first_page(name: str, stated: str, title: str):
    page = (file := PdfFile({"Title": stated})).page()
    page.text(150, 740, "A Survey of the Ridge", 20)
    page.lines(72, 700, [TEXT + "."])
    assert read(file.data(), name).title == title


def test_metadata_and_the_time_of_the_last_change_are_those_of_the_document():
    info = {
        "Author": "A. North",
        "Subject": "Ridges",
        "CreationDate": "D:20230102030405Z",
        "ModDate": "D:20240102030405+01'00'",
    }
    (file := PdfFile(info)).page().lines(72, 700, ["Text."])
    page = read(file.data())
    assert page.modified == "2024-01-02T02:04:05Z"
    assert page.metadata == {
        "page_count": 1,
        "author": "A. North",
        "subject": "Ridges",
        "created": "2023-01-02T03:04:05Z",
    }


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"%PDF-1.4\n" + bytes(2_000), "damaged"),
        (b"%PDF-", "damaged"),
        (PdfFile(pages=[PdfPage()]).data(encrypted=True), "encrypted"),
        (PdfFile().data(), "no pages"),
    ],
)
def test_what_cannot_be_opened_is_refused_with_the_reason(data: bytes, reason: str):
    with pytest.raises(ParseError, match=reason):
        read(data)


def test_a_broken_table_of_objects_is_mended():
    (file := PdfFile()).page().lines(72, 700, ["Still here."])
    data = file.data()
    assert read(data.replace(b"startxref", b"startxxxx")).text == "Still here."
    assert read(data.replace(b"0000000", b"0000009")).text == "Still here."


def test_loops_end():
    file = PdfFile(outline=[(0, "First part", 1, None), (0, "Second part", 1, None)])
    file.page().lines(72, 700, ["First part", "Body.", "Second part"])
    page = read(file.data(page_loop=True, outline_loop=True))
    assert [s.heading for s in page.sections] == ["First part", "Second part"]


def test_more_pages_than_the_limit_are_refused_naming_it():
    file = PdfFile()
    for _ in range(3):
        file.page().lines(72, 700, ["Text."])
    with pytest.raises(ParseError, match="3 pages, more than the limit of 2"):
        read(file.data(), limits=InputLimits(pages=2))


def test_a_document_that_would_take_too_long_is_refused_before_it_has(monkeypatch: pytest.MonkeyPatch):
    file = PdfFile()
    for _ in range(50):
        file.page().lines(72, 700, ["Text."])
    clock = iter(range(1_000))
    monkeypatch.setattr(reader, "parser_time", lambda: float(next(clock)))
    with pytest.raises(ParseError, match="50 pages, and to read them would take more than 30 seconds"):
        read(file.data())
    assert next(clock) < 10


def scanned(text_pages: int, picture_pages: int) -> bytes:
    file = PdfFile()
    for _ in range(text_pages):
        file.page().lines(72, 700, ["Printed words."])
    for _ in range(picture_pages):
        file.page().picture()
    return file.data()


class FakeOcr:
    available = True
    illegible = 0

    def read(self, picture: object) -> str:
        assert getattr(picture, "shape", ())[2:] == (3,)
        return "Words in\na picture"


def test_without_ocr_pages_without_text_are_counted_and_a_document_of_them_is_refused(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(ocr_pages.PageReader, "available", False)
    page = read(scanned(1, 2))
    assert (page.text, page.metadata["pages_without_text"]) == ("Printed words.", 2)
    with pytest.raises(Exception, match=r"trivium\[ocr\]"):
        read(scanned(0, 2))


def test_with_ocr_pages_without_text_are_read_as_pictures(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ocr_pages, "Ocr", lambda limits: FakeOcr())
    page = read(scanned(1, 1))
    assert [(c.text, c.pages) for c in page.chunks] == [
        ("Printed words.", (1, 1)),
        ("Words in a picture", (2, 2)),
    ]
    assert "pages_without_text" not in page.metadata


def test_in_files_of_its_name_the_signature_may_stand_a_little_into_the_file():
    head = b"\x00junk\n" * 20 + b"%PDF-1.7"
    found = format_of_content(head, "report.PDF")
    assert found is not None
    assert found.name == "pdf"
    assert format_of_content(b" " * 1_100 + b"%PDF-1.7", "report.pdf") is None
    assert format_of_content(b"<p>Files begin with %PDF-1.7", "notes.html") is None


def test_the_command_builds_a_store_of_pdf_files_and_reports_broken_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    financial(file := PdfFile())
    folder = tmp_path / "reports"
    folder.mkdir()
    (folder / "AMCOR_2023_10K.pdf").write_bytes(file.data())
    (folder / "locked.pdf").write_bytes(file.data(encrypted=True))
    with pytest.raises(SystemExit) as ended:
        main(["build", str(folder), "--store", str(tmp_path / "store"), "--no-embed", "--workers", "1"])
    shown = capsys.readouterr()
    assert ended.value.code == 3
    assert "encrypted" in " ".join((shown.out + shown.err).split())


def test_widths_of_the_writer_are_those_of_helvetica():
    assert width_of("Hello", 10) == pytest.approx(22.78)  # 722 + 556 + 222 + 222 + 556 thousandths
