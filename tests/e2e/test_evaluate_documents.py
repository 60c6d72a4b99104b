"""Questions about documents, measured by the command on a PDF file and a folder of Markdown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup

from tests.built_stores import EMBEDDER
from tests.e2e.conftest import Run
from tests.fakes.pdf_writer import PdfFile
from trivium.answering.query_rewriting import rewrite_question
from trivium.fusion.hit_lists import load_hits
from trivium.graph.open_store import open_store
from trivium.training.training_data import read
from trivium.types import Turn

SAID = (
    "The lighthouse was painted white in the spring of the year.",
    "Repairs of the harbour wall took four months and eleven workers.",
    "A new ferry called Aurora crosses the sound twice a day.",
)
"""One sentence on each page of the report."""
TEAMS = """# Teams

## Channels

| Team | Channel |
|---|---|
| Legal | `#legal` |
| Harbour | [#harbour](../harbour.md) |

## Aurora

The crew of the Aurora meets on **Monday mornings** in [the office](office.md).
"""
OFFICE = "# Office\n\nThe office lies behind the lighthouse and opens at seven.\n"
FOLLOW_UP, BEFORE = (
    "When does it open?",
    Turn("Where is the Office?", "The Office lies behind the lighthouse."),
)
QUESTIONS: list[dict[str, Any]] = [
    {"id": "page", "question": "Repairs of the harbour wall", "document": "report.pdf", "pages": [2]},
    {
        "id": "row",
        "question": "Channel of the Legal team",
        "evidence": [{"document": "teams/_index.md", "quotes": ["| Legal | `#legal` |"]}],
    },
    {
        "id": "both",
        "question": "Where does the crew of the Aurora meet, and when does the office open?",
        "evidence": [
            {
                "document": "teams/_index.md",
                "quotes": ["meets on **Monday mornings** in [the office](office.md)"],
            },
            {"document": "office.md", "quotes": ["opens at seven", "opens at eight"]},
        ],
    },
    {
        "id": "any",
        "question": "When does the office open?",
        "evidence": [
            {"document": "office.md", "quotes": ["at seven"]},
            {"document": "lost.md", "quotes": ["x"]},
        ],
        "gold_any": True,
    },
    {
        "id": "follows",
        "question": FOLLOW_UP,
        "history": [{"question": BEFORE.question, "answer": BEFORE.answer}],
        "evidence": [{"document": "my/docs/teams/office.md", "quotes": ["opens at **seven**"]}],
    },
    {"id": "no page", "question": "What else?", "document": "report.pdf", "pages": [9]},
    {"id": "no file", "question": "What else?", "document": "Report.pdf", "pages": [1]},
]
TRACED = ["page", "row", "both", "any", "follows"]


@pytest.fixture(scope="module")
def store(trivium: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder ``docs``, built from the folder itself."""
    folder = tmp_path_factory.mktemp("documents") / "docs"
    (folder / "teams").mkdir(parents=True)
    (folder / "teams" / "_index.md").write_text(TEAMS)
    (folder / "teams" / "office.md").write_text(OFFICE)
    report = PdfFile()
    for sentence in SAID:
        report.page().lines(72, 700, [sentence] * 8)
    (folder / "report.pdf").write_bytes(report.data())
    store = folder.parent / "store"
    built = trivium("build", folder, "--store", store, "--embedder", EMBEDDER, "--no-sentences")
    assert built.code == 0, built.err
    return store


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("questions") / "questions.jsonl"
    file.write_text("".join(json.dumps(question) + "\n" for question in QUESTIONS))
    return file


def test_questions_about_documents_are_measured_and_learnt_from(
    trivium: Run, store: Path, questions: Path, tmp_path: Path
) -> None:
    """Hit lists keep the text that was searched for, one group a document, and the documents that folds are split by."""
    hits = tmp_path / "hits.json"
    options = ("--retriever", "lexical", "--fusion", "rrf", "--hits", hits, "--runs", tmp_path, "--json")
    done = trivium("evaluate", questions, "--store", store, *options)
    assert done.code == 0, done.err
    report = done.json
    assert (report["questions"], report["traced"]) == (7, 5)
    assert {missing["id"]: missing["cause"] for missing in report["untraceable"]} == {
        "no page": "no chunk of the page holds it",
        "no file": "the document is not in the store",
    }
    assert "did you mean 'report.pdf'" in report["untraceable"][1]["reason"]
    lexical = report["rows"]["lexical"]
    assert lexical["hit@5"] == lexical["all@5"] == lexical["recall@5"] == 1.0

    kept = {hit.question_id: hit for hit in load_hits(hits).hits}
    assert list(kept) == TRACED
    assert kept["follows"].question == stand_alone(store) != FOLLOW_UP
    assert {name: hit.groups for name, hit in kept.items()} == dict.fromkeys(TRACED, 1) | {"both": 2}
    assert kept["both"].pages == ("Office", "Teams") and kept["page"].pages == ("report",)
    assert len(read([hits], folds=2).hits) == len(TRACED)

    runs = [tmp_path / f"{row}.run" for row in ("lexical", "rrf")]
    page = tmp_path / "page.html"
    done = trivium("compare", *runs, "--store", store, "--out", page)
    assert done.code == 0, done.err
    shown = BeautifulSoup(page.read_text("utf-8"), "html.parser")
    asked = {one.get_text() for one in shown.select(".question")}
    assert asked == {question["question"] for question in QUESTIONS[:4]} | {stand_alone(store)}
    why = [one.get_text() for one in shown.select(".views caption")]
    assert len(why) == len(TRACED) and all(one.startswith("rrf: the gold against ") for one in why)


def stand_alone(store: Path) -> str:
    """What is searched for where the follow-up question is asked."""
    with open_store(store) as opened:
        return rewrite_question(FOLLOW_UP, [BEFORE], None, opened).match_query
