"""Question files: what is accepted, and what the error says of what is not."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.datasets.questions import read_questions
from trivium.errors import QuestionFileError
from trivium.types import GoldPassage, Question

DATA = Path(os.environ.get("TRIVIUM_DATA", Path(__file__).parents[3] / "shared" / "data"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "questions.jsonl"


def test_every_known_key_is_read_and_other_keys_are_ignored(file: Path) -> None:
    row = {
        "id": "a",
        "question": "Which is the largest moon?",
        "answers": ["Ganymede", "Jupiter III"],
        "page": "Moons_of_Jupiter",
        "section": "__lead__",
        "paragraph": "Ganymede is the largest.",
        "gold_titles": ["Ganymede (moon)"],
        "gold_passages": [{"title": "Ganymede", "text": "A moon.", "score": 1}],
        "alignment": 0.5,
    }
    file.write_text(json.dumps(row) + "\n")
    assert read_questions(file) == [
        Question(
            id="a",
            text="Which is the largest moon?",
            answers=("Ganymede", "Jupiter III"),
            page="Moons_of_Jupiter",
            section="__lead__",
            paragraph="Ganymede is the largest.",
            gold_titles=("Ganymede (moon)",),
            gold_passages=(GoldPassage("Ganymede", "A moon."),),
        )
    ]


def test_a_missing_id_is_made_from_the_line_number_and_blank_lines_count(file: Path) -> None:
    file.write_bytes(
        b'\xef\xbb\xbf{"question": "one"}\r\n\n'
        b'{"question": "three", "page": null, "id": 7}\n'
        b'{"question": "four"}'
    )
    assert [(q.id, q.text, q.page) for q in read_questions(file)] == [
        ("line-1", "one", None),
        ("7", "three", None),
        ("line-4", "four", None),
    ]


@settings(deadline=None, max_examples=50)
@given(st.text(min_size=1).filter(lambda text: text.strip() != ""))
def test_any_text_survives_even_with_unicode_line_separators(tmp_path_factory, text: str) -> None:
    """U+2028 and its kin may stand raw inside a JSON string and do not end the line."""
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_text(json.dumps({"question": text}, ensure_ascii=False) + "\n", encoding="utf-8", newline="")
    assert [q.text for q in read_questions(path)] == [text]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b'{"question": "x"', "expected a JSON object"),
        (b'["x"]', "got a list"),
        (b'"x"', 'got "x"'),
        (b"[" * 100_000, "nested too deeply"),
        (b"1" * 5000, "expected a JSON object"),
        (b'{"question": "\xff"}', "byte 0xff"),
        (b'{"frage": "x"}', "got the keys frage"),
        (b"{}", "the keys none"),
        (b'{"question": "  "}', 'non-empty string as "question"'),
        (b'{"question": 3}', "got 3"),
        (b'{"question": "x", "id": true}', 'as "id", got true'),
        (b'{"question": "x", "answers": "y"}', 'list as "answers"'),
        (b'{"question": "x", "answers": ["y", 2]}', r"answers\[1\]"),
        (b'{"question": "x", "page": ["y"]}', '"page", got a list'),
        (b'{"question": "x", "gold_passages": [{"title": "y"}]}', "an object with the keys title"),
        (b'{"question": "x", "gold_passages": ["y"]}', "objects"),
        (b'{"question": "\\ud800"}', "surrogate"),
    ],
)
def test_a_malformed_line_is_refused_with_its_number_and_what_came(
    file: Path, line: bytes, says: str
) -> None:
    file.write_bytes(b'{"question": "fine"}\n' + line + b"\n")
    with pytest.raises(QuestionFileError, match=rf"line 2: .*{says}") as caught:
        read_questions(file)
    assert len(str(caught.value)) < 400


def test_a_question_that_is_there_twice_is_refused_naming_both_lines(file: Path) -> None:
    """Also when the id of the second is the made one."""
    file.write_text('{"question": "x", "id": "line-2"}\n{"question": "x"}\n')
    with pytest.raises(QuestionFileError, match=r"line 2: .*'line-2' again \(first on line 1\)"):
        read_questions(file)


def test_another_question_with_the_same_id_gets_one_of_its_own(file: Path) -> None:
    """No question is lost, and none is taken for another; the first keeps its id. Ids that are made do not collide."""
    lines = [("a", "x"), ("a", "y"), ("b", "x"), ("a", "z"), ("a (line 2)", "v"), ("line-7", "x")]
    rows = [{"id": name, "question": text} for name, text in lines] + [{"question": "w"}]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert [(question.id, question.text) for question in read_questions(file)] == [
        ("a", "x"),
        ("a (line 2)", "y"),
        ("b", "x"),
        ("a (line 4)", "z"),
        ("a (line 2) (line 5)", "v"),
        ("line-7", "x"),
        ("line-7 (line 7)", "w"),
    ]
    rows = [{"id": "a (line 3)", "question": "u"}, {"id": "a", "question": "x"}, {"id": "a", "question": "y"}]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(QuestionFileError, match=r"line 3: .*'a' again \(first on line 2\)"):
        read_questions(file)


def test_an_empty_file_a_folder_and_a_missing_file_are_errors_of_the_question_file(file: Path) -> None:
    file.write_text("\n\n")
    for path in (file, file.parent, file.parent / "missing.jsonl"):
        with pytest.raises(QuestionFileError, match=str(path)):
            read_questions(path)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("wiki/squad_questions.jsonl", 4108),
        ("nq/earth_questions.jsonl", 105),
        ("nq/qed_questions.jsonl", 671),
        ("multihop/hotpotqa_questions.jsonl", 297),
        ("multihop/2wiki_questions.jsonl", 663),
        ("multihop/musique_questions.jsonl", 192),
    ],
)
def test_the_evaluation_files_are_read_whole(name: str, count: int) -> None:
    if not (DATA / name).exists():
        pytest.skip(f"no evaluation data at {DATA} (set TRIVIUM_DATA)")
    questions = read_questions(DATA / name)
    assert len(questions) == count
    assert all(q.gold_passages or q.gold_titles or q.page is not None for q in questions)
