"""Bytes, lines and JSON of documents, and what is said when they are bad."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from trivium.errors import InputError
from trivium.parser.sources import read_files
from trivium.parser.sources.read_files import parse_json, read_array, read_document, read_lines, read_slice
from trivium.parser.sources.source_items import Item, clean_text, printable_path
from trivium.settings.limits import InputLimits


def test_lines_know_their_number_offset_and_length(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"ab\n\n  \r\ncd\r\nlast")
    lines = list(read_lines(path))
    assert [(line.number, line.offset, line.data) for line in lines] == [
        (1, 0, b"ab"),
        (4, 8, b"cd"),
        (5, 12, b"last"),
    ]
    assert [read_slice(path, line.offset, line.length).strip() for line in lines] == [b"ab", b"cd", b"last"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(
    st.lists(st.binary(max_size=12).map(lambda data: data.replace(b"\n", b"")), max_size=6), st.integers(1, 8)
)
def test_lines_are_those_of_the_file_and_only_long_ones_are_withheld(
    tmp_path: Path, given_lines: list[bytes], limit: int
) -> None:
    assume(not b"".join(given_lines[:1]).startswith(b"\x1f\x8b"))  # that would be a gzip file
    path = tmp_path / "lines"
    path.write_bytes(b"\n".join(given_lines))
    expected = {number: line for number, line in enumerate(given_lines, 1) if line.strip()}
    found = {line.number: line for line in read_lines(path, InputLimits(document_bytes=limit))}
    for number, line in expected.items():
        assert (found[number].data is None) == (len(line) > limit)
        if found[number].data is not None:
            assert found[number].data == line.rstrip(b"\r\n")
        assert read_slice(path, found[number].offset, len(line)) == line


def test_gzipped_files_are_unpacked_whatever_their_name(tmp_path: Path) -> None:
    path = tmp_path / "plain-looking.txt"
    path.write_bytes(gzip.compress(b"one\ntwo\n"))
    assert read_document(path) == b"one\ntwo\n"
    assert [line.data for line in read_lines(path)] == [b"one", b"two"]


def test_a_gzip_file_cut_short_says_so(tmp_path: Path) -> None:
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(b"some text " * 1000)[:-12])
    with pytest.raises(InputError, match="damaged or cut short"):
        read_document(path)
    with pytest.raises(InputError, match="damaged or cut short"):
        list(read_lines(path))


def test_a_small_file_that_unpacks_to_a_huge_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(bytes(3 << 20)))
    with pytest.raises(InputError, match="larger than 2 MB"):
        read_document(path, InputLimits(document_bytes=2 << 20))


def test_a_missing_file_and_a_shrunken_one_are_explained(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_document(tmp_path / "none")
    (tmp_path / "short").write_bytes(b"abc")
    with pytest.raises(InputError, match="ends 7 bytes early"):
        read_slice(tmp_path / "short", 0, 10)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"title": "a', "malformed or cut short"),
        (b"", "malformed or cut short"),
        (b'"\xe9t\xe9"', "expected UTF-8, got byte 0xe9 at 1"),
        ("{}".encode("utf-16"), "expected UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b"1" * 5000, "malformed"),
    ],
)
def test_bad_json_is_an_input_error_with_the_reason(data: bytes, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        parse_json(data)


def test_a_byte_order_mark_before_json_is_no_error() -> None:
    assert parse_json(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


def test_cleaned_text_keeps_its_length_and_can_be_encoded() -> None:
    dirty = "a\x00b\x1bc\ud800d\te\nf\x7f"
    clean = clean_text(dirty)
    assert clean == "a b c\ufffdd\te\nf "
    assert len(clean) == len(dirty)
    clean.encode("utf-8")


def test_items_are_named_so_that_every_terminal_can_print_them() -> None:
    assert Item("nq", "rows.jsonl", 10, 5, line=3).name == "rows.jsonl, line 3"
    assert printable_path("caf\udce9.html") == "caf\ufffd.html"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(
    st.lists(
        st.recursive(st.none() | st.integers() | st.text(max_size=5), st.lists, max_leaves=5), max_size=8
    ),
    st.sampled_from([None, 0, 2]),
    st.sampled_from(["", " ", "\n\t"]),
)
def test_an_array_is_read_as_json_reads_it(
    tmp_path: Path, values: list[object], indent: int | None, around: str
) -> None:
    """Also where the pieces that are read end anywhere."""
    path = tmp_path / "array"
    path.write_text(around + json.dumps(values, indent=indent, ensure_ascii=False) + around, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(read_files, "_PIECE", 3)
        assert list(read_array(path)) == values


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[1, 2", "expected a comma"),
        (b"[1, 2,", "malformed or cut short"),
        (b"[1, 2] 3", "expected the end"),
        (b'[1, {"a', "malformed or cut short"),
        (b"[1, " + b"[" * 100_000, "nested too deeply"),
        (b'[1, "\xff"]', "expected UTF-8"),
    ],
)
def test_an_array_is_read_as_far_as_it_is_good(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "array"
    path.write_bytes(content)
    with pytest.raises(InputError, match=reason):
        list(read_array(path))


def test_json_of_very_many_values_is_refused(tmp_path: Path) -> None:
    """A few megabytes of them would be gigabytes of objects."""
    content = b"[" + b"{}," * 2_000_000 + b"{}]"
    with pytest.raises(InputError, match="values, more than the limit"):
        parse_json(content)
    (tmp_path / "array").write_bytes(b"[" + content + b"]")
    with pytest.raises(InputError, match="values, more than the limit"):
        list(read_array(tmp_path / "array"))


def test_a_file_that_unpacks_to_a_hundred_times_its_size_is_refused(tmp_path: Path) -> None:
    """Unless that is little."""
    path = tmp_path / "lines.gz"
    path.write_bytes(gzip.compress(b"some text\n" * 1_500_000))
    with pytest.raises(InputError, match="100 times its size"):
        list(read_lines(path))
    path.write_bytes(gzip.compress(b"some text\n" * 500_000))
    assert sum(1 for _ in read_lines(path)) == 500_000
