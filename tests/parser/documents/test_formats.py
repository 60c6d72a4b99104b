"""Formats that installed packages declare."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes.packages import install_package
from trivium.errors import ConfigurationError, InputError, ParseError
from trivium.parser.documents.archive import OLE_SIGNATURE
from trivium.parser.documents.formats import GROUP, document_formats, reader_of
from trivium.parser.sources.discover import discover, read
from trivium.parser.sources.recognise_format import known_formats, recognise
from trivium.parser.sources.source_items import Item, check_format

READERS = """
from trivium import DocumentFile, DocumentFormat, ParseError
from trivium.parser.document import Document
from trivium.parser.documents.document_file import page_of
from trivium.parser.text_runs import Verbatim
from trivium.types import ChunkKind


def read(file, limits):
    pages = []
    for number, text in enumerate(file.data.decode().split("====")[1:], 1):
        if "bad" in text:
            raise ParseError("a bad letter")
        run = Verbatim()
        run.add(text)
        document = Document(limits.headings)
        document.block(ChunkKind.PARAGRAPH, run)
        pages.append(page_of(document, file, "letters", title=f"Letter {number}", metadata={"author": "Unknown"}))
    return pages


def letters():
    return DocumentFormat("any", (".letters",), "%s:read", ((0, b"===="),), by_programs=True)


def drawings():
    return DocumentFormat("drawings", (".odd",), "%s:nothing", inside=(("mimetype", b"odd"),), risky=False)


def pdf():
    return DocumentFormat("pdf", (".pdf",), "%s:read")


def old():
    return DocumentFormat("old", (".doc",), "%s:read", ((0, bytes.fromhex("d0cf11e0a1b11ae1")),))


def wrong():
    return "letters"
"""


@pytest.fixture
def install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Callable[..., None]]:
    """Install a package that declares some of the formats above."""

    def make(*names: str) -> None:
        module = f"formats_{abs(hash(request.node.name))}"
        folder = tmp_path / "packages"
        folder.mkdir()
        code = READERS.replace("%s", module)
        install_package(folder, module, {name: f"{module}:{name}" for name in names}, code, group=GROUP)
        monkeypatch.syspath_prepend(str(folder))
        document_formats.cache_clear()

    yield make
    document_formats.cache_clear()


def test_files_of_a_declared_format_are_recognised_and_read(
    install: Callable[..., None], tmp_path: Path
) -> None:
    install("letters")
    post = tmp_path / "post"
    post.mkdir()
    (post / "a.letters").write_text("====The kiln was cold.====The oven was not.")
    (post / "b").write_text("====The cellar is dry.")
    (post / "c.txt").write_text("The attic is wet.")
    (post / "d.letters").write_text("====bad")
    items = [item for item in discover([str(post)]) if isinstance(item, Item)]
    assert [item.format for item in items] == ["letters", "letters", "text", "letters"]
    first, second = read(items[0])
    assert (first.title, first.text, second.text) == ("Letter 1", "The kiln was cold.", "The oven was not.")
    assert first.metadata == {}  # "Unknown" was written by a program
    with pytest.raises(ParseError, match="a bad letter"):
        read(items[3])
    check_format("letters")
    assert known_formats().startswith(".letters, ")


def test_archives_and_old_files_can_be_declared(install: Callable[..., None], tmp_path: Path) -> None:
    install("drawings", "old")
    with zipfile.ZipFile(tmp_path / "one", "w") as archive:
        archive.writestr("mimetype", "odd")
    (tmp_path / "two.doc").write_bytes(OLE_SIGNATURE + b"rest")
    assert recognise(tmp_path / "one") == "drawings"
    assert recognise(tmp_path / "two.doc") == "old"
    with pytest.raises(ConfigurationError, match=":nothing' of the format drawings cannot be loaded"):
        reader_of("drawings")


def test_names_of_the_package_win(install: Callable[..., None]) -> None:
    built_in = document_formats()["pdf"]
    install("pdf")
    assert document_formats()["pdf"] is built_in


def test_what_is_no_format_is_named(install: Callable[..., None]) -> None:
    install("wrong")
    with pytest.raises(ConfigurationError, match=r"'wrong' of trivium.formats: expected .* got str"):
        document_formats()


def test_without_a_declaration_the_name_is_unknown() -> None:
    with pytest.raises(InputError, match=r"expected a format of auto, .*, got 'letters'"):
        check_format("letters")
