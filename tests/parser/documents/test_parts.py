"""What cannot be read of a document is left out and named; the rest of it is read."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE

from tests.parser.documents.files import (
    CONTAINER,
    PACKAGE,
    docx_file,
    epub,
    members,
    read,
    replaced,
    saved,
    texts,
    workbook,
    zipped,
)
from tests.parser.documents.office_xml import RELATED
from trivium.errors import ParseError
from trivium.parser.document import DamagedPartError, Document
from trivium.parser.sources.recognise_format import recognise
from trivium.parser.text_runs import TextRun
from trivium.types import ChunkKind


def test_a_part_that_fails_is_named_and_the_others_are_read() -> None:
    document = Document(10)
    for part, error in (
        ("the first", DamagedPartError("cut short")),
        ("the second", KeyError()),
        ("the third", None),
    ):
        with document.part(part):
            if error is not None:
                raise error
            run = TextRun()
            run.add("A sentence.")
            document.block(ChunkKind.PARAGRAPH, run)
    assert document.missing == ("the first: cut short", "the second: KeyError")
    assert document.text == "A sentence."


@pytest.mark.parametrize(
    "error", [ParseError("more than 10 cells, the limit"), MemoryError(), ImportError("docx")]
)
def test_limits_and_missing_packages_are_of_the_whole_document(error: Exception) -> None:
    document = Document(10)
    with pytest.raises(type(error)), document.part("a sheet"):
        raise error
    assert document.missing == ()


def test_of_many_parts_only_the_first_are_named() -> None:
    document = Document(10)
    for number in range(1_000):
        document.leave_out(f"slide {number}", "x" * 10)
    assert len(document.missing) == 20
    with pytest.raises(ParseError, match=r"no text; slide 0: x{10}; slide 1"):
        document.expect_chunks("no text")


NO_BOOK = {"META-INF/container.xml": "<container>", "OEBPS/book.opf": "<package><manifest>"}


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        (
            {"OEBPS/text/b b.xhtml": b"\x00\x01\x02\x03" * 100},
            "the chapter 'The Storm': the document is binary",
        ),
        (
            {"OEBPS/book.opf": PACKAGE.replace("b%20b.xhtml", "lost.xhtml")},
            "the chapter 'OEBPS/text/lost.xhtml': ",
        ),
        (
            {"OEBPS/book.opf": PACKAGE.replace('idref="b"', 'idref="c"')},
            "the chapter 'c': the book does not say",
        ),
        (
            {"OEBPS/text/b b.xhtml": "<p>No", **NO_BOOK},
            "the list of chapters: 'OEBPS/book.opf' in the book is",
        ),
        (
            {"OEBPS/text/b b.xhtml": "", "META-INF/container.xml": "?"},
            "the chapter 'out': the book does not say",
        ),
    ],
)
def test_a_book_is_read_without_the_chapters_that_cannot_be(changes: dict[str, str], missing: str) -> None:
    page = read("epub", epub(changes))
    assert ("The Lamp", "paragraph", "The keeper lit the lamp at dusk.On oil") in texts(page)
    assert any(part.startswith(missing) for part in page.missing), page.missing


def test_a_book_whose_chapters_are_declared_as_something_else_is_read() -> None:
    package = PACKAGE.replace(
        'b%20b.xhtml" media-type="application/xhtml+xml"', 'b%20b.xhtml" media-type="text/plain"'
    )
    assert "A storm came in the night." in read("epub", epub({"OEBPS/book.opf": package})).text


def test_a_member_whose_bytes_are_damaged_is_a_missing_part() -> None:
    """Its checksum says so."""
    page = read("epub", _stored(members(epub())).replace(b"whale oil", b"whale 0il"))
    assert page.text.endswith("A storm came in the night.") and "whale" not in page.text
    assert "the chapter 'The Lamp': 'OEBPS/text/a.xhtml' in the archive is damaged" in page.missing[-1]


def test_of_a_book_of_which_nothing_can_be_read_it_is_said_why() -> None:
    gone = {"OEBPS/text/a.xhtml": b"\0" * 100, "OEBPS/text/b b.xhtml": b"\0" * 100}
    with pytest.raises(
        ParseError, match=r"the book has no text; .*the chapter 'The Lamp': the document is binary"
    ):
        read("epub", epub(gone))
    with pytest.raises(ParseError, match="without chapters"):
        read("epub", zipped({"META-INF/container.xml": CONTAINER}))


def _stored(content: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return out.getvalue()


def show_with_chart() -> bytes:
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[5])
    slide.shapes.title.text = "Catch"
    data = CategoryChartData()
    data.categories = ["Cod", "Ling"]
    data.add_series("boxes", (31, 7))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 9, 9, data)
    second = show.slides.add_slide(show.slide_layouts[5])
    second.shapes.title.text = "Crew"
    second.shapes.add_textbox(0, 0, 9, 9).text_frame.text = "Four people sail."
    return saved(show)


SLIDE = "ppt/slides/slide1.xml"


def chart_name(data: bytes) -> str:
    return next(name for name in members(data) if name.startswith("ppt/charts/chart"))


@pytest.mark.parametrize(
    ("old", "new", "read_of_chart"),
    [
        (b"<c:barChart>", b"<c:bar3DChart>", "boxes: 31"),
        (b"<c:barChart>", b"<c:surfaceChart>", "boxes: 31"),
        (b"<c:v>31</c:v>", b"<c:v>#N/A</c:v>", "boxes: 7"),
        (b'idx="0"', b'idx="99999999999"', "boxes: 7"),
    ],
)
def test_charts_of_every_kind_are_read(old: bytes, new: bytes, read_of_chart: str) -> None:
    data = show_with_chart()
    name = chart_name(data)
    xml = members(data)[name].replace(old, new).replace(old.replace(b"<", b"</"), new.replace(b"<", b"</"))
    page = read("pptx", replaced(data, name, xml))
    assert read_of_chart in page.text and page.text.endswith("Four people sail.")


def test_what_is_damaged_in_a_presentation_is_named() -> None:
    data = show_with_chart()
    content = members(data)
    lost = {name: value for name, value in content.items() if name != chart_name(data)}
    page = read("pptx", zipped(lost))
    assert page.text.endswith("Four people sail.") and page.missing[0].startswith("a chart of slide 1: ")
    page = read("pptx", replaced(data, SLIDE, content[SLIDE][:-40]))
    assert "Catch" in page.text and page.missing[0].startswith("a part of slide 1: ")
    page = read("pptx", replaced(data, SLIDE, content[SLIDE].replace(b"<a:off", b"<a:of")))
    assert "boxes: 31" in page.text and page.missing == ()
    gone = {name: value for name, value in content.items() if name != SLIDE}
    page = read("pptx", zipped(gone))
    assert page.missing[0].startswith("a part of slide 1: ") and page.sections[0].chunks[0].pages == (2, 2)


def test_without_the_list_of_slides_or_sheets_all_parts_are_read() -> None:
    for data, name in ((show_with_chart(), "ppt/presentation.xml"), (zipped(boats()), "xl/workbook.xml")):
        page = read(name[:3] + "x" if name[0] == "p" else "xlsx", replaced(data, name, "<x"))
        whole = read("pptx" if name[0] == "p" else "xlsx", data)
        assert page.missing[0].startswith("a part of the text: ")
        assert {c.text.split("\n\n")[-1] for _, c in whole.all_chunks()} <= {
            c.text.split("\n\n")[-1] for _, c in page.all_chunks()
        }


def test_text_behind_an_unknown_character_or_a_comment_is_read() -> None:
    data = docx_file()
    xml = members(data)["word/document.xml"]
    for mark in (b"&nbsp;", b"<!-- rock -->", b"<?rock?>"):
        changed = xml.replace(b"stands on", b"stands " + mark + b"on")
        page = read("docx", replaced(data, "word/document.xml", changed))
        assert "The lighthouse stands on a rock." in page.text


@pytest.mark.parametrize(
    ("name", "content", "missing"),
    [
        ("word/styles.xml", None, "the styles: "),
        ("word/styles.xml", b"<w:styles", "the styles: "),
        ("word/numbering.xml", b"", "the automatic numbers: "),
        ("docProps/core.xml", b"<core>&&", "its properties: "),
        ("word/_rels/document.xml.rels", b"<Rel", "what word/document.xml refers to: "),
    ],
)
def test_a_word_file_is_read_without_its_other_parts(name: str, content: bytes | None, missing: str) -> None:
    parts = members(docx_file())
    if content is None:
        del parts[name]
    else:
        parts[name] = content
    page = read("docx", zipped(parts))
    assert "The lighthouse stands on a rock." in page.text and "Whale oil" in page.text
    assert any(part.startswith(missing) for part in page.missing), page.missing


def test_references_that_lead_nowhere_lose_nothing() -> None:
    for target in ("NULL", "#_top", "../NULL", "/word/media/gone.png", ""):
        relations = members(docx_file())["word/_rels/document.xml.rels"].replace(
            b"<Relationship ",
            f'<Relationship Id="x" Type="a/image" Target="{target}"/><Relationship '.encode(),
            1,
        )
        page = read("docx", replaced(docx_file(), "word/_rels/document.xml.rels", relations))
        assert page.text.count("oil") == 2 and page.missing == ()


def test_of_a_text_that_breaks_off_the_beginning_is_read() -> None:
    whole = members(docx_file())["word/document.xml"]
    page = read("docx", replaced(docx_file(), "word/document.xml", whole[: whole.index(b"Colza")]))
    assert "Whale oil" in page.text and page.missing[0].startswith("a part of the text: ")


def boats() -> dict[str, bytes]:
    book = workbook(["Boat", "Berth"], ["Alba", 4], ["Skua", 9])
    other = book.create_sheet("Tides")
    for row in (["Day", "Height"], ["Monday", 3]):
        other.append(row)
    parts = members(saved(book))
    texts: list[bytes] = []

    def shared(cell: re.Match[bytes]) -> bytes:
        texts.append(b"<si>" + cell[2] + b"</si>")
        return cell[1] + b't="s"><v>%d</v></c>' % (len(texts) - 1)

    for name in ("xl/worksheets/sheet1.xml", "xl/worksheets/sheet2.xml"):
        parts[name] = re.sub(rb'(<c r="\w+" )t="inlineStr"><is>(.*?)</is></c>', shared, parts[name])
    main = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    parts["xl/sharedStrings.xml"] = b'<sst xmlns="' + main + b'">' + b"".join(texts) + b"</sst>"
    relation = f'<Relationship Id="texts" Type="{RELATED}/sharedStrings" Target="sharedStrings.xml"/></Relationships>'
    relations = parts["xl/_rels/workbook.xml.rels"]
    parts["xl/_rels/workbook.xml.rels"] = relations.replace(b"</Relationships>", relation.encode())
    return parts


def test_texts_that_cells_share_are_read_with_their_powers() -> None:
    parts = boats()
    rich = b'<si><r><t>10</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>6</t></r><rPh><t>x</t></rPh></si>'
    parts["xl/sharedStrings.xml"] = parts["xl/sharedStrings.xml"].replace(b"<si><t>Skua</t></si>", rich)
    page = read("xlsx", zipped(parts))
    assert "Boat: 10\u2076; Berth: 9" in page.text and page.missing == ()


@pytest.mark.parametrize(
    ("name", "change", "kept", "missing"),
    [
        ("xl/styles.xml", lambda data: b"<styleSheet", "Boat: Skua; Berth: 9", "the number formats: "),
        ("xl/styles.xml", lambda data: data.replace(b"solid", b"sullied"), "Boat: Skua; Berth: 9", ""),
        ("docProps/core.xml", lambda data: data.replace(b"20", b"xx"), "Boat: Skua; Berth: 9", ""),
        (
            "xl/worksheets/sheet1.xml",
            lambda data: data[: data.index(b'r="3"')],
            "Boat: Alba; Berth: 4",
            "a part of the sheet 'Sheet': ",
        ),
        ("xl/worksheets/sheet1.xml", lambda data: None, "Day: Monday", "the sheet 'Sheet': "),
        ("xl/sharedStrings.xml", lambda data: data[:-60], "Boat: Alba; Berth: 4", "texts of cells: "),
    ],
)
def test_a_workbook_is_read_without_what_is_damaged(
    name: str, change: Callable[[bytes], bytes | None], kept: str, missing: str
) -> None:
    parts = boats()
    changed = change(parts.pop(name))
    if changed is not None:
        parts[name] = changed
    page = read("xlsx", zipped(parts))
    assert kept in page.text
    assert page.missing[0].startswith(missing) if missing else page.missing == ()


def test_cells_whose_texts_are_not_in_the_file_are_named() -> None:
    parts = boats()
    parts["xl/sharedStrings.xml"] = parts["xl/sharedStrings.xml"].replace(b"<si><t>Monday</t></si>", b"")
    page = read("xlsx", zipped(parts))
    assert "cells of the sheet 'Tides': the file does not have their texts" in page.missing


def test_without_the_list_of_what_refers_to_what_the_usual_names_are_tried(tmp_path: Path) -> None:
    for format, data, text in (
        ("docx", docx_file(), "Whale oil"),
        ("pptx", show_with_chart(), "Four people sail."),
        ("xlsx", zipped(boats()), "Boat: Skua; Berth: 9"),
    ):
        kept = members(data)
        for name in kept:
            if name == "[Content_Types].xml" or name.endswith(".rels"):
                kept[name] = b""
        path = tmp_path / "file.bin"
        path.write_bytes(zipped(kept))
        assert recognise(path) == format
        page = read(format, path.read_bytes())
        assert text in page.text and page.missing
