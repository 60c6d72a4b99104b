"""Compares embedders on long documents: one vector per document (truncated to the model's window), chunks, and late
chunking.

    python -m experiments.embedders.compare --make needle passkey --embedders bge-small minilm e5-small
    python -m experiments.embedders.compare --task LongEmbed/qmsum LongEmbed/narrativeqa --embedders openai:NAME
    python -m experiments.embedders.compare --store joint-store --questions ../shared/data/wiki/squad_questions.jsonl

A document is ranked by its best vector; the measures are recall and MRR at 1, 5, 10 and 25. ``--ways`` selects how
vectors are made: ``whole``, ``chunks:N`` and ``late:N`` (N tokens each, words and punctuation marks). ``--plot
FILE.svg`` plots recall@1 of tasks with several lengths; ``--runs FOLDER`` writes TREC runs of documents with judgements,
one folder per task, for ``trivium leaderboard FOLDER``. Late chunking needs an embedder with token vectors.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from experiments import command
from experiments.embedders.tasks import LENGTHS, MADE, Task, make_task, read_task, task_of_store
from trivium.chunking.split_by_length import by_tokens
from trivium.datasets.gold import Gold
from trivium.embedding.embedder import Embedder, Vectors
from trivium.embedding.late_chunking import TokenEmbedder, WholeText
from trivium.embedding.registry import open_embedder
from trivium.errors import InputError
from trivium.evaluation import ranking_measures as retrieval
from trivium.evaluation.trec_files import write_rankings

CUTOFFS = (1, 5, 10, 25)
MEASURES = tuple(f"{name}@{k}" for name in ("recall", "mrr") for k in CUTOFFS)
WAYS = ("whole", "chunks:200", "late:200")
_AT_ONCE = 16
"""Number of documents that are embedded together."""


@dataclass(frozen=True, slots=True)
class Row:
    """The result of one embedder, way and task; ``seconds`` is the processor time of all cores for the documents.
    ``rankings`` holds the first documents for each question.
    """

    task: str
    length: int
    embedder: str
    way: str
    questions: int
    vectors: int
    seconds: float
    measures: Mapping[str, float]
    rankings: Mapping[str, Sequence[str]] = field(default_factory=dict)


# -- ranking -----------------------------------------------------------------------------------------------------


def known_way(way: str) -> str:
    """Return a way. Raises InputError for an unknown one."""
    if not re.fullmatch(r"whole|(chunks|late):0*[1-9][0-9]*", way):
        raise InputError(f"expected whole, chunks:N or late:N, got {way!r}")
    return way


def document_vectors(embedder: Embedder, texts: Sequence[str], way: str) -> list[Vectors]:
    """Return the unit vectors (n x d) of each document. Raises InputError for an unknown way, or one that the embedder
    does not support.
    """
    kind, _, size = known_way(way).partition(":")
    if kind == "whole":
        return [vector[None, :] for vector in embedder.embed(texts)]
    spans = [by_tokens(text, int(size), 0) or [(0, len(text))] for text in texts]
    if kind == "late":
        if not isinstance(embedder, TokenEmbedder):
            raise InputError(f"{embedder.identity.name} gives no vectors of tokens: leave {way} out")
        whole = [WholeText("", text, tuple(own)) for text, own in zip(texts, spans, strict=True)]
        return embedder.embed_spans(whole)
    chunks = [text[start:end] for text, own in zip(texts, spans, strict=True) for start, end in own]
    vectors = embedder.embed(chunks)
    return np.split(vectors, np.cumsum([len(own) for own in spans])[:-1])


def rank(question: Vectors, documents: Mapping[str, Vectors]) -> list[str]:
    """Rank documents by the highest cosine of their vectors with a question's (d,); ties are broken by id."""
    best = {name: float((vectors @ question).max()) for name, vectors in documents.items()}
    return sorted(best, key=lambda name: (-best[name], name))


def values_of(
    rankings: Mapping[str, Sequence[str]], gold: Mapping[str, frozenset[str]]
) -> dict[str, NDArray[np.float64]]:
    """Return for each question the share of gold documents in the first k, and the reciprocal rank of the first one."""
    judged = [Gold.of([name] for name in gold[question]) for question in rankings]
    values = retrieval.measure(judged, list(rankings.values()), CUTOFFS)
    return {name: values[name] for name in MEASURES}


def measure(rankings: Mapping[str, Sequence[str]], gold: Mapping[str, frozenset[str]]) -> dict[str, float]:
    """Return the means over the questions."""
    return {name: float(values.mean()) for name, values in values_of(rankings, gold).items()}


