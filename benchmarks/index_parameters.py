"""Compares parameters of the vector indexes: recall against the exact result, search time and build time.

    cp -r joint-store copy
    python benchmarks/index_parameters.py --store copy --questions ../shared/data/wiki/squad_questions.jsonl
    python benchmarks/index_parameters.py --store bolt://localhost:7687 --questions ... --try connectivity=32

The store is changed (its indexes are rebuilt for each row) and restored at the end; use a copy. Seconds are processor
time of this process for a folder store, else wall-clock time. A folder store has an index only for labels with at least
65,536 nodes (``approximate_from``); here 20,000 suffice.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from trivium.datasets.questions import read_questions
from trivium.engine import Engine
from trivium.graph.arrays import label_vectors
from trivium.graph.factory import is_address
from trivium.graph.protocols import GraphStore
from trivium.graph.records import Vectors
from trivium.graph.schema import Label
from trivium.settings.index_parameters import IndexParameters, index_parameters

TRIED = (
    "",
    "connectivity=8",
    "connectivity=32",
    "expansion_add=64",
    "expansion_add=256",
    "expansion_search=128",
    "expansion_search=640",
    "connectivity=32,expansion_add=256,expansion_search=640",
    "quantized=false",
)
"""Parameters of each row; an empty string stands for the store's own."""
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
    parser.add_argument("--try", nargs="+", dest="tried", default=list(TRIED), metavar="NAME=VALUE[,...]")
    given = parser.parse_args()
    clock = time.perf_counter if is_address(given.store) else time.process_time
    label_vectors.APPROXIMATE_FROM = SMALLEST
    with Engine.open(given.store) as engine:
        asked = [question.text for file in given.questions for question in read_questions(file)]
        asked = asked[:: max(1, len(asked) // given.limit)]
        questions = [engine.embedder.embed_query(text) for text in asked]
        measure(engine.store, Label(given.label), questions, given.tried, clock)


def measure(
    store: GraphStore,
    label: Label,
    questions: Sequence[Vectors],
    tried: Sequence[str],
    clock: Callable[[], float],
) -> None:
    """Rebuild the indexes for each row, ask all questions, and print the results."""
    table = Table(f"{label}, {len(questions)} questions")
    for name in (*(f"found of {cutoff}" for cutoff in CUTOFFS), "ms a question", "s to make"):
        table.add_column(name, justify="right")
    own = store.index_parameters
    exact = [_nearest(store, label, question, exact=True) for question in questions]
    try:
        for text in tried:
            parameters = read(text)
            if is_address(store.location):
                parameters = parameters.of_server
            # The index is rebuilt for every row, even if the previous row had the same build parameters.
            store.set_index_parameters(parameters.model_copy(update={"expansion_add": 3}))
            store.refresh()
            store.set_index_parameters(parameters)
            begun = clock()
            store.refresh()
            made = clock() - begun
            _nearest(store, label, questions[0], exact=False)
            begun = clock()
            found = [_nearest(store, label, question, exact=False) for question in questions]
            took = (clock() - begun) / len(questions)
            shares = [
                np.mean([len({*a[:k]} & {*b[:k]}) / k for a, b in zip(exact, found, strict=True)])
                for k in CUTOFFS
            ]
            table.add_row(
                text or "as it is", *(f"{x:.4f}" for x in shares), f"{1000 * took:.2f}", f"{made:.1f}"
            )
    finally:
        store.set_index_parameters(own)
        store.refresh()
    Console(width=140).print(table)


def read(text: str) -> IndexParameters:
    """Parse parameters given as ``NAME=VALUE,NAME=VALUE``.

    >>> read("connectivity=8,quantized=false").stored()
    '{"connectivity": 8, "quantized": false}'
    """
    return index_parameters(**dict(part.split("=") for part in text.split(",") if part))


def _nearest(store: GraphStore, label: Label, question: Vectors, *, exact: bool) -> list[str]:
    return [one.uri for one in store.nearest([label], question, max(CUTOFFS), exact=exact)]


if __name__ == "__main__":
    main()
