"""PowerPoint, Excel, CSV and EPUB: what becomes of their content."""

from __future__ import annotations

import datetime
import io
import time

import openpyxl
import pytest

from tests.parser.documents.files import (
    PACKAGE,
    PNG,
    epub,
    pptx_file,
    read,
    saved,
    texts,
    workbook,
    xlsx_file,
)
from trivium.errors import ParseError
from trivium.settings.limits import DEFAULT_LIMITS
from trivium.text.headings_in_passages import with_headings


def test_slides_are_sections_and_pages() -> None:
    page = read("pptx", pptx_file())
    assert (page.title, page.format) == ("Lighthouses", "pptx")
    assert [section.heading for section in page.sections] == ["Lighthouses", "Fuel", "Fuel"]
    assert texts(page) == [
        ("Lighthouses", "paragraph", "A short history"),
        ("Fuel", "list", "Whale oil\n  from whales"),
        ("Fuel", "paragraph", "Mention the price of colza."),
        ("Fuel", "table", "Fuel | Price\nFuel: Oil; Price: 12\nFuel: Gas; Price: 9"),
    ]
    assert [chunk.pages for _, chunk in page.all_chunks()] == [(1, 1), (2, 2), (2, 2), (3, 3)]


def test_shapes_are_read_from_top_to_bottom_hidden_slides_not_at_all() -> None:
    import pptx
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[6])
    for left, top, text in ((5, 4, "fourth"), (1, 4, "third"), (5, 1, "second"), (1, 1, "first")):
        slide.shapes.add_textbox(Inches(left), Inches(top), Inches(1), Inches(1)).text_frame.text = text
    data = CategoryChartData()
    data.categories = ["East", "West"]
    data.add_series("Sales", (19.2, 21))
    slide.shapes.add_chart(XL_CHART_TYPE.PIE, Inches(1), Inches(6), Inches(2), Inches(1), data)
    picture = slide.shapes.add_picture(io.BytesIO(PNG), Inches(1), Inches(7))
    picture._element._nvXxPr.cNvPr.set("descr", "A white tower")
    hidden = show.slides.add_slide(show.slide_layouts[5])
    hidden.shapes.title.text = "Hidden"
    hidden._element.set("show", "0")
    show.slides.add_slide(show.slide_layouts[5]).shapes.title.text = "Thanks"
    page = with_headings(read("pptx", saved(show)))
    assert [text for _, _, text in texts(page)] == [
        "first",
        "second",
        "third",
        "fourth",
        "Sales\nEast; Sales: 19.2\nWest; Sales: 21",
        "A white tower",
        "Thanks",
    ]
    assert [section.heading for section in page.sections] == ["Slide 1", "Thanks"]
    assert page.sections[1].chunks[0].pages == (3, 3)


@pytest.mark.parametrize(
    "name",
    ["p.png", "IMG_2041-final.JPG", "C:\\pictures\\tower.png", "Screenshot 2024-05-01 at 10.20.30.png"],
)
def test_the_name_of_a_picture_file_describes_nothing(name: str) -> None:
    import pptx

    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[6])
    for described in (name, "A tower, from tower.png"):
        shown = slide.shapes.add_picture(io.BytesIO(PNG), 0, 0)
        shown._element._nvXxPr.cNvPr.set("descr", described)
    assert [text for _, _, text in texts(read("pptx", saved(show)))] == ["A tower, from tower.png"]


def test_what_programs_write_for_metadata_is_left_out() -> None:
    book = workbook(["Name", "Town"])
    book.properties.creator, book.properties.subject = "(anonymous)", "Unspecified"
    book.properties.keywords = "towns"
    assert {**read("xlsx", saved(book)).metadata, "created": ""} == {"keywords": "towns", "created": ""}


def test_a_formula_that_was_never_computed_is_shown() -> None:
    """As in files that libraries write; it counts as a value of its column."""
    book = workbook(["Item", "Total"], ["Oil", "=2*3"], ["Gas", "=SUM(B2:B2)"])
    assert read("xlsx", saved(book)).text.split("\n")[-2:] == [
        "Item: Oil; Total: =2*3",
        "Item: Gas; Total: =SUM(B2:B2)",
    ]


