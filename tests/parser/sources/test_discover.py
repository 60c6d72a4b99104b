"""From what the user names to items of work."""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path

import pytest

from trivium.errors import InputError
from trivium.parser.sources.discover import discover
from trivium.parser.sources.source_items import Item, Problem
from trivium.settings.limits import DEFAULT_LIMITS

HTML = "<!DOCTYPE html>\n<html><head><title>Io</title></head><body><p>Io is a moon.</p></body></html>"
RECORD = '{"title": "Io", "text": "Io is a moon."}\n'
NQ = '{"document_html": "<p>Io</p>", "annotations": [], "question_text": "what is io"}\n'


def names(folder: Path, *sources: str, **options: object) -> list[tuple[str, str]]:
    """(format, "problem" or "left out", place relative to the folder) of everything found."""
    found = discover([str(folder / source) for source in sources], **options)  # type: ignore[arg-type]
    return [
        (
            one.format if isinstance(one, Item) else "problem" if isinstance(one, Problem) else "left out",
            os.path.relpath(one.location, folder),
        )
        for one in found
    ]


def reason(path: Path) -> str:
    (found,) = discover([str(path)])
    assert isinstance(found, Problem), found
    assert found.location == str(path)
    return found.reason


def test_folders_are_searched_through_in_sorted_order(tmp_path: Path) -> None:
    for name in ("b.html", "a.html", "sub/z.html", "sub/deeper/y.html", ".NET.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(HTML)
    assert [place for _, place in names(tmp_path, ".")] == [
        ".NET.html",
        "a.html",
        "b.html",
        "sub/z.html",
        "sub/deeper/y.html",
    ]


def test_sources_keep_their_order_and_a_file_named_twice_comes_once(tmp_path: Path) -> None:
    for name in ("a.html", "b.html", "c.html"):
        (tmp_path / name).write_text(HTML)
    (tmp_path / "again.html").symlink_to(tmp_path / "c.html")
    assert [place for _, place in names(tmp_path, "c.html", "[ab].html", ".")] == [
        "c.html",
        "a.html",
        "b.html",
    ]


def test_links_to_folders_are_followed_and_circles_end(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x.html").write_text(HTML)
    (tmp_path / "in" / "linked").symlink_to(tmp_path / "out")
    (tmp_path / "out" / "back").symlink_to(tmp_path / "in")
    (tmp_path / "in" / "self").symlink_to(tmp_path / "in")
    assert names(tmp_path, "in") == [("html", "in/linked/x.html")]


def test_a_path_with_glob_characters_is_a_path_first(tmp_path: Path) -> None:
    (tmp_path / "C[1].html").write_text(HTML)
    (tmp_path / "C1.html").write_text(HTML)
    assert names(tmp_path, "C[1].html") == [("html", "C[1].html")]


def test_a_recursive_glob_reaches_into_folders(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "deep.html").write_text(HTML)
    (tmp_path / "a" / "deep.txt").write_text("no")
    assert names(tmp_path, "**/*.html") == [("html", "a/b/deep.html")]


@pytest.mark.parametrize("source", ["nothing-here", "*.nothing", "", "a\0b", "x" * 5000])
def test_a_source_that_matches_nothing_is_an_error_before_any_item(tmp_path: Path, source: str) -> None:
    (tmp_path / "a.html").write_text(HTML)
    with pytest.raises(InputError, match=r"nothing matches|there is no file or folder"):
        discover([str(tmp_path / "a.html"), source])


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no files"):
        discover([str(tmp_path)])


@pytest.mark.parametrize(
    ("content", "format"),
    [
        (HTML, "html"),
        ("<HTML><BODY>x", "html"),
        ("\ufeff\n <!-- saved from url -->\n<!DOCTYPE HTML PUBLIC '-//W3C//DTD'>", "html"),
        ('<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">', "html"),
        ('<div class="mw-parser-output"><p>fragment</p></div>', "html"),
        ('<section data-mw-section-id="0"><p>parsoid</p></section>', "html"),
        (RECORD, "records"),
        ("\n" + '{"title": broken\n' + RECORD, "records"),
        (json.dumps([{"title": "Io", "text": "moon"}]), "records"),
        (json.dumps([{"title": "Io", "text": "moon"}], indent=2), "records"),
        (NQ, "nq"),
        ('{"document": {"html": "<p>", "title": "Io"}, "question": {"text": "what"}}', "nq"),
    ],
)
def test_the_format_is_recognised_by_content_never_by_name(tmp_path: Path, content: str, format: str) -> None:
    for path, data in (("file.bin", content.encode()), ("file.dat", gzip.compress(content.encode()))):
        (tmp_path / path).write_bytes(data)
        (found,) = discover([str(tmp_path / path)])
        assert isinstance(found, Item)
        assert found.format == format


def test_html_in_utf_16_is_recognised(tmp_path: Path) -> None:
    (tmp_path / "wide").write_bytes(HTML.encode("utf-16"))
    assert names(tmp_path, "wide") == [("html", "wide")]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "the file is empty"),
        (b"  \n\t\n", "empty"),
        (bytes(range(256)) * 10, "binary"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"\xfd7zXZ\x00rest", "packed file is damaged or cut short"),
        (b"name".ljust(257, b"\0") + b"ustar" + bytes(250), "tar archive"),
        (b"<mediawiki><page>wikitext</page></mediawiki>", "wikitext"),
        (b"<svg><path/></svg>", r"of no format that is read .*it begins '<svg>"),
        (b'{"question": "what?", "answers": ["x"]}\n', "questions, not documents; .*trivium evaluate"),
        (b'{"question_text": "what?", "document_text": "x"}\n', "simplified"),
        (b'{"page_name": "x", "revision": 1}\n', "got page_name, revision"),
        (b'{"title": "cut sho', "cut short"),
        (b"[" * 50_000, "nested too deeply"),
        (b"[1, 2]", "got none"),
        (b'{"title": "\xe9", "text": "\xe9"}\n', "expected UTF-8"),
        (gzip.compress(HTML.encode(), mtime=0)[:40], "damaged or cut short"),
        (json.dumps([json.loads(NQ)]).encode(), "one row per line"),
        (b'{\n"a":\n1\n}', "one value over several lines"),
    ],
)
def test_what_is_no_document_becomes_a_problem_that_says_what_it_is(
    tmp_path: Path, content: bytes, expected: str
) -> None:
    path = tmp_path / "given"
    path.write_bytes(content)
    assert re.search(expected, reason(path)), reason(path)


