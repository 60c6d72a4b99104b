"""Question files that are tables: in several delimiters and encodings, as people and programs write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from trivium.datasets.questions import read_questions
from trivium.errors import QuestionFileError
from trivium.types import Evidence, GoldPassage, Question

ROWS = [
    ["ID", "Question", "Answers", "Page", "Remark"],
    ["m1", "Who paints the mill, and why?", "Pia Lund; P. Lund", "Mill", "checked"],
    ["", "", "", "", ""],
    ["m2", "Où est le four à chaux ?", "près du gué", "Lime kiln", ""],
]
RIGHT = [
    Question("m1", "Who paints the mill, and why?", ("Pia Lund", "P. Lund"), "Mill"),
    Question("m2", "Où est le four à chaux ?", ("près du gué",), "Lime kiln"),
]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize(
    ("delimiter", "suffix"), [(",", ".csv"), (";", ".csv"), ("\t", ".tsv"), ("\t", ".CSV")]
)
def test_a_table_is_read_in_any_form(tmp_path: Path, delimiter: str, suffix: str, encoding: str) -> None:
    file = tmp_path / f"golden{suffix}"
    lines = [delimiter.join(f'"{cell}"' if cell else "" for cell in row) for row in ROWS]
    file.write_bytes("\r\n".join(lines).encode(encoding))
    assert read_questions(file) == RIGHT


def test_the_table_that_synthesize_exports_is_read(tmp_path: Path) -> None:
    """A question from one passage has a quote; one that joins several has their pages, one in each line."""
    file = tmp_path / "exported.csv"
    file.write_text(
        "id,question,answer,quote,page,chunk,clean\n"
        'a,Who keeps bees?,"Ole; or Per",Bees | are kept by Ole; or Per.,Bees,Bees#chunk-1,Who keeps bees?\n'
        'b,Which both?,yes,,"Bees\nHives, old","Bees#chunk-1\nHives#chunk-2",Which both?\n'
    )
    one, several = read_questions(file)
    assert one.gold_passages == (GoldPassage("Bees", "Bees | are kept by Ole; or Per."),)
    assert one.answers == ("Ole; or Per",)
    assert several.gold_titles == ("Bees", "Hives, old") and several.answers == ("yes",)


def test_columns_are_the_keys_of_question_files(tmp_path: Path) -> None:
    file = tmp_path / "keys.csv"
    file.write_text(
        "question,answer 1,answer 2,document,pages,quotes,gold titles,history,unanswerable,gold_any\n"
        'a?,x,y,plan.pdf,"3, 5",,,,FALSE,\n'
        'b?,,,plan.pdf,,"first quote\nsecond quote",,"before?\nthen?",,\n'
        'c?,,,,,,"North; South",,,yes\n'
        'd?,"[""p"", ""q;r""]",,,,,,,TRUE,\n'
    )
    a, b, c, d = read_questions(file)
    assert (a.id, a.answers, a.evidence) == ("line-2", ("x", "y"), (Evidence("plan.pdf", pages=(3, 5)),))
    assert b.evidence == (Evidence("plan.pdf", ("first quote", "second quote")),)
    assert b.history == ("before?", "then?")
    assert (c.gold_titles, c.gold_any, c.unanswerable) == (("North", "South"), True, False)
    assert (d.answers, d.unanswerable, a.unanswerable) == (("p", "q;r"), True, False)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("frage,antwort\nWer?,Ole\n", 'expected a column "question", got the columns frage, antwort'),
        ("question,document,pages\nWho?,a.pdf,three\n", 'line 2: expected a whole number from 1 as "pages'),
        ("question,page\n,Bees\n", 'line 2: expected the key "question"'),
        ("question,page\n", "expected at least one line with a question"),
    ],
)
def test_what_is_wrong_is_said_with_the_row(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "wrong.csv"
    file.write_text(text)
    with pytest.raises(QuestionFileError, match=reason.replace("[", r"\[")):
        read_questions(file)
