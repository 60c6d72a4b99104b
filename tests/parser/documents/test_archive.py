"""The gate before zip archives, and how files in them are told apart."""

from __future__ import annotations

import io
import stat
import struct
import warnings
import zipfile
from pathlib import Path

import pytest

from tests.parser.documents.files import (
    docx_file,
    epub,
    members,
    mutated,
    pptx_file,
    read,
    replaced,
    samples,
    xlsx_file,
    zipped,
)
from trivium.errors import InputError, ParseError
from trivium.parser.documents.archive import OLE_SIGNATURE, Archive, resolved
from trivium.parser.documents.office import Package
from trivium.parser.sources.recognise_format import recognise
from trivium.settings.limits import DEFAULT_LIMITS, InputLimits

LAUGHS = (
    '<!DOCTYPE x [<!ENTITY a "haha">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True))
    + "]>"
)


def refused(data: bytes, reason: str, limits: InputLimits = DEFAULT_LIMITS) -> None:
    with pytest.raises(ParseError, match=reason):
        Archive(data, limits)


def test_names_that_lead_out_of_it_links_and_doubles_are_refused() -> None:
    for name in ("../../etc/passwd", "/etc/passwd", "word\\..\\..\\x", "C:/x"):
        refused(zipped({name: "x"}), "leads out of it")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        link = zipfile.ZipInfo("link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    refused(out.getvalue(), "symbolic link")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr("a.xml", "<a/>")
        archive.writestr("a.xml", "<b/>")
    refused(out.getvalue(), "two members called 'a.xml'")


def test_bombs_are_refused_by_what_they_declare_and_by_what_comes_out() -> None:
    bomb = zipped({"word/document.xml": b"\0" * (20 << 20)})
    assert len(bomb) < 30_000
    refused(bomb, "unpacks to more than 8 MB")
    honest = zipped({"a.xml": b"\0" * 1000})
    entry = honest.index(b"PK\x01\x02")
    lying = bytearray(honest)
    struct.pack_into("<I", lying, entry + 24, 10)  # the size that the directory declares
    with pytest.raises(ParseError, match="damaged"):
        Archive(bytes(lying), DEFAULT_LIMITS).read("a.xml")
    small = DEFAULT_LIMITS.model_copy(update={"members": 3, "document_bytes": 100})
    refused(zipped({str(number): "" for number in range(4)}), "4 members, more than the limit of 3", small)
    with pytest.raises(ParseError, match="more than 100 bytes"):
        Archive(honest, small).read("a.xml")
    with pytest.raises(ParseError, match="XML elements"):
        few = DEFAULT_LIMITS.model_copy(update={"tags": 20})
        Package(Archive(zipped({"a.xml": "<a>" * 30}), few), few).xml("a.xml", "a part")


def test_what_is_unpacked_is_counted_over_all_reads() -> None:
    """A member that is read again and again counts each time."""
    archive = Archive(zipped({"a.xml": b" " * (5 << 20)}), DEFAULT_LIMITS)
    archive.read("a.xml")
    with pytest.raises(ParseError, match="unpacks to more than 8 MB"):
        archive.read("a.xml")


def test_encrypted_and_cut_archives_are_refused() -> None:
    encrypted = bytearray(zipped({"a": "x"}))
    encrypted[encrypted.index(b"PK\x01\x02") + 8] |= 1
    refused(bytes(encrypted), "encrypted")
    refused(docx_file()[:-40], "damaged or cut short")
    refused(b"plain", "expected a zip archive")


def test_addresses_inside_of_an_archive() -> None:
    assert resolved("OEBPS/a.opf", "text/b%20b.xhtml#x") == "OEBPS/text/b b.xhtml"
    assert resolved("OEBPS/text/a.xhtml", "../images/i.png") == "OEBPS/images/i.png"
    for outside in ("../../x", "/../x", "../..", "http://x/y"):
        assert resolved("OEBPS/a.opf", outside) is None or not resolved("OEBPS/a.opf", outside).startswith(
            ".."
        )
    assert resolved("a.opf", "../x") is None


@pytest.mark.parametrize(
    ("format", "data", "name"),
    [
        ("docx", docx_file, "word/document.xml"),
        ("docx", docx_file, "word/styles.xml"),
        ("pptx", pptx_file, "ppt/slides/slide1.xml"),
        ("xlsx", xlsx_file, "xl/worksheets/sheet1.xml"),
        ("xlsx", xlsx_file, "xl/workbook.xml"),
        ("epub", epub, "OEBPS/book.opf"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused_in_every_format(format: str, data: object, name: str, encoding: str) -> None:
    """A billion laughs, in one encoding and another."""
    good: bytes = data()  # type: ignore[operator]
    xml = members(good)[name].decode().partition("?>")[2] or members(good)[name].decode()
    with pytest.raises(ParseError, match="defines entities"):
        read(format, replaced(good, name, (LAUGHS + xml).encode(encoding)))


def test_entities_in_a_chapter_stay_what_they_are() -> None:
    page = read(
        "epub", epub({"OEBPS/text/b b.xhtml": LAUGHS + "<html><body><p>A storm &j; came.</p></body></html>"})
    )
    assert "haha" * 10 not in page.text and "A storm" in page.text


def test_a_file_is_told_by_its_content_whatever_it_is_called(tmp_path: Path) -> None:
    for format, data in samples().items():
        for name in ("report.zip", "report.docx", "report") if format != "csv" else ("a.CSV",):
            path = tmp_path / name
            path.write_bytes(data)
            assert recognise(path) == format
    template = members(docx_file())
    kind = template["[Content_Types].xml"].replace(
        b"wordprocessingml.document.main", b"wordprocessingml.template.main"
    )
    path = tmp_path / "a.dotx"
    path.write_bytes(replaced(docx_file(), "[Content_Types].xml", kind))
    assert recognise(path) == "docx" and "lighthouse" in read("docx", path.read_bytes()).text
    assert recognise(path, name="upload.bin") == "docx"


@pytest.mark.parametrize(
    ("stream", "advice"),
    [
        ("WordDocument", r"old Word file \(\.doc\): save it as \.docx"),
        ("Workbook", r"old Excel file \(\.xls\): save it as \.xlsx"),
        ("PowerPoint Document", r"save it as \.pptx"),
        ("EncryptedPackage", "encrypted document: save it without a password"),
        ("Other", r"save it as \.docx, \.pptx or \.xlsx"),
    ],
)
def test_old_and_encrypted_office_files_are_named(tmp_path: Path, stream: str, advice: str) -> None:
    path = tmp_path / "report.docx"
    path.write_bytes(OLE_SIGNATURE + bytes(500) + stream.encode("utf-16-le") + bytes(500))
    with pytest.raises(InputError, match=advice):
        recognise(path)
    with pytest.raises(ParseError, match=advice):
        read("docx", path.read_bytes())


def test_other_archives_are_to_be_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "report.docx"
    path.write_bytes(zipped({"a.txt": "x", "inner.docx": docx_file()}))
    with pytest.raises(InputError, match="a zip archive; unpack it first"):
        recognise(path)


@pytest.mark.parametrize("format", ["docx", "pptx", "xlsx", "epub", "csv"])
def test_damaged_files_are_read_or_refused(format: str) -> None:
    """Nothing but ParseError comes out, whatever happened to the file."""
    archives = [data for data in samples().values() if data.startswith(b"PK")]
    outcomes = set()
    for seed in [110, *range(40)]:
        try:
            outcomes.add(bool(read(format, mutated(samples()[format], archives, seed)).text))
        except ParseError:
            outcomes.add(False)
    assert outcomes == {True, False}
