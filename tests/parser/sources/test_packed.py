"""Packed files are read like plain ones, logs and pages of printers are text, and wikitext is named as such."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from trivium.errors import InputError
from trivium.parser.documents import delimited
from trivium.parser.documents.document_file import DocumentFile
from trivium.parser.documents.text import decode
from trivium.parser.html import parse_html
from trivium.parser.sources.discover import discover, read
from trivium.parser.sources.read_files import read_document
from trivium.parser.sources.source_items import Item, Problem
from trivium.settings.limits import InputLimits

PACKINGS = [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
WIKITEXT = b'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/">\n  <siteinfo>' + b" " * 9_000


@pytest.mark.parametrize(("suffix", "pack"), PACKINGS)
def test_a_packed_document_is_read(tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes]) -> None:
    (tmp_path / f"weirs.md{suffix}").write_bytes(pack(b"# Weirs\n\nA weir ") + pack(b"holds water.\n"))
    (item,) = discover([str(tmp_path)])
    assert isinstance(item, Item) and item.format == "markdown"
    assert "A weir holds water." in read(item)[0].text


@pytest.mark.parametrize(("suffix", "pack"), PACKINGS)
def test_damage_and_bombs_are_errors(tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(pack(bytes(range(200)) * 50)[:-9])
    with pytest.raises(InputError, match="damaged or cut short"):
        read_document(path)
    path.write_bytes(pack(b"0" * (60 << 20)))
    with pytest.raises(InputError, match="unpacks to more than"):
        read_document(path, InputLimits(document_bytes=1 << 30, ratio=2))


@pytest.mark.parametrize(("suffix", "pack"), [("", bytes), *PACKINGS])
def test_a_dump_of_wikitext_says_what_to_take_instead(
    tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    """Also in a folder, where other files of unknown formats are left out, and where it is cut short."""
    (tmp_path / f"pages-articles.xml{suffix}").write_bytes(pack(WIKITEXT))
    (problem,) = discover([str(tmp_path)])
    assert isinstance(problem, Problem)
    assert "wikitext" in problem.reason and "HTML dump" in problem.reason and "ZIM" in problem.reason


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\x1b[1;31mWARN\x1b[0m valve \x1b[4mopen\x1b[m", "WARN valve open"),
        (b"\x1b]0;title of a window\x07done\x1b(B", "done"),
        (b"\x1b]8;;https://x.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"N\x08NA\x08AM\x08ME\x08E, _\x08u", "NAME, u"),
        (b"one\ftwo\vthree", "one\n\ntwo\nthree"),
        ("größe \x1b[0m".encode(), "größe "),
        ("a \x9b31mred\x9b0m sail".encode(), "a red sail"),
        (b"the \x1bP1$r0m\x1b\\bell\x07 rang", "the bell rang"),
    ],
)
def test_commands_of_terminals_and_printers_are_no_text(data: bytes, text: str) -> None:
    assert decode(data * 30) == text * 30


@pytest.mark.parametrize("end", ["\0", "\0" * 700, "\x1a", "\n\0\x1a"])
def test_what_fills_the_end_of_a_file_is_no_text(end: str) -> None:
    assert decode(f"The quay is long.{end}".encode()).strip() == "The quay is long."


def test_escapes_are_removed_from_pages_records_and_tables_and_page_breaks_split_no_row() -> None:
    page = parse_html("<h1>Run</h1><pre>\x1b[32mok\x1b[0m built</pre>")
    assert "ok built" in page.text and "[32m" not in page.text
    rows = b"a,b\n1,x\vy\n\f2,\x1b[1mz\x1b[0m\n"
    table = delimited.read(DocumentFile(rows, "t.csv", "t.csv"), InputLimits())
    assert table.text == "a | b\na: 1; b: x y\na: 2; b: z"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_marks_of_encodings_are_no_text(encoding: str) -> None:
    assert decode("The crab walks.".encode(encoding)) == "The crab walks."


@pytest.mark.parametrize("name", ["Weir.wiki", "Weir.wikitext", "Weir.mediawiki", "weirs.txt"])
def test_files_of_wikitext_say_what_to_take_instead(tmp_path: Path, name: str) -> None:
    is_dump = name.endswith(".txt")
    (tmp_path / name).write_bytes(b"<?xml version='1.0'?>" + WIKITEXT if is_dump else b"'''Weir''' {{x}}")
    (problem,) = discover([str(tmp_path)])
    assert isinstance(problem, Problem)
    assert "wikitext" in problem.reason and "HTML dump" in problem.reason