def test_sheets_are_sections_and_cells_are_as_shown() -> None:
    page = read("xlsx", xlsx_file())
    assert texts(page) == [
        ("Keepers", "paragraph", "Keepers of the light"),
        (
            "Keepers",
            "table",
            "Name | Since | Share\nName: Ada; Since: 1877-05-01; Share: 12.5%\nName: Ben; Share: 1",
        ),
    ]
    assert page.title == "a file" and page.chunks == ()
    assert all(chunk.pages is None for _, chunk in page.all_chunks())


def test_merged_cells_gaps_values_and_two_tables_of_one_sheet() -> None:
    rows: list[list[object]] = [
        ["Region", "Town", "People"],
        ["North", "Oslo", 700],
        [None, "Bergen", 290.5],
        [],
        ["Note", "kept by hand"],
        [],
        ["When", "Depth"],
        [datetime.datetime(2024, 5, 1, 12, 30), True],
        [datetime.time(7, 5), 12345678901234],
    ]
    sheet = (book := workbook(*rows)).active
    sheet.merge_cells("A2:A3")
    sheet.title = "2024_Q1  towns"  # a name as it is, but for runs of spaces
    found = texts(read("xlsx", saved(book)))
    assert {section for section, _, _ in found} == {"2024_Q1 towns"}
    assert [text for _, _, text in found] == [
        "Region | Town | People\nRegion: North; Town: Oslo; People: 700\nRegion: North; Town: Bergen; People: 290.5",
        "Note: kept by hand",
        "When | Depth\nWhen: 2024-05-01 12:30:00; Depth: TRUE\nWhen: 07:05:00; Depth: 12345678901234",
    ]


def test_many_rows_are_read_in_time_or_refused() -> None:
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Rows")
    for number in range(2_000):
        sheet.append([f"name {number}", number, number / 7])
    data = saved(book)
    started = time.process_time()
    page = read("xlsx", data)
    assert "name 1999" in page.text
    assert time.process_time() - started < 5
    with pytest.raises(ParseError, match="more than 5,000 cells, the limit: split it"):
        read("xlsx", data, limits=DEFAULT_LIMITS.model_copy(update={"values": 5_000}))
    with pytest.raises(ParseError, match="takes more than 1e-09 seconds"):
        read("xlsx", data, limits=DEFAULT_LIMITS.model_copy(update={"seconds": 1e-9}))


def test_a_workbook_of_which_nothing_is_shown_is_refused() -> None:
    with pytest.raises(ParseError, match="no text"):
        read("xlsx", saved(openpyxl.Workbook()))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"Name,Town\nAda,Oslo\n", "Name | Town\nName: Ada; Town: Oslo"),
        ("Größe;Stadt\n1,85;Köln\n".encode("cp1252"), "Größe | Stadt\nGröße: 1,85; Stadt: Köln"),
        (b"sep=|\r\na|b\r\n1|2\r\n", "a | b\na: 1; b: 2"),
        ("a\tb\n1,2\t3\n".encode("utf-16"), "a | b\na: 1,2; b: 3"),
        (b'Who,Said\nAda,"Yes,\nof course"\n', "Who | Said\nWho: Ada; Said: Yes, of course"),
        (b'Size,Name\n5,3" pipe\n6,rod\n', 'Size | Name\nSize: 5; Name: 3" pipe\nSize: 6; Name: rod'),
        (b"1,2\n3,4\n", "1 | 2\n3 | 4"),
        (b"Name,Town\nAda\nBen,Oslo,more\n", "Name | Town\nName: Ada\nName: Ben; Town: Oslo; more"),
    ],
)
def test_csv_is_read_however_it_is_separated(data: bytes, expected: str) -> None:
    page = read("csv", data)
    assert [(kind, text) for _, kind, text in texts(page)] == [("table", expected)]


