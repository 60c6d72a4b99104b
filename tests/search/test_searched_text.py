"""What is searched for: the question without instructions, and with the lines that a figure is calculated from."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.engine import Engine
from trivium.search.searched_text import searched_text

_SHEET = """# Consolidated balance sheets

Cash 775, trade receivables 1,935, inventories 2,213, total current assets 5,308, total current liabilities 4,476.
"""


@pytest.mark.parametrize(
    ("question", "searched"),
    [
        (
            "What is the ROE of Block? ROE is net income by equity.",
            "What is the ROE (statement of income: net income; balance sheet: total equity) of Block?"
            " ROE is net income by equity.",
        ),
        (
            "How high is the fixed asset turnover?",
            "How high is the fixed asset turnover (statement of income: revenue; balance sheet: property, plant and"
            " equipment)?",
        ),
        ("Who is the DPO, and is PPE for fish roe?", "Who is the DPO, and is PPE for fish roe?"),
        ("What was the EBITDA in 2019?", "What was the EBITDA in 2019?"),
    ],
    ids=["once", "longest name", "other words", "stated by reports"],
)
def test_a_figure_is_followed_by_the_lines_it_is_calculated_from(question: str, searched: str) -> None:
    assert searched_text(question) == searched


@pytest.mark.parametrize(
    ("question", "searched"),
    [
        ("How deep is it? Answer in USD. Please round to one decimal.", "How deep is it?"),
        (
            "Answer the question: how deep is it? It is dark.",
            "Answer the question: how deep is it? It is dark.",
        ),
        ("Round tables of Arthur", "Round tables of Arthur"),
        ("Reply to the mail. Who wrote it?", "Who wrote it?"),
    ],
)
def test_sentences_that_say_how_to_answer_are_left_out(question: str, searched: str) -> None:
    assert searched_text(question) == searched


@given(st.text(st.sampled_from("abc ?.\n"), max_size=60))
def test_other_questions_are_searched_for_as_they_are(question: str) -> None:
    assert searched_text(question) == question


def test_keyword_search_finds_the_balance_sheet_for_a_quick_ratio(tmp_path: Path) -> None:
    documents = {"balance.md": _SHEET, "sales.md": "# Sales\n\nThe ratio of quick orders to others rose.\n"}
    for name, text in documents.items():
        (tmp_path / name).write_text(text)
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.build([tmp_path / name for name in documents])
        asked = {
            question: [hit.document for hit in engine.search(question, retrievers=["lexical"])]
            for question in ("What is the acid-test ratio?", "What is the ratio?")
        }
    assert asked == {
        "What is the acid-test ratio?": ["balance.md", "sales.md"],
        "What is the ratio?": ["sales.md"],
    }
