"""Time whole searches on a store, and its parts, question by question.

    python benchmarks/search_latency.py --store joint-store --questions ../shared/data/nq/earth_questions.jsonl

Prints the median and the 90th percentile in milliseconds of: embedding the question, each retriever alone (on a
fresh question, so that nothing is shared), and a fused search with all eight, embedding included.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import trivium
from trivium.datasets.questions import read_questions
from trivium.retrievers.base import Query
from trivium.retrievers.registry import make_retrievers
from trivium.search.candidates import DEPTH


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--sample", type=int, default=100, help="How many questions (default 100).")
    given = parser.parse_args()
    questions = read_questions(given.questions)
    step = max(1, len(questions) // given.sample)
    texts = [question.text for question in questions[::step]][: given.sample]
    with trivium.Engine.open(given.store) as engine:
        rows = measure(engine, texts)
        info = engine.info()
    grid = Table(title=f"{info.nodes['Chunk']:,} chunks, {len(texts)} questions, milliseconds")
    for column in ("", "median", "p90"):
        grid.add_column(column, justify="right" if column else "left")
    for name, seconds in rows.items():
        grid.add_row(name, f"{1000 * np.median(seconds):.2f}", f"{1000 * np.quantile(seconds, 0.9):.2f}")
    Console().print(grid)


def measure(engine: trivium.Engine, texts: list[str]) -> dict[str, list[float]]:
    """Seconds a question for every part."""
    vectors = {text: engine.embedder.embed_query(text) for text in texts}
    rows: dict[str, list[float]] = {"embedding": _time(engine.embedder.embed_query, texts)}
    for name, retriever in make_retrievers().items():

        def ask(text: str, retriever: object = retriever) -> None:
            retriever.retrieve(Query(text, vectors[text], engine.store), DEPTH)  # type: ignore[attr-defined]

        rows[name] = _time(ask, texts)
    rows["fused search, all eight"] = _time(lambda text: engine.search(text, k=10), texts)
    return rows


def _time(call: Callable[[str], object], texts: list[str]) -> list[float]:
    for text in texts[:10]:
        call(text)
    seconds = []
    for text in texts:
        started = time.perf_counter()
        call(text)
        seconds.append(time.perf_counter() - started)
    return seconds


if __name__ == "__main__":
    main()