def test_a_long_table_becomes_chunks_of_whole_rows() -> None:
    rows = "".join(f"{number},name of {number}\n" for number in range(200))
    chunks = texts(read("csv", f"Id,Name\n{rows}".encode()))
    assert len(chunks) > 3
    lines = [line for _, _, text in chunks for line in text.split("\n")]
    assert lines[1:] == [f"Id: {number}; Name: name of {number}" for number in range(200)]


@pytest.mark.parametrize(("data", "reason"), [(b"\0\1\2" * 50, "binary"), (b"\n\n,,\n", "no text")])
def test_what_is_no_table_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(ParseError, match=reason):
        read("csv", data)


def test_chapters_come_in_the_order_of_reading_under_their_names() -> None:
    page = read("epub", epub())
    assert (page.title, page.modified) == ("The Rock", "2024-05-01T12:00:00Z")
    assert dict(page.metadata) == {
        "author": "Ada Example; Ben Example",
        "language": "en",
        "identifier": "urn:isbn:1",
        "date": "1877-05-01",
    }
    assert texts(page) == [
        ("The Lamp", "paragraph", "The keeper lit the lamp at dusk.On oil"),
        ("Oil", "paragraph", "It burned whale oil."),
        ("The Storm", "paragraph", "A storm came in the night."),
    ]
    assert [(section.heading, section.level) for section in page.sections] == [
        ("The Lamp", 1),
        ("Oil", 2),
        ("The Storm", 1),
    ]
    assert not any(chunk.links or chunk.references for _, chunk in page.all_chunks())


def test_an_older_table_of_contents_is_read_too() -> None:
    package = (
        '<package><metadata/><manifest><item id="n" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
        '<item id="a" href="text/a.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine toc="n"><itemref idref="a"/></spine></package>'
    )
    ncx = (
        '<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://example.org/ncx.dtd"><ncx><navMap><navPoint>'
        '<navLabel><text>The Light</text></navLabel><content src="text/a.xhtml"/></navPoint></navMap></ncx>'
    )
    page = read("epub", epub({"OEBPS/book.opf": package, "OEBPS/toc.ncx": ncx}), "books/My_Book.epub")
    assert page.title == "My Book"
    assert [section.heading for section in page.sections] == ["The Light", "The Lamp", "Oil"]


@pytest.mark.parametrize(
    ("algorithm", "is_refused"),
    [("http://www.w3.org/2001/04/xmlenc#aes128-cbc", True), ("http://www.idpf.org/2008/embedding", False)],
)
def test_protected_books_are_refused_scrambled_fonts_are_not(algorithm: str, is_refused: bool) -> None:
    encryption = (
        '<encryption xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData>'
        f'<e:EncryptionMethod Algorithm="{algorithm}"/><e:CipherData><e:CipherReference URI="OEBPS/text/a.xhtml"/>'
        "</e:CipherData></e:EncryptedData></encryption>"
    )
    book = epub({"META-INF/encryption.xml": encryption})
    if is_refused:
        with pytest.raises(ParseError, match="DRM"):
            read("epub", book)
    else:
        assert read("epub", book).title == "The Rock"


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_a_table_of_very_many_columns_is_refused(sign: str) -> None:
    """Every cell is written with its header: a small file would become a page of a hundred times its size."""
    for columns, refused in ((16_384, False), (16_385, True)):
        data = f"{sign.join(['a'] * columns)}\n{sign.join(['1'] * columns)}\n".encode()
        if refused:
            with pytest.raises(ParseError, match="16,385 columns, more than the limit of 16,384"):
                read("csv", data)
        else:
            assert read("csv", data).text.count("1") == columns


def test_pages_outside_the_reading_order_follow_it() -> None:
    package = PACKAGE.replace('<itemref idref="a"/>', "")
    page = read("epub", epub({"OEBPS/book.opf": package}))
    assert page.text.index("A storm came in the night.") < page.text.index("The keeper lit the lamp at dusk.")
    assert "The Storm" not in page.text.partition("The keeper lit")[2]  # the table of contents is none
