"""Measures how many questions a second are answered one by one, as a batch, and as a batch shared by processes.

    python benchmarks/batches.py --store joint-store --questions ../shared/data/wiki/squad_questions.jsonl --processes 2

The three ways take turns, each with questions that were not asked before (until there are no more), by the clock: threads
and processes compete for the same cores. Vectors of questions are not remembered. Before that, batches get enough
questions that embedders have loaded their second session, which embeds several short texts together. Prints the median
of each way, and how many times as many questions a second a batch answers in the same turn: median, least and most.
"""

from __future__ import annotations

import time
from itertools import cycle, islice

import numpy as np
from rich.console import Console
from rich.table import Table

import trivium
from experiments import command
from trivium.common.idle_cores import available_cores
from trivium.datasets.questions import read_questions

WARM_UP = 64
"""Different questions for each way before it is measured; processes start with them."""
AGAIN = 20
"""How often batches have them, for each process: its embedder loads a second session after 1,000 short texts."""


def main() -> None:
    """Run the benchmark and print the results."""
    parser = command.Parser(__doc__, takes="a minute or two")
    parser.add_argument("--store", type=command.store, required=True)
    parser.add_argument("--questions", type=command.existing, required=True)
    parser.add_argument("--processes", type=int, default=available_cores(), help="Default: one a core.")
    parser.add_argument("--batch", type=int, default=512, help="Questions of a batch (default 512).")
    parser.add_argument("--turns", type=int, default=5, help="Batches for each way (default 5).")
    given = parser.parse_args()
    texts = cycle(dict.fromkeys(question.text for question in read_questions(given.questions)))
    with trivium.Engine.open(given.store, remembered_questions=0) as engine:
        ways = {
            "one by one": lambda some: [engine.search(text) for text in some],
            "as a batch": engine.search_many,
            f"by {given.processes} processes": lambda some: engine.search_many(
                some, processes=given.processes
            ),
        }
        rates = np.empty((given.turns, len(ways)))
        for answer, processes in zip(ways.values(), (0, 1, given.processes), strict=True):
            answer(list(islice(texts, WARM_UP)) * max(1, AGAIN * processes))
        for turn in range(given.turns):
            for place, answer in enumerate(ways.values()):
                some = list(islice(texts, given.batch))
                begun = time.perf_counter()
                answer(some)
                rates[turn, place] = len(some) / (time.perf_counter() - begun)
        chunks = engine.info().nodes["Chunk"]
    grid = Table(title=f"{chunks:,} chunks, batches of {given.batch}")
    for column in ("", "questions a second", "times one by one", "from", "to"):
        grid.add_column(column, justify="right" if column else "left")
    times = rates / rates[:, :1]
    for place, name in enumerate(ways):
        own = times[:, place]
        numbers = (np.median(own), own.min(), own.max())
        grid.add_row(name, f"{np.median(rates[:, place]):.0f}", *(f"{number:.2f}" for number in numbers))
    Console().print(grid)


if __name__ == "__main__":
    command.run(main)
