"""Measures the latency of a search relative to embedding its question, on one store, in one process.

    python benchmarks/search_latency.py --store joint-store --questions ../shared/data/nq/earth_questions.jsonl

Embedding a question and a default search (all eight retrievers, embedding included, without explanation) alternate,
each with another question, so that both run under the same conditions and neither profits from caches. Prints the
median and the 95th percentile of both, in wall-clock time and in processor time of all threads (which other load hardly
affects), and the ratio of the medians; then the stages of a search, two of which may run concurrently, and the
questions per second one by one and in batches (``search_many``). ``--retrievers`` adds each retriever alone, on
questions that are already embedded.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import trivium
from experiments import command
from trivium.datasets.questions import read_questions
from trivium.retrievers.query import Query
from trivium.retrievers.registry import make_retrievers
from trivium.search.candidates import DEPTH
from trivium.search.stage_timing import STAGES, StageEnded

Seconds = NDArray[np.float64]
Times = NDArray[np.float64]
"""Seconds of wall-clock and of processor time (questions x 2)."""
WARM_UP = 10
BATCH = 32


def main() -> None:
    """Run the benchmark and print the results."""
    parser = command.Parser(__doc__, takes="a minute")
    parser.add_argument("--store", type=command.store, required=True)
    parser.add_argument("--questions", type=command.existing, required=True)
    parser.add_argument("--sample", type=int, default=300, help="Number of questions (default 300).")
    parser.add_argument("--retrievers", action="store_true", help="Also time each retriever alone.")
    given = parser.parse_args()
    questions = read_questions(given.questions)
    step = max(1, len(questions) // given.sample)
    texts = list(dict.fromkeys(question.text for question in questions[::step]))[: given.sample]
    stages = _Stages()
    with trivium.Engine.open(given.store, on_stage=stages.add, remembered_questions=0) as engine:
        embedding, searching = interleaved(engine, texts)
        parts = stages.searches()
        single, batched = _throughput(engine, texts)
        alone = _each_retriever(engine, texts) if given.retrievers else {}
        chunks = engine.info().nodes["Chunk"]
    _print(
        f"{chunks:,} chunks, {len(embedding)} questions, ms",
        {
            "embedding": embedding[:, 0],
            "  of the processor": embedding[:, 1],
            "search": searching[:, 0],
            "  of the processor ": searching[:, 1],
        },
    )
    _print("stages of a search, ms", parts)
    if alone:
        _print("each retriever by itself, ms", alone)
    clock, processor = np.median(searching, axis=0) / np.median(embedding, axis=0)
    late = np.quantile(searching, 0.95, axis=0) / np.median(searching, axis=0)
    print(f"search / embedding, medians: {clock:.2f} by the clock, {processor:.2f} of the processor")
    print(f"p95 / median of a search: {late[0]:.2f} by the clock, {late[1]:.2f} of the processor")
    print(
        f"one by one {single:.1f} questions a second of the processor, in batches of {BATCH} {batched:.1f}:"
        f" {batched / single:.2f} times"
    )


def interleaved(engine: trivium.Engine, texts: Sequence[str]) -> tuple[Times, Times]:
    """Return the times of embedding a question, and of a search for another one."""
    embedding, searching = [], []
    for text, other in zip(texts, [*texts[1:], texts[0]], strict=True):
        embedding.append(_times(engine.embedder.embed_query, text))
        searching.append(_times(engine.search, other))
    warm_up = min(WARM_UP, len(texts) // 2)
    return np.array(embedding[warm_up:]), np.array(searching[warm_up:])


def _throughput(engine: trivium.Engine, texts: Sequence[str]) -> tuple[float, float]:
    """Return the questions per second of processor time, one by one and in batches, which alternate in coming first."""
    ways: list[Callable[[list[str]], object]] = [
        lambda some: [engine.search(text) for text in some],
        engine.search_many,
    ]
    spent = [0.0, 0.0]
    for number, begin in enumerate(range(0, len(texts), BATCH)):
        batch = list(texts[begin : begin + BATCH])
        for way in (0, 1) if number % 2 else (1, 0):
            started = time.process_time()
            ways[way](batch)
            spent[way] += time.process_time() - started
    return len(texts) / spent[0], len(texts) / spent[1]


def _each_retriever(engine: trivium.Engine, texts: Sequence[str]) -> dict[str, Seconds]:
    """Return the times of each retriever alone, each on new questions, so that nothing is cached."""
    vectors = {text: engine.embedder.embed_query(text) for text in texts}
    rows = {}
    for name, retriever in make_retrievers().items():

        def ask(text: str, retriever: object = retriever) -> None:
            retriever.retrieve(Query(text, vectors[text], engine.store), DEPTH)  # type: ignore[attr-defined]

        rows[name] = np.array([_times(ask, text) for text in texts])[:, 0]
    return rows


class _Stages:
    """Adds up the stages of each search. The stage ``fetch`` ends a search."""

    def __init__(self) -> None:
        self._searches: list[dict[str, float]] = []
        self._under_way: defaultdict[str, float] = defaultdict(float)

    def add(self, ended: StageEnded) -> None:
        self._under_way[ended.stage] += ended.seconds
        if ended.stage in ("retrieve", "score"):
            self._under_way[f"  {ended.stage} {ended.retriever}"] += ended.seconds
        if ended.stage == STAGES[-1]:
            self._searches.append(dict(self._under_way))
            self._under_way.clear()

    def searches(self) -> dict[str, Seconds]:
        """Return the seconds of each search so far, by stage and, within ``retrieve`` and ``score``, by retriever."""
        kept = self._searches[WARM_UP:]
        names = [name for stage in STAGES for name in kept[0] if name.split()[0] == stage]
        return {name: np.array([search.get(name, 0.0) for search in kept]) for name in names}


def _times(call: Callable[..., object], argument: object) -> tuple[float, float]:
    clock, processor = time.perf_counter(), time.process_time()
    call(argument)
    return time.perf_counter() - clock, time.process_time() - processor


def _print(title: str, rows: dict[str, Seconds]) -> None:
    grid = Table(title=title)
    for column in ("", "median", "p95"):
        grid.add_column(column, justify="right" if column else "left")
    for name, seconds in rows.items():
        grid.add_row(name, f"{1000 * np.median(seconds):.2f}", f"{1000 * np.quantile(seconds, 0.95):.2f}")
    Console().print(grid)


if __name__ == "__main__":
    command.run(main)
