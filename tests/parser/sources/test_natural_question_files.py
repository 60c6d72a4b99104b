"""Rows of Natural Questions from files, folders and data sets, one at a time; what is broken costs only itself."""

from __future__ import annotations

import gzip
import importlib.util
import json
from pathlib import Path

import pytest

from tests.nq_rows import ONA, TARN, simplified, write_rows
from trivium.errors import InputError
from trivium.parser.sources.locate_marked_text import MarkedPage
from trivium.parser.sources.natural_question_files import (
    RowFound,
    RowQuestion,
    is_row_source,
    read_row_questions,
    read_rows,
)
from trivium.parser.sources.natural_questions import questions, to_page
from trivium.parser.sources.source_items import Problem
from trivium.settings.limits import InputLimits

ROW = TARN.row(1, "who found the rings", TARN.annotation(TARN.element("p", 1)))
OTHER = ONA.row(2, "what colour is ona", ONA.annotation(ONA.element("p", 0)))


def test_rows_come_from_files_folders_and_packed_files_each_once(tmp_path: Path) -> None:
    plain = write_rows(tmp_path / "a.jsonl", [ROW])
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(json.dumps(OTHER).encode() + b"\n"))
    (tmp_path / "readme.md").write_text("# not rows\n")
    found = list(read_rows([str(tmp_path), str(plain)]))
    assert [(one.name, one.row["example_id"]) for one in found if isinstance(one, RowFound)] == [
        (f"{tmp_path}/a.jsonl, line 1", 1),
        (f"{tmp_path}/b.jsonl.gz, line 1", 2),
    ]
    assert len(found) == 2


def test_broken_rows_are_named_by_file_and_line_and_the_others_go_on(tmp_path: Path) -> None:
    no_tokens = {**ROW, "example_id": 3, "document_tokens": 5}
    no_question = {**ROW, "example_id": 4, "question_text": " "}
    outside = {
        **ROW,
        "example_id": 5,
        "annotations": [TARN.annotation() | {"long_answer": {"start_token": 0}}],
    }
    beyond = json.loads(json.dumps({**ROW, "example_id": 6}))
    beyond["annotations"][0]["long_answer"]["end_token"] = 99_999
    endless = json.loads(json.dumps({**ROW, "example_id": 7}))
    endless["annotations"][0]["long_answer"]["end_token"] = float("inf")
    no_id = {key: value for key, value in ROW.items() if key != "example_id"}
    rows = [
        ROW,
        '{"document_html": "cut',
        "[]",
        no_tokens,
        no_question,
        outside,
        beyond,
        no_id,
        ROW,
        "",
        OTHER,
        endless,
    ]
    path = write_rows(tmp_path / "rows.jsonl", rows)
    found = list(read_row_questions([str(path)]))
    assert [(one.name, one.question.id) for one in found if isinstance(one, RowQuestion)] == [
        (f"{path}, line 1", "nq-1"),
        (f"{path}, line 11", "nq-2"),
    ]
    problems = {one.location.rpartition(" ")[2]: one.reason for one in found if isinstance(one, Problem)}
    expected = {
        "2": "the JSON is malformed or cut short",
        "3": "expected a Natural Questions row, got a JSON list",
        "4": "expected the document's tokens",
        "5": "with its question, got none",
        "6": "expected annotations, each with long_answer and short_answers",
        "7": "are outside a document of",
        "8": "with its example_id",
        "12": "expected annotations, each with long_answer and short_answers",
        "9": f"the question nq-1 was there already: {path}, line 1",
    }
    assert problems.keys() == expected.keys()
    for line, reason in expected.items():
        assert reason in problems[line], (line, problems[line])


def test_what_comes_before_damage_is_read(tmp_path: Path) -> None:
    packed = gzip.compress("".join(f"{json.dumps(row)}\n" for row in (ROW, OTHER)).encode())
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(packed[: len(packed) - 20])
    found = list(read_rows([str(path)], format="nq"))
    assert isinstance(found[0], RowFound)
    assert isinstance(found[-1], Problem)
    assert "damaged or cut short" in found[-1].reason


