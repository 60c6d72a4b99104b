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
from trivium.types import Evidence, GoldPassage, Question, Turn

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


def read(file: Path, **keys: object) -> Question:
    """The question of a file with one line."""
    file.write_text(json.dumps({"id": "a", "question": "Why?", **keys}))
    (question,) = read_questions(file)
    return question


def test_documents_are_named_with_pages_or_quotes(file: Path) -> None:
    """Where there are pages, evidence says something else: the text of these pages, or whatever it may be."""
    paged = (Evidence("report.pdf", pages=(12, 3)),)
    assert read(file, document="report.pdf", pages=[12, 3]).evidence == paged
    for beside in (["The text of page 12."], [{"document": "b.md", "quotes": ["x"]}], [], 3, None):
        assert read(file, document="report.pdf", pages=[12, 3], evidence=beside).evidence == paged
    quoted = [
        {"document": "a.md", "quotes": ["one", "two"]},
        {"document": "b.md", "quotes": ["x"], "more": 1},
    ]
    expected = (Evidence("a.md", ("one", "two")), Evidence("b.md", ("x",)))
    assert read(file, evidence=quoted).evidence == expected
    assert read(file, evidence=quoted, document="c.md", pages=None).evidence == expected


def test_a_document_alone_is_gold_and_so_are_several(file: Path) -> None:
    assert read(file, document="report.pdf").evidence == (Evidence("report.pdf"),)
    assert read(file, document=["a.md", "b.md"]).evidence == (Evidence("a.md"), Evidence("b.md"))


def test_a_document_or_pages_alone_beside_other_gold_say_something_else(file: Path) -> None:
    for keys in ({"document": "a.md"}, {"pages": [1]}, {"document": None, "pages": "12-14"}):
        question = read(file, page="Mars", answers=["red"], **keys)
        assert (question.page, question.evidence) == ("Mars", ())


def test_any_of_the_gold_may_do_and_a_question_may_follow_on_others(file: Path) -> None:
    assert (
        read(file).gold_any
        is read(file, gold_any=None).gold_any
        is read(file, gold_any=False).gold_any
        is False
    )
    assert read(file, gold_any=True).gold_any is True
    turns = ["Who?", {"question": "When?", "answer": "In 1877."}, {"question": "Where?", "answer": None}]
    assert read(file, history=turns).history == ("Who?", Turn("When?", "In 1877."), Turn("Where?", ""))
    assert read(file).history == read(file, history=[]).history == ()


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
        (b'{"question": "x", "document": []}', 'not empty as "document", got an empty list'),
        (b'{"question": "x", "pages": [1]}', '"document" beside "pages"'),
        (b'{"question": "x", "document": 3, "pages": [1]}', 'string as "document", got 3'),
        (b'{"question": "x", "document": "a", "pages": []}', "page numbers.*got an empty list"),
        (b'{"question": "x", "document": "a", "pages": 12}', "page numbers.*got 12"),
        (b'{"question": "x", "document": "a", "pages": [1, "2"]}', r'pages\[1\]", got "2"'),
        (b'{"question": "x", "document": "a", "pages": [true]}', r'pages\[0\]", got true'),
        (b'{"question": "x", "document": "a", "pages": [0]}', r'from 1 as "pages\[0\]", got 0'),
        (b'{"question": "x", "document": "a", "pages": [1.5]}', "got 1.5"),
        (b'{"question": "x", "evidence": []}', '"evidence", got an empty list'),
        (b'{"question": "x", "evidence": {"document": "a"}}', "an object with the keys document"),
        (b'{"question": "x", "evidence": ["a quote"]}', r'quotes"} object as "evidence\[0\]", got "a quote"'),
        (b'{"question": "x", "evidence": [{"document": "a"}]}', "got an object with the keys document"),
        (b'{"question": "x", "evidence": [{"document": "a", "quotes": []}]}', 'quotes", got an empty list'),
        (b'{"question": "x", "evidence": [{"document": "a", "quotes": "q"}]}', 'quotes", got "q"'),
        (b'{"question": "x", "evidence": [{"document": "a", "quotes": [" "]}]}', r"quotes\[0\]"),
        (b'{"question": "x", "evidence": [{"document": "", "quotes": ["q"]}]}', r"evidence\[0\].document"),
        (b'{"question": "x", "gold_any": "yes"}', 'true or false as "gold_any", got "yes"'),
        (b'{"question": "x", "gold_any": 1}', "got 1"),
        (b'{"question": "x", "history": "y"}', 'list as "history"'),
        (b'{"question": "x", "history": ["y", 2]}', r"history\[1\]"),
        (b'{"question": "x", "history": [{"answer": "y"}]}', "the keys answer"),
        (b'{"question": "x", "history": [{"question": "y", "answer": 2}]}', r"history\[0\].answer"),
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
        ("domains/stackfaq_questions.jsonl", 1249),
        ("markdown/handbook_questions.jsonl", 250),
        ("pdf/financebench_questions.jsonl", 37),
    ],
)
def test_the_evaluation_files_are_read_whole(name: str, count: int) -> None:
    if not (DATA / name).exists():
        pytest.skip(f"no evaluation data at {DATA} (set TRIVIUM_DATA)")
    questions = read_questions(DATA / name)
    assert len(questions) == count
    assert len({q.id for q in questions}) == count
    assert all(q.evidence or q.gold_passages or q.gold_titles or q.page is not None for q in questions)
