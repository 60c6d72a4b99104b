"""Measures what is done to a question before it is searched for (``trivium/search/searched_text.py``).

    python experiments/fusion/searched_text.py ../shared/data/pdf/financebench_questions.jsonl=filings tatqa.jsonl=tatqa

Each argument is a file of questions and the store of their documents. Measured are the questions that one of the rows
changes, as they are asked and changed: without sentences that say how to answer; with the lines that figures of financial
analysis are calculated from; both, which is what a search does; and both with the figures that reports state themselves,
too. Prints hit@1/hit@5 of the default and of ``convex``, and how often the first passage is of a right document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from unittest.mock import patch

import trivium
from experiments import command
from trivium.datasets.questions import read_questions
from trivium.evaluation.tables import grid, share
from trivium.search import searched_text as ours

STATED = {
    "gross margin": "statement of income: net sales, cost of sales, gross profit",
    "operating margin": "statement of income: revenue, operating income",
    "net profit margin": "statement of income: revenue, net income",
    "EBITDA": "statement of income: operating income; statement of cash flows: depreciation and amortization",
    "effective tax rate": "statement of income: provision for income taxes, income before income taxes",
    "EPS": "statement of income: earnings per share, basic and diluted",
    "free cash flow": "statement of cash flows: net cash provided by operating activities, purchases of property, plant"
    " and equipment",
    "capital expenditures": "statement of cash flows: purchases of property, plant and equipment",
}
"""Figures that reports state, written in the same way as those of :mod:`trivium.search.searched_text`."""


def _with_stated(question: str) -> str:
    for name, meaning in STATED.items():
        question = re.sub(rf"\b{name}\b", f"{name} ({meaning})", question, count=1, flags=re.IGNORECASE)
    return question


ROWS: Mapping[str, Callable[[str], str]] = {
    "as asked": lambda question: question,
    "without instructions": ours._without_instructions,
    "with lines of figures": ours._with_lines,
    "both (a search)": ours.searched_text,
    "and figures that reports state": lambda question: _with_stated(ours.searched_text(question)),
}


def main() -> None:
    """Print a table per set."""
    parser = command.Parser(__doc__, takes="a minute for a hundred questions")
    parser.add_argument("sets", nargs="+", type=command.hits_and_store, metavar="QUESTIONS=STORE")
    for path, store in parser.parse_args().sets:
        print(f"\n{path.stem}: {measured(path, store)}", flush=True)


def measured(path: Path, store: str) -> str:
    """A table with a line for each of :data:`ROWS`."""
    asked = read_questions(path)
    changed = [one for one in asked if any(change(one.text) != one.text for change in ROWS.values())]
    lines = []
    with trivium.Engine.open(store) as engine:
        for name, change in ROWS.items():
            with patch("trivium.search.searcher.searched_text", change):
                found = engine.evaluate(changed, fusions=["default", "convex"]).rows
                first = engine.evaluate(changed, fusions=["default"], documents="best").rows["default"]
            passages = [
                "/".join(share(found[one].means[measure]) for measure in ("hit@1", "hit@5"))
                for one in ("default", "convex")
            ]
            lines.append([name, *passages, share(first.means["hit@1"])])
    head = ["searched for", "default", "convex", "right document first"]
    return f"{len(changed)} of {len(asked)} questions change\n{grid(head, lines)}"


if __name__ == "__main__":
    command.run(main)