def test_too_long_a_row_is_not_read(tmp_path: Path) -> None:
    path = write_rows(
        tmp_path / "rows.jsonl", [ROW, {**OTHER, "document_html": "<p>x</p>", "document_tokens": []}]
    )
    limits = InputLimits(document_bytes=5_000)
    first, second = read_rows([str(path)], limits, format="nq")
    assert isinstance(first, Problem) and isinstance(second, RowFound)
    assert first.location == f"{path}, line 1"


def test_other_files_are_refused_or_passed_over(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<html><body><p>A page.</p></body></html>")
    rows = write_rows(tmp_path / "rows.jsonl", [ROW])
    (problem, row) = read_rows([str(page), str(rows)])
    assert isinstance(problem, Problem) and isinstance(row, RowFound)
    assert problem.reason == "expected rows of Natural Questions, got a file of the format html"
    (row,) = read_rows([str(page), str(rows), "https://example.org/x"], others=True)
    assert isinstance(row, RowFound)
    with pytest.raises(InputError, match="expected files, folders or hf:NAME with rows"):
        read_rows(["https://example.org/x"])
    with pytest.raises(InputError, match="there is no file or folder"):
        read_rows([str(tmp_path / "none.jsonl")])


def test_progress_ends_with_all_bytes_of_the_files_on_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(b"".join(json.dumps({**ROW, "n": n}).encode() + b"\n" for n in range(80))))
    told: list[tuple[int, int]] = []
    assert len(list(read_rows([str(path)], progress=lambda done, total: told.append((done, total))))) == 80
    size = path.stat().st_size
    assert told[-1] == (size, size)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_rows_are_told_from_question_files(tmp_path: Path) -> None:
    asked = write_rows(tmp_path / "questions.jsonl", [{"question": "who?", "page": "Tarn", "answers": ["x"]}])
    assert not is_row_source(str(asked))
    assert not is_row_source(str(tmp_path / "none"))
    assert is_row_source(str(write_rows(tmp_path / "rows.jsonl", ["", "{broken", ROW])))
    assert is_row_source(str(write_rows(tmp_path / "simple.jsonl", [simplified(ROW)])))
    assert is_row_source(str(tmp_path))
    assert is_row_source("hf:natural_questions:validation")


def test_a_simplified_row_has_the_title_of_its_address_and_the_same_answers() -> None:
    """Its document is made of tokens; those with blanks in them are one word there."""
    table = TARN.annotation(TARN.element("table"), TARN.words("1700", TARN.element("table")))
    row = TARN.row(9, "when was arbel found", table)
    simple = simplified(row)
    page = to_page(simple)
    assert (page.title, page.revision) == ("Tarn", 7)
    assert [section.heading for section in page.sections] == ["Moons", "Colours"]
    (found,), (expected,) = questions(simple), questions(row)
    assert (found.answers, found.marked, found.page) == (("1700",), expected.marked, "Tarn")
    tables = [number for number, (_, chunk) in enumerate(page.all_chunks()) if chunk.kind == "table"]
    marked = MarkedPage(page.text, [(chunk.start, chunk.end) for _, chunk in page.all_chunks()])
    assert marked.find(found.marked[0]) == tuple(tables)
    assert len(tables) > 2


@pytest.mark.skipif(
    importlib.util.find_spec("datasets") is None, reason="the extra  datasets  is not installed"
)
def test_rows_of_a_data_set_carry_their_annotations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    path = write_rows(tmp_path / "rows.json", [ROW, OTHER])
    found = list(read_row_questions([f"hf:json:{path}"]))
    assert [(one.name, one.question.id) for one in found if isinstance(one, RowQuestion)] == [
        (f"hf:json:{path}, row 1", "nq-1"),
        (f"hf:json:{path}, row 2", "nq-2"),
    ]