def test_a_link_to_nothing_and_a_pipe_are_problems(tmp_path: Path) -> None:
    (tmp_path / "broken").symlink_to(tmp_path / "gone")
    os.mkfifo(tmp_path / "pipe")
    assert reason(tmp_path / "broken") == "the symbolic link is broken"
    assert reason(tmp_path / "pipe") == "expected a regular file"


def test_one_bad_file_does_not_stop_the_others(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(HTML)
    (tmp_path / "b.html").write_bytes(b"\0\1")
    (tmp_path / "c.jsonl").write_text(RECORD)
    assert names(tmp_path, ".") == [("html", "a.html"), ("problem", "b.html"), ("records", "c.jsonl")]


def test_images_and_scripts_saved_beside_a_page_are_not_looked_at(tmp_path: Path) -> None:
    (tmp_path / "Io.html").write_text(HTML)
    (tmp_path / "Io_files").mkdir()
    (tmp_path / "Io_files" / "style.css").write_text("p {}")
    (tmp_path / "Io").mkdir()
    (tmp_path / "Io" / "more.html").write_text(HTML)
    (tmp_path / "Europa_files").mkdir()
    (tmp_path / "Europa_files" / "page.html").write_text(HTML)
    (tmp_path / ".DS_Store").write_bytes(b"\0")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("[core]")
    assert [place for _, place in names(tmp_path, ".")] == [
        "Io.html",
        "Europa_files/page.html",
        "Io/more.html",
    ]


def test_nq_rows_are_items_by_their_place_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(NQ + "\n" + NQ.replace("Io", "Europa"))
    rows = [one for one in discover([str(path)]) if isinstance(one, Item)]
    assert [(row.line, row.offset, row.content) for row in rows] == [(1, 0, None), (3, len(NQ) + 1, None)]
    packed = tmp_path / "rows.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    unpacked = [one for one in discover([str(packed)]) if isinstance(one, Item)]
    assert [row.content for row in unpacked] == [
        NQ.strip().encode(),
        NQ.replace("Io", "Europa").strip().encode(),
    ]


def test_a_row_over_the_limit_is_a_problem_and_the_next_row_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with path.open("wb") as file:
        file.write(NQ.encode())
        file.write(b'{"document_html": "')
        file.truncate(file.tell() + DEFAULT_LIMITS.document_bytes)
        file.seek(0, os.SEEK_END)
        file.write(b'"}\n' + NQ.encode())
    first, long, last = discover([str(path)])
    assert isinstance(first, Item)
    assert isinstance(last, Item)
    assert isinstance(long, Problem)
    assert long == Problem(f"{path}, line 2", "the row is 32 MB long, more than the limit of 32 MB")
    assert last.line == 3


def test_a_named_format_is_not_second_guessed(tmp_path: Path) -> None:
    (tmp_path / "odd").write_text("just text")
    assert names(tmp_path, "odd", format="html") == [("html", "odd")]
    assert names(tmp_path, "odd", format="records") == [("records", "odd")]


def test_a_file_name_that_is_no_text_is_found_and_named_printably(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/d/caf\xe9.html")).write_text(HTML)
    (found,) = discover([str(tmp_path / "d")])
    assert isinstance(found, Item)
    assert found.name.endswith("caf\ufffd.html")
    found.name.encode("utf-8")
