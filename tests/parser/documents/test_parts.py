"""What cannot be read of a document is left out and named; the rest of it is read."""

from __future__ import annotations

import io
import zipfile

import pytest

from tests.parser.documents.files import CONTAINER, PACKAGE, epub, members, read, texts, zipped
from trivium.errors import ParseError
from trivium.parser.document import DamagedPartError, Document
from trivium.parser.runs import TextRun
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
