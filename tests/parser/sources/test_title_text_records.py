"""``{title, text}`` records and the links their mentions make."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.parser.gazetteer import Gazetteer
from trivium.parser.sources.source_items import Problem
from trivium.parser.sources.title_text_records import Record, read_records, records_to_pages
from trivium.text.normalise import count_tokens, normalise_title
from trivium.types import ChunkKind, Page

DATA = Path(os.environ.get("TRIVIUM_DATA", Path(__file__).parents[4] / "shared" / "data"))


def read_all(path: str | Path) -> tuple[list[Record], list[Problem]]:
    """The records of a file, and what was wrong with others."""
    found = list(read_records(path))
    return [one for one in found if isinstance(one, Record)], [
        one for one in found if isinstance(one, Problem)
    ]


def pages(*records: tuple[str, str], names: tuple[str, ...] = ()) -> list[Page]:
    titles = [title for title, _ in records] + list(names)
    gazetteer = Gazetteer((title, title) for title in titles)
    return records_to_pages([Record(title, text, "file") for title, text in records], gazetteer)


def links(page: Page) -> list[tuple[str, str]]:
    """(what the page says, the title it links to)."""
    return [(page.text[link.start : link.end], link.target) for chunk in page.chunks for link in chunk.links]


def test_records_that_share_a_title_are_one_page_with_a_chunk_each() -> None:
    first, second = pages(("Io", "Io is a moon."), ("Europa", "Ice."), ("Io ", "It has volcanoes."))
    assert (first.title, first.text, first.source) == ("Io", "Io is a moon.\n\nIt has volcanoes.", "file")
    assert [(chunk.kind, chunk.text, chunk.start, chunk.end) for chunk in first.chunks] == [
        (ChunkKind.PARAGRAPH, "Io is a moon.", 0, 13),
        (ChunkKind.PARAGRAPH, "It has volcanoes.", 15, 32),
    ]
    assert first.sections == ()
    assert second.title == "Europa"


def test_mentions_of_other_titles_become_links_with_offsets_into_the_page() -> None:
    (page, *_) = pages(
        ("Tiny", "No names."), ("Tiny", "Galileo saw Callisto."), names=("Callisto (moon)", "Galileo")
    )
    assert links(page) == [("Galileo", "Galileo"), ("Callisto", "Callisto (moon)")]
    assert page.chunks[1].links[0].start == len("No names.\n\n")


def test_a_page_does_not_link_to_itself_nor_to_a_namesake() -> None:
    (page, *_) = pages(
        ("Kiss and Tell (1945 film)", "Kiss and Tell (1945 film) or Kiss and Tell is a film."),
        names=("Kiss and Tell (1931 play)",),
    )
    assert links(page) == []


def test_a_long_record_is_split_after_sentences_and_keeps_its_links() -> None:
    sentence = "Galileo looked at the far moons of the great planet on many a clear night. "
    (page, *_) = pages(("Long", sentence * 60), names=("Galileo",))
    assert len(page.chunks) > 1
    assert all(count_tokens(chunk.text) <= 400 for chunk in page.chunks)
    assert all(chunk.text.endswith(".") for chunk in page.chunks)
    assert len(links(page)) == 60


@given(
    st.lists(
        st.tuples(st.sampled_from(["Io", "Callisto", "Ganymede"]), st.text(min_size=1, max_size=300)),
        max_size=5,
    )
)
def test_offsets_hold_and_no_letter_is_lost(records: list[tuple[str, str]]) -> None:
    for page in pages(*records, names=("Callisto", "Ganymede")):
        for chunk in page.chunks:
            assert page.text[chunk.start : chunk.end] == chunk.text
            assert all(chunk.start <= link.start < link.end <= chunk.end for link in chunk.links)
        given_text = "".join(text for title, text in records if title == page.title)
        kept = "".join(chunk.text for chunk in page.chunks)
        assert "".join(filter(str.isalnum, kept)) == "".join(filter(str.isalnum, given_text))


def test_bad_lines_are_reported_by_number_and_the_good_ones_read(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(
        b'{"title": "A_b", "text": " one "}\n'
        b'{"title": "cut\n'
        b"\n"
        b'{"title": "", "text": "x"}\n'
        b'{"title": "x", "text": " "}\n'
        b'{"title": 7, "text": "x"}\n'
        b'["title", "text"]\n'
        b'{"title": "\xff", "text": "x"}\n'
        b'{"title": "B", "text": "two"}'
    )
    records, problems = read_all(path)
    assert [(record.title, record.text) for record in records] == [("A b", "one"), ("B", "two")]
    assert [problem.location.removeprefix(f"{path}, ") for problem in problems] == [
        "line 2",
        "line 4",
        "line 5",
        "line 6",
        "line 7",
        "line 8",
    ]
    assert [problem.reason.split(":")[0] for problem in problems] == [
        "the JSON is malformed or cut short",
        "the title is empty",
        "the text is empty",
        "expected title and text as strings, got text, title",
        "expected an object with title and text, got a JSON list",
        "expected UTF-8, got byte 0xff at 11",
    ]


def test_a_json_array_and_a_gzipped_file_hold_the_same_records(tmp_path: Path) -> None:
    rows = [{"title": "Io", "text": "moon"}, {"title": "Europa", "text": "ice"}, {"text": "lost"}]
    (tmp_path / "a.json").write_text(json.dumps(rows, indent=1))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    of_array, array_problems = read_all(tmp_path / "a.json")
    of_lines, line_problems = read_all(str(tmp_path / "b.jsonl.gz"))
    assert (
        [(r.title, r.text) for r in of_array]
        == [(r.title, r.text) for r in of_lines]
        == [
            ("Io", "moon"),
            ("Europa", "ice"),
        ]
    )
    assert array_problems[0].location.endswith("a.json, record 3")
    assert line_problems[0].location.endswith("b.jsonl.gz, line 3")


@pytest.mark.parametrize(
    "content", [b"[" * 100_000, b'[{"title": "a"', gzip.compress(b'{"a": 1}\n', mtime=0)[:15]]
)
def test_a_file_that_cannot_be_read_is_a_problem(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad"
    path.write_bytes(content)
    records, problems = read_all(path)
    assert (records, [problem.location.split(",")[0] for problem in problems]) == ([], [str(path)])


def test_a_file_cut_short_keeps_the_records_before_the_cut(tmp_path: Path) -> None:
    row = json.dumps({"title": "Io", "text": "moon " * 40}) + "\n"
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(row.encode() * 50, mtime=0)[:-8])
    records, problems = read_all(path)
    assert len(records) >= 1
    assert problems == [Problem(str(path), problems[0].reason)]
    assert "cut short" in problems[0].reason


def test_malicious_titles_and_texts_are_plain_data(tmp_path: Path) -> None:
    rows = [
        {"title": "../../etc/passwd", "text": "a\x00b\x1b[31m"},
        {"title": "'; DROP TABLE pages; --", "text": "lone \ud800 surrogate"},
        {"title": "x" * 500, "text": "long title"},
        {"title": "line\nbreak\u202e", "text": "Cafe\u0301"},
    ]
    path = tmp_path / "bad.jsonl"
    path.write_text("\n".join(map(json.dumps, [*rows, {"title": "x" * 10_000, "text": "longer title"}])))
    records, problems = read_all(path)
    assert problems == [Problem(f"{path}, line 5", "expected a title of at most 500 characters, got 10000")]
    made = records_to_pages(records, Gazetteer((record.title, record.title) for record in records))
    assert [page.title for page in made] == [normalise_title(row["title"]) for row in rows]
    assert [page.text for page in made] == ["a b", "lone \ufffd surrogate", "long title", "Café"]
    for page in made:
        page.text.encode("utf-8")


@pytest.mark.data
@pytest.mark.skipif(not DATA.is_dir(), reason="the evaluation data is not there (TRIVIUM_DATA)")
def test_the_musique_corpus_becomes_pages_without_a_loss() -> None:
    path = DATA / "multihop" / "musique_corpus.jsonl"
    records, problems = read_all(path)
    made = records_to_pages(records, Gazetteer((record.title, record.title) for record in records))
    assert (len(records), problems) == (4543, [])
    assert len(made) == len({record.title for record in records})
    assert sum(len(page.chunks) for page in made) >= 4543
    assert sum(len(links(page)) for page in made) > 5000
    assert all(target != page.title for page in made for _, target in links(page))
