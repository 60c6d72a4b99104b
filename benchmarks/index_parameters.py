"""Compares sizes of the candidate list of a search in a vector index: recall against the exact result and search time.

    cp -r joint-store copy
    python benchmarks/index_parameters.py --store copy --questions ../shared/data/wiki/squad_questions.jsonl

The store is changed, and restored at the end; use a copy. Seconds are processor time of this process. A store has an
index only for labels with at least 65,536 nodes (``approximate_from``); here 20,000 suffice.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from trivium.datasets.questions import read_questions
from trivium.engine import Engine
from trivium.graph.arrays import label_vectors
from trivium.graph.protocols import GraphStore
from trivium.graph.records import Vectors
from trivium.graph.schema import Label
from trivium.settings.index_parameters import IndexParameters

TRIED = (None, 128, 640)
"""``expansion_search`` of each row; None stands for the default."""
SMALLEST = 20_000
"""Number of nodes from which a label has an index here."""
CUTOFFS = (10, 100)


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", required=True, help="A copy of a store; it is changed.")
    parser.add_argument("--questions", type=Path, nargs="+", required=True)
    parser.add_argument("--label", choices=[str(label) for label in Label], default=str(Label.ENTITY))
    parser.add_argument(
        "--limit", type=int, default=300, help="Number of questions, spread evenly over the files."
    )
    parser.add_argument("--try", nargs="+", dest="tried", type=int, default=list(TRIED), metavar="SIZE")
    given = parser.parse_args()
    label_vectors.APPROXIMATE_FROM = SMALLEST
    with Engine.open(given.store) as engine:
        asked = [question.text for file in given.questions for question in read_questions(file)]
        asked = asked[:: max(1, len(asked) // given.limit)]
        questions = [engine.embedder.embed_query(text) for text in asked]
        measure(engine.store, Label(given.label), questions, given.tried)


def measure(
    store: GraphStore, label: Label, questions: Sequence[Vectors], tried: Sequence[int | None]
) -> None:
    """Ask all questions for each row, and print the results."""
    table = Table(f"{label}, {len(questions)} questions")
    for name in (*(f"found of {cutoff}" for cutoff in CUTOFFS), "ms a question"):
        table.add_column(name, justify="right")
    own = store.index_parameters
    exact = [_nearest(store, label, question, exact=True) for question in questions]
    try:
        for size in tried:
            store.set_index_parameters(IndexParameters(expansion_search=size))
            store.refresh()
            _nearest(store, label, questions[0], exact=False)
            begun = time.process_time()
            found = [_nearest(store, label, question, exact=False) for question in questions]
            took = (time.process_time() - begun) / len(questions)
            shares = [
                np.mean([len({*a[:k]} & {*b[:k]}) / k for a, b in zip(exact, found, strict=True)])
                for k in CUTOFFS
            ]
            table.add_row(str(size or "as it is"), *(f"{x:.4f}" for x in shares), f"{1000 * took:.2f}")
    finally:
        store.set_index_parameters(own)
        store.refresh()
    Console(width=140).print(table)


def _nearest(store: GraphStore, label: Label, question: Vectors, *, exact: bool) -> list[str]:
    return [one.uri for one in store.nearest([label], question, max(CUTOFFS), exact=exact)]


if __name__ == "__main__":
    main()
