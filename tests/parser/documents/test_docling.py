"""PDF files read by Docling: its own documents become pages, and the program that makes them is run as it is."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.hostile_files import pdf
from tests.parser.documents.files import texts
from trivium.errors import ConfigurationError, ParseError
from trivium.limits import DEFAULT_LIMITS
from trivium.parser.documents.base import DocumentFile
from trivium.parser.documents.docling import read_written
from trivium.parser.sources.base import Item
from trivium.parser.sources.discover import read

FILE = DocumentFile(b"", "report.pdf", "report.pdf")


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    """A document as Docling's own package writes it: all that a page can have, on three pages."""
    try:
        from docling_core.types.doc import DocItemLabel, DoclingDocument, ProvenanceItem
        from docling_core.types.doc.base import BoundingBox
        from docling_core.types.doc.document import ContentLayer, TableCell, TableData
    except ImportError:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip("docling-core is not installed (make docling-core)")

    def on(page: int) -> ProvenanceItem:
        return ProvenanceItem(page_no=page, bbox=BoundingBox(l=0, t=0, r=1, b=1), charspan=(0, 1))

    def cell(row: int, column: int, text: str, span: int = 1) -> TableCell:
        return TableCell(
            start_row_offset_idx=row, end_row_offset_idx=row + 1, start_col_offset_idx=column,
            end_col_offset_idx=column + span, col_span=span, text=text, column_header=row == 0,
        )  # fmt: skip

    made = DoclingDocument(name="report")
    made.add_text(DocItemLabel.PAGE_HEADER, "Running head", prov=on(1), content_layer=ContentLayer.FURNITURE)
    made.add_title("Report of the\nlock keepers", prov=on(1))
    made.add_heading("Traffic", level=1, prov=on(1))
    made.add_text(DocItemLabel.TEXT, "Barges came late in 1911.", prov=on(1))
    made.add_heading("Cargo", level=2, prov=on(2))
    items = made.add_list_group()
    made.add_list_item("Coal", parent=items, prov=on(2))
    made.add_list_item("Colza", parent=items, prov=on(3))
    caption = made.add_text(DocItemLabel.CAPTION, "Table 1: Barges", prov=on(2))
    cells = [
        cell(0, 0, "Year"),
        cell(0, 1, "Barges"),
        cell(1, 0, "1911"),
        cell(1, 1, "42"),
        cell(2, 0, "All told", 2),
    ]
    made.add_table(TableData(num_rows=3, num_cols=2, table_cells=cells), caption=caption, prov=on(2))
    made.add_heading("Damage", level=1, prov=on(3))
    made.add_code("  gate = 3\n  lock(gate)", prov=on(3))
    made.add_picture(
        caption=made.add_text(DocItemLabel.CAPTION, "Figure 1: The broken gate", prov=on(3)), prov=on(3)
    )
    made.add_text(DocItemLabel.CAPTION, "Figure 2: What nobody found", prov=on(3))
    made.add_text(DocItemLabel.PAGE_FOOTER, "3", prov=on(3), content_layer=ContentLayer.FURNITURE)
    exported: dict[str, Any] = made.export_to_dict()
    return exported


@pytest.fixture
def program(tmp_path: Path, written: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stands for Docling's command line, whose weights are nowhere to be had: it checks what it is given and writes the
    document; ``broken`` in its folder makes it fail."""
    (tmp_path / "document.json").write_text(json.dumps(written))
    script = tmp_path / "docling.py"
    script.write_text(
        "import pathlib, shutil, sys\n"
        "here = pathlib.Path(__file__).parent\n"
        "if (here / 'broken').exists():\n"
        "    sys.exit('weights are missing')\n"
        "*options, flag, folder, source = sys.argv[1:]\n"
        "assert options == ['--from', 'pdf', '--to', 'json', '--image-export-mode', 'placeholder'], options\n"
        "assert flag == '--output' and pathlib.Path(source).read_bytes().startswith(b'%PDF')\n"
        "pathlib.Path(folder).mkdir()\n"
        "shutil.copy(here / 'document.json', pathlib.Path(folder) / (pathlib.Path(source).stem + '.json'))\n"
    )
    monkeypatch.setenv("TRIVIUM_PDF_READER", "docling")
    monkeypatch.setenv("TRIVIUM_DOCLING_COMMAND", f"'{sys.executable}' '{script}'")
    (tmp_path / "report.pdf").write_bytes(pdf(["What PDFium would read."]))
    return tmp_path


def test_what_docling_writes_becomes_sections_lists_tables_and_pictures(written: dict[str, Any]) -> None:
    """With the pages they stand on, from the first to the last; a caption of nothing is text; heads and feet of pages are
    left out."""
    page = read_written(written, FILE, DEFAULT_LIMITS)
    assert page.title == "Report of the lock keepers"
    assert texts(page) == [
        ("Traffic", "paragraph", "Barges came late in 1911."),
        ("Cargo", "list", "Coal\nColza"),
        ("Cargo", "table", "Table 1: Barges\nYear | Barges\nYear: 1911; Barges: 42\nAll told"),
        ("Damage", "paragraph", "gate = 3\n  lock(gate)"),
        ("Damage", "image", "Figure 1: The broken gate"),
        ("Damage", "paragraph", "Figure 2: What nobody found"),
    ]
    assert [chunk.pages for _, chunk in page.all_chunks()] == [
        (1, 1), (2, 3), (2, 2), (3, 3), (3, 3), (3, 3),
    ]  # fmt: skip
    assert [(section.heading, section.level) for section in page.sections] == [
        ("Traffic", 1), ("Cargo", 2), ("Damage", 1),
    ]  # fmt: skip


def test_the_program_reads_the_pdf_files_of_whoever_chooses_it(program: Path) -> None:
    (page,) = read(Item("pdf", str(program / "report.pdf")))
    assert page.title == "Report of the lock keepers" and page.metadata["reader"] == "docling"
    (program / "broken").touch()
    with pytest.raises(ParseError, match="Docling could not read this PDF: weights are missing"):
        read(Item("pdf", str(program / "report.pdf")))


def test_a_program_that_is_not_there_is_named(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVIUM_DOCLING_COMMAND", "docling-of-nobody")
    with pytest.raises(ConfigurationError, match="pipx install docling"):
        read(Item("pdf", str(program / "report.pdf")))


@pytest.mark.parametrize(
    "content",
    [
        None,
        {},
        {"schema_name": "DoclingDocument"},
        {"schema_name": "DoclingDocument", "body": {"children": [{"$ref": "#/texts/7"}]}, "texts": []},
        {"schema_name": "DoclingDocument", "body": {"children": [{"$ref": 3}]}},
        {"schema_name": "DoclingDocument", "body": {"children": []}},
        {
            "schema_name": "DoclingDocument",
            "body": {"children": [{"$ref": "#/groups/0"}]},
            "groups": [{"label": "list", "children": [{"$ref": "#/groups/0"}]}],
        },
        {
            "schema_name": "DoclingDocument",
            "body": {"children": [{"$ref": "#/groups/0"}]},
            "groups": [{"label": "list", "children": [{"$ref": "#/groups/0"}, {"$ref": "#/groups/0"}]}],
        },
    ],
)
def test_anything_else_is_refused(content: object) -> None:
    """Also groups that are within themselves, even twice: each is entered once."""
    with pytest.raises(ParseError):
        read_written(content, FILE, DEFAULT_LIMITS)
