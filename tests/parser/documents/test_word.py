"""Word files: structure, tables, notes, text boxes, links."""

from __future__ import annotations

import io
from typing import Any

import docx
import pytest
from docx.enum.text import WD_BREAK
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn

from tests.parser.documents.files import PNG, docx_file, members, read, replaced, saved, texts
from trivium.errors import ParseError


def add_xml(document: Any, xml: str) -> None:
    document.element.body.insert(len(document.element.body) - 1, parse_xml(xml))


def test_headings_lists_and_tables() -> None:
    page = read("docx", docx_file())
    assert (page.title, page.format, page.path) == ("Lighthouse Manual", "docx", "docs/a_file.bin")
    assert page.metadata["author"] == "Ada Example" and "keywords" not in page.metadata
    assert page.modified == page.metadata["created"] == "2024-05-01T12:30:00Z", (
        "python-docx writes 2013-12-23"
    )
    assert texts(page) == [
        ("", "paragraph", "The lighthouse stands on a rock."),
        ("Lamp", "list", "Whale oil\nColza oil"),
        (
            "Lamp",
            "table",
            "Fuel | Price | Year\nFuel: Oil; Price: 12; Year: 1877\nFuel: Gas; Price: 9; Year: 1901",
        ),
    ]


def test_levels_come_from_styles_what_they_are_based_on_and_outline_levels() -> None:
    document = docx.Document()
    document.core_properties.title = "Guide"
    own = document.styles.add_style("Kapitel", 1)
    own.base_style = document.styles["Heading 1"]
    german = document.styles.add_style("Überschrift 2", 1)
    document.add_paragraph("One", own)
    document.add_paragraph("Text one.")
    document.add_paragraph("One point one", german)
    document.add_paragraph("Text two.")
    add_xml(
        document,
        f'<w:p {nsdecls("w")}><w:pPr><w:outlineLvl w:val="2"/></w:pPr><w:r><w:t>Deep</w:t></w:r></w:p>',
    )
    document.add_paragraph("Text three.")
    sections = read("docx", saved(document)).sections
    assert [(section.heading, section.level) for section in sections] == [
        ("One", 1),
        ("One point one", 2),
        ("Deep", 3),
    ]


def test_without_heading_styles_bold_lines_are_headings() -> None:
    document = docx.Document()
    document.add_paragraph().add_run("Delivery").bold = True
    document.add_paragraph("Goods arrive on Mondays.")
    document.add_paragraph().add_run("Never open the valve.").bold = True
    assert texts(read("docx", saved(document))) == [
        ("Delivery", "paragraph", "Goods arrive on Mondays."),
        ("Delivery", "paragraph", "Never open the valve."),
    ]


@pytest.mark.parametrize(
    ("core", "title_style", "headings", "expected"),
    [
        ("Annual Report", "Report", ["Start"], "Annual Report"),
        ("Microsoft Word - report.doc", "Report", ["Start"], "Report"),
        ("", None, ["Only"], "Only"),
        ("", None, ["Introduction", "Method"], "a file"),
        ("Document1", None, [], "a file"),
    ],
)
def test_the_title(core: str, title_style: str | None, headings: list[str], expected: str) -> None:
    """The properties', where somebody wrote it; else that in the text; a file's name says more than "Introduction"."""
    document = docx.Document()
    document.core_properties.title = core
    if title_style:
        document.add_paragraph(title_style, "Title")
    for heading in headings:
        document.add_heading(heading, 1)
        document.add_paragraph("Some text.")
    if not headings:
        document.add_paragraph("Some text.")
    page = read("docx", saved(document))
    assert page.title == expected
    assert expected not in [section.heading for section in page.sections]


def test_merged_cells_are_repeated_and_boxes_of_one_cell_are_text() -> None:
    document = docx.Document()
    table = document.add_table(3, 3)
    for at, row in enumerate((("Fuel", "Price", "Year"), ("Oil", "12", "1877"), ("", "13", "1878"))):
        for column, text in enumerate(row):
            table.cell(at, column).text = text
    table.cell(1, 0).merge(table.cell(2, 0)).text = "Oil"
    document.add_table(1, 1).cell(0, 0).text = "Mind the step."
    assert texts(read("docx", saved(document))) == [
        (
            "",
            "table",
            "Fuel | Price | Year\nFuel: Oil; Price: 12; Year: 1877\nFuel: Oil; Price: 13; Year: 1878",
        ),
        ("", "paragraph", "Mind the step."),
    ]


