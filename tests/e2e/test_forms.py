"""An answer from a table is shown as a table, steps as steps and code as code, through every door but the page's, whose
tests are in ``tests/browser``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Run
from tests.form_files import BOATS, CODE, CODED, FILES, HEADS, LIST, ROW, ROWS, STEPS
from tests.integrations.mcp_client import Call, connected, text
from trivium.engine import Engine
from trivium.integrations.langchain import TriviumAnswerer

MARKDOWN = {
    ROW: "| Course | Duration | Price |  |\n| --- | --- | --- | --- |\n| Night sailing | 3 evenings | 180 euros | [1] |",
    ROWS: "\n".join(
        f"| {' | '.join(row)} |"
        for row in [[*HEADS, ""], ["---"] * 9, [*BOATS[1], "[1]"], [*BOATS[2], "[1]"]]
    ),
    LIST: "Skipper guide: How to lay up a boat for the winter: [1]  \n" + "  \n".join(STEPS) + " [2]",
    CODED: f"Book a berth from a terminal:\n\n```\n{CODE}\n```\n\n[1]",
}
"""What each question is answered with."""


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("forms") / "store"
    with Engine.create(store, "minilm") as engine:
        engine.add_files(FILES, workers=1)
    return store


@pytest.fixture(scope="module")
def call(forms: Path) -> Iterator[Call]:
    with connected(forms) as call:
        yield call


@pytest.mark.parametrize("question", MARKDOWN)
def test_programs_get_markdown(forms: Path, call: Call, question: str) -> None:
    """MCP as the answer's text, JSON and LangChain as a field beside it."""
    assert f"<answer>\n{MARKDOWN[question]}\n</answer>" in text(call("ask", question=question))
    with Engine.open(forms) as engine:
        answer = TriviumAnswerer.from_engine(engine).invoke(question)
    assert answer["markdown"] == MARKDOWN[question] and answer["answer"] != MARKDOWN[question]


def test_a_terminal_shows_each_form(trivium_process: Run, forms: Path) -> None:
    """A row below its name, several in columns, steps line by line, and code without citations in it."""

    def shown(question: str) -> list[str]:
        answer = trivium_process("ask", question, "--store", forms)  # it has the width of its terminal
        return [line.rstrip() for line in answer.out.splitlines()[1:]]

    assert shown(ROW)[:3] == ["Course    Night sailing", "Duration  3 evenings", "Price     180 euros"]
    assert [line.split()[0] for line in shown(ROWS)[:3]] == ["Boat", "Sarcelle", "Foulque"]
    assert shown(LIST)[1:6] == [*STEPS[:4], f"{STEPS[4]} [2]"]
    assert shown(CODED)[:4] == ["Book a berth from a terminal:", *CODE.splitlines()]