def compare(
    task: Task, embedder: Embedder, way: str, progress: Callable[[range], Sequence[int]] = list
) -> Row:
    """Embed the documents of a task one way, and rank them for its questions."""
    names = list(task.documents)
    documents: dict[str, Vectors] = {}
    started = time.process_time()
    for first in progress(range(0, len(names), _AT_ONCE)):
        part = names[first : first + _AT_ONCE]
        vectors = document_vectors(embedder, [task.documents[name] for name in part], way)
        documents.update(zip(part, vectors, strict=True))
    seconds = time.process_time() - started
    rankings = {
        key: rank(embedder.embed_query(text), documents)[: max(CUTOFFS)]
        for key, text in task.questions.items()
    }
    count = sum(map(len, documents.values()))
    figures = measure(rankings, task.gold)
    return Row(
        task.name,
        task.length,
        embedder.identity.name,
        way,
        len(rankings),
        count,
        round(seconds, 1),
        figures,
        rankings,
    )


def keep_runs(rows: Sequence[Row], tasks: Sequence[Task], folder: Path) -> None:
    """Write the runs and judgements of each task into a folder of its own; a score is 1 / rank."""
    for task in tasks:
        own = [row for row in rows if (row.task, row.length) == (task.name, task.length)]
        if not own:
            continue
        ranked = {
            f"{row.embedder}, {row.way}": [
                [(name, 1.0 / place) for place, name in enumerate(row.rankings[key], start=1)]
                for key in task.questions
            ]
            for row in own
        }
        gold = {key: Gold.of([name] for name in sorted(task.gold[key])) for key in task.questions}
        write_rankings(gold, ranked, folder / (f"{task.name}-{task.length}" if task.length else task.name))


# -- printing ----------------------------------------------------------------------------------------------------


def table(rows: Sequence[Row]) -> str:
    """Return all rows as a Markdown table; the last ones are means over tasks, in which a task with several lengths
    counts once.
    """
    head = ["task", "embedder", "way", "questions", "vectors", "seconds"]
    told = [" / ".join(f"@{k}" for k in CUTOFFS)]
    lines = [f"| {' | '.join(head)} | recall {told[0]} | MRR {told[0]} |", "|" + "---|" * (len(head) + 2)]
    for row in rows:
        name = f"{row.task} {row.length:,}" if row.length else row.task
        own = [name, row.embedder, row.way, row.questions, f"{row.vectors:,}", f"{row.seconds:,.0f}"]
        lines.append(f"| {' | '.join(map(str, own))} | {_figures(row.measures)} |")
    systems = dict.fromkeys((row.embedder, row.way) for row in rows)
    for embedder, way in systems:
        means = mean_over_tasks([row for row in rows if (row.embedder, row.way) == (embedder, way)])
        lines.append(f"| **mean** | {embedder} | {way} | | | | {_figures(means)} |")
    return "\n".join(lines)


def mean_over_tasks(rows: Sequence[Row]) -> dict[str, float]:
    """Return the mean of each measure over tasks; a task with several lengths is represented by the mean over these."""
    tasks = dict.fromkeys(row.task for row in rows)
    of_task = [[row.measures for row in rows if row.task == task] for task in tasks]
    return {
        name: float(np.mean([np.mean([each[name] for each in own]) for own in of_task])) for name in MEASURES
    }


def _figures(measures: Mapping[str, float]) -> str:
    groups = [
        " / ".join(f"{measures[f'{name}@{k}']:.3f}".lstrip("0") for k in CUTOFFS)
        for name in ("recall", "mrr")
    ]
    return " | ".join(groups)


COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""The Okabe-Ito palette, which colour-blind readers can tell apart."""


def plot(rows: Sequence[Row], file: Path) -> None:
    """Plot recall@1 against document length, one panel per task with several lengths. Raises InputError if there is
    none. Needs matplotlib (``pip install matplotlib``).
    """
    from matplotlib.figure import Figure

    tasks = [task for task in dict.fromkeys(row.task for row in rows) if len(_lengths(rows, task)) > 1]
    if not tasks:
        raise InputError("expected a task of several lengths to draw")
    figure = Figure(figsize=(4.5 * len(tasks), 3.6), layout="constrained")
    panels = figure.subplots(1, len(tasks), sharey=True, squeeze=False)[0]
    ways = list(dict.fromkeys(row.way for row in rows))
    embedders = list(dict.fromkeys(row.embedder for row in rows))
    for panel, task in zip(panels, tasks, strict=True):
        for embedder in embedders:
            for way in ways:
                own = [row for row in rows if (row.task, row.embedder, row.way) == (task, embedder, way)]
                if own:
                    panel.plot(
                        [row.length for row in own],
                        [row.measures["recall@1"] for row in own],
                        color=COLOURS[embedders.index(embedder) % len(COLOURS)],
                        linestyle=("-", "--", ":", "-.")[ways.index(way) % 4],
                        marker=".",
                        label=f"{embedder}, {way}",
                    )
        panel.set(title=task, xscale="log", ylim=(0, 1.02), xlabel="tokens of a document")
        panel.set_xticks(
            _lengths(rows, task), [f"{length:,}" for length in _lengths(rows, task)], rotation=60
        )
    panels[0].set_ylabel("recall@1")
    panels[-1].legend(fontsize=7)
    figure.savefig(file)


def _lengths(rows: Sequence[Row], task: str) -> list[int]:
    return sorted({row.length for row in rows if row.task == task})


def parser() -> command.Parser:
    """Return the parser of the command line."""
    parser = command.Parser(__doc__, takes="minutes to hours, by the length of the documents")
    parser.add_argument(
        "--task", nargs="*", type=command.existing, default=[], help="folders with LongEmbed's files"
    )
    parser.add_argument("--make", nargs="*", choices=MADE, default=[], help="generated tasks")
    parser.add_argument(
        "--lengths",
        nargs="*",
        type=int,
        default=list(LENGTHS),
        help="lengths of the generated tasks, in tokens",
    )
    parser.add_argument("--documents", type=int, default=50, help="number of documents per length")
    parser.add_argument(
        "--store", type=command.store, help="a store whose pages are the documents of --questions"
    )
    parser.add_argument(
        "--questions", nargs="*", type=command.existing, default=[], help="question files for that store"
    )
    parser.add_argument(
        "--sample", type=int, default=300, help="maximum number of questions per file (seed 0)"
    )
    parser.add_argument("--embedders", nargs="+", default=["bge-small", "minilm"])
    parser.add_argument("--ways", nargs="+", default=list(WAYS), help="whole, chunks:N, late:N")
    parser.add_argument("--plot", type=command.output)
    parser.add_argument("--runs", type=Path, help="folder for TREC runs and judgements")
    parser.add_argument(
        "--json", action="store_true", help="print each row as a line of JSON once it is done"
    )
    return parser


def checked(options: argparse.Namespace) -> list[Task]:
    """Return the tasks that the options name, once all is there that they need."""
    tasks = [task for folder in options.task for task in read_task(folder)]
    tasks += [make_task(name, n, options.documents) for name in options.make for n in options.lengths]
    tasks += [task_of_store(options.store, file, options.sample) for file in options.questions]
    if not tasks:
        parser().error("name tasks: --task, --make, or --store with --questions")
    for way in options.ways:
        known_way(way)
    if options.plot is not None:
        parser().need(["matplotlib"])
    for name in options.embedders:
        open_embedder(name).close()  # is it there?
    return tasks


def ask(tasks: Sequence[Task], options: argparse.Namespace, rows: list[Row]) -> None:
    """Add a row for each embedder, task and way. With ``options.json`` each is printed once it is done."""
    bar = Console(stderr=True)
    for name in options.embedders:
        embedder = open_embedder(name)
        for task in tasks:
            for way in options.ways:
                what = f"{name}, {way}, {task.name} {task.length or ''}"

                def progress(steps: range, what: str = what) -> Sequence[int]:
                    return list(steps) if options.json else track(steps, what, console=bar)  # type: ignore[return-value]

                rows.append(compare(task, embedder, way, progress))
                if options.json:
                    print(json.dumps(_as_json(rows[-1])), flush=True)
        embedder.close()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    options = parser().parse_args(arguments)
    tasks = checked(options)
    rows: list[Row] = []
    try:
        ask(tasks, options, rows)
    finally:  # what is done is kept when it is interrupted
        if rows and not options.json:
            print(table(rows))
        if options.runs is not None:
            keep_runs(rows, tasks, options.runs)
    if options.plot is not None:
        plot(rows, options.plot)


def _as_json(row: Row) -> dict[str, object]:
    own = {name: getattr(row, name) for name in Row.__slots__ if name not in ("measures", "rankings")}
    return own | {name: round(value, 4) for name, value in row.measures.items()}


if __name__ == "__main__":
    command.run(main)