def test_text_boxes_are_read_once_and_deleted_text_is_not() -> None:
    document = docx.Document()
    box = "<w:txbxContent><w:p><w:r><w:t>In the box.</w:t></w:r></w:p></w:txbxContent>"
    add_xml(
        document,
        f"""<w:p {nsdecls("w")} xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"
        xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"
        xmlns:v="urn:schemas-microsoft-com:vml">
        <w:r><w:t>Before the box.</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>
        <w:ins><w:r><w:t xml:space="preserve"> New.</w:t></w:r></w:ins>
        <w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>
        <w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:txbx>{box}</wps:txbx></w:drawing></mc:Choice>
        <mc:Fallback><w:pict><v:textbox>{box}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>""",
    )
    assert [text for _, _, text in texts(read("docx", saved(document)))] == [
        "Before the box. New.",
        "In the box.",
    ]


def test_footnotes_follow_their_paragraph_and_links_to_files_are_references() -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("See the ")
    relation = document.part.relate_to(
        "..\\plans\\tower%20a.docx", RELATIONSHIP_TYPE.HYPERLINK, is_external=True
    )
    web = document.part.relate_to("https://example.org/", RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    for identifier, text in ((relation, "plan"), (web, " and the web")):
        paragraph._p.append(
            parse_xml(
                f'<w:hyperlink {nsdecls("w", "r")} r:id="{identifier}"><w:r><w:t xml:space="preserve">{text}</w:t></w:r>'
                "</w:hyperlink>"
            )
        )
    paragraph._p.append(parse_xml(f'<w:r {nsdecls("w")}><w:footnoteReference w:id="2"/></w:r>'))
    document.add_paragraph("The end.")
    data = saved(document)
    notes = (
        f'<w:footnotes {nsdecls("w")}><w:footnote w:id="-1" w:type="separator"><w:p/></w:footnote><w:footnote w:id="2">'
        "<w:p><w:r><w:t>Drawn in 1877.</w:t></w:r></w:p></w:footnote></w:footnotes>"
    )
    relations = members(data)["word/_rels/document.xml.rels"].replace(
        b"</Relationships>",
        b'<Relationship Id="rNotes" Target="footnotes.xml"'
        b' Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"/></Relationships>',
    )
    data = replaced(replaced(data, "word/footnotes.xml", notes), "word/_rels/document.xml.rels", relations)
    page = read("docx", data)
    assert [text for _, _, text in texts(page)] == ["See the plan and the web", "Drawn in 1877.", "The end."]
    assert page.chunks[0].references == ("../plans/tower a.docx",)


def test_pictures_come_with_their_text_and_caption_in_their_place() -> None:
    document = docx.Document()
    document.add_paragraph("Above.")
    document.add_picture(io.BytesIO(PNG))
    document.element.body.find(".//" + qn("wp:docPr")).set("descr", "A white tower")
    document.add_paragraph("Figure 1: The tower", "Caption")
    document.add_paragraph("Below.").add_run().add_break(WD_BREAK.PAGE)
    assert texts(read("docx", saved(document))) == [
        ("", "paragraph", "Above."),
        ("", "image", "A white tower\nFigure 1: The tower"),
        ("", "paragraph", "Below."),
    ]


def test_empty_documents_and_other_formats_are_refused() -> None:
    with pytest.raises(ParseError, match="no text"):
        read("docx", saved(docx.Document()))
    with pytest.raises(ParseError, match=r"expected a Word file \(\.docx\)"):
        read("docx", replaced(docx_file(), "word/document.xml", "<x/>"))
    strict = members(docx_file())["_rels/.rels"].replace(
        b"http://schemas.openxmlformats.org/officeDocument/2006", b"http://purl.oclc.org/ooxml/officeDocument"
    )
    with pytest.raises(ParseError, match="Strict Open XML"):
        read("docx", replaced(docx_file(), "_rels/.rels", strict))
