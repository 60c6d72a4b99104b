"""Tables of rankings: dense search, BM25 and rerankers on a store and question files; and the ranks of follow-ups."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.conversation import compare as conversation
from experiments.papers.published import published
from experiments.papers.set_table import Row, Scores, SetTable
from trivium import Engine
from trivium.datasets.cross_validation import clusters
from trivium.datasets.questions import draw, read_questions
from trivium.errors import InputError
from trivium.evaluation.report import Report
from trivium.llm.registry import open_chat_model
from trivium.retrievers.setting_values import parse_assignments

TIMED = 40
"""Questions that are timed, after one that is not."""
SEED = 0


@dataclass(frozen=True, slots=True)
class Shape:
    """The systems of a table, and how many passages its rerankers see. ``measures`` are those of its columns."""

    measures: tuple[str, ...]
    retrievers: tuple[str, ...]
    rerankers: tuple[str, ...]
    passages: int


SHAPES = {
    "diffusion-5": Shape(
        ("ndcg@5", "ndcg@10", "ndcg@20", "mrr", "recall@5", "recall@10", "recall@20"),
        ("lexical", "vector"),
        ("diffusion",),
        50,
    ),
    "multimodal-7": Shape(
        ("map@20", "mrr", "ndcg@20", "precision@5", "precision@10", "precision@20"),
        ("vector",),
        ("diffusion",),
        20,
    ),
    "study-7.3": Shape(
        ("precision@5", "mrr"), ("vector",), ("bm25", "tfidf", "weighted:0.5", "diffusion"), 20
    ),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of these tables."""
    parser.add_argument("--store", help="Folder of the store, or bolt://HOST:PORT.")
    parser.add_argument(
        "--questions", type=Path, nargs="+", default=[], help="Question files, or BEIR folders."
    )
    parser.add_argument("--sample", type=int, help="Draw so many questions of each file.  [default: all]")
    parser.add_argument(
        "--rerank", nargs="+", default=[], help="More rerankers, such as cross-encoder:FOLDER."
    )
    parser.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE", help="Settings of retrievers.")
    parser.add_argument(
        "--run-in", type=Path, nargs="+", default=[], help="TREC runs of other systems to add."
    )


def tables(names: Sequence[str], given: argparse.Namespace) -> list[SetTable]:
    """Return the named tables of each question file. Raises InputError, and the errors of the search."""
    if not given.store or not given.questions:
        raise InputError(f"{' and '.join(names)}: expected --store STORE with --questions FILE...")
    for path in (*given.questions, *given.run_in):
        if not path.exists():
            raise InputError(f"expected a file, got {path}: there is none")
    if "study-7.3" in names and not any(one.startswith("cross-encoder") for one in given.rerank):
        print(
            "study-7.3: a cross-encoder is left out: it needs --rerank cross-encoder:FOLDER (an ONNX model), or"
            " cross-encoder:NAME and pip install 'trivium[fastembed]'",
            file=sys.stderr,
        )
    made = []
    with Engine.open(given.store, remembered_questions=0) as engine:
        for path in given.questions:
            questions = draw(read_questions(path), given.sample, SEED)
            for name in names:
                shape = SHAPES[name]
                rerankers = [*shape.rerankers, *given.rerank]
                settings = {"rerank.passages": shape.passages, **parse_assignments(given.set)}
                report = engine.evaluate(
                    questions,
                    list(shape.retrievers),
                    rerank=rerankers,
                    runs=given.run_in,
                    settings=settings,
                )
                for warning in report.warnings:
                    print(f"{name}, {path.stem}: {warning}", file=sys.stderr)
                if not report.traced.questions:
                    raise InputError(
                        f"{path}: expected questions whose right passages are in {given.store}, got none"
                    )
                after = [f"vector > {one}" for one in rerankers]
                times = timed(engine, report, rerankers, settings) if name == "multimodal-7" else {}
                shown = [*shape.retrievers, *after, *(one.stem for one in given.run_in)]
                made.append(of_report(name, path.stem, report, shown, times))
    return made


def of_report(
    name: str, about: str, report: Report, systems: Sequence[str], times: Mapping[str, float]
) -> SetTable:
    """Return a table of the ``systems`` of a report; the first column of milliseconds is of ``times``."""
    known = published(name)
    count = len(report.traced.questions)
    columns = dict(zip(known.columns, SHAPES[name].measures, strict=False))
    rows = []
    for system in systems:
        values = {column: report.rows[system].values[measure] for column, measure in columns.items()}
        values["ms"] = np.full(count, times.get(system, np.nan))
        rows.append(Row(system, "", values))
    cluster = clusters([report.traced.gold[one.id].pages for one in report.traced.questions])
    return SetTable(
        name,
        about,
        rows,
        cluster,
        known.columns,
        tuple(columns),
        known.figures,
        note=known.note,
        paper=known.paper,
    )


def timed(
    engine: Engine, report: Report, rerankers: Sequence[str], settings: Mapping[str, object]
) -> dict[str, float]:
    """Return the median milliseconds of a search, without and with each reranker, each question embedded anew."""
    spent: dict[str, list[float]] = {}
    for question in report.traced.questions[: TIMED + 1]:
        for reranker in (None, *rerankers):
            began = time.perf_counter()
            engine.search(question.text, 20, ["vector"], rerank=reranker, settings=settings)
            system = "vector" if reranker is None else f"vector > {reranker}"
            spent.setdefault(system, []).append(1000 * (time.perf_counter() - began))
    return {system: float(np.median(times[1:] or times)) for system, times in spent.items()}


def matches(arguments: Sequence[str]) -> list[SetTable]:
    """Return the cumulative matches of follow-ups, a table for each kind of question and one of all, by the options of
    the experiment ``conversation``.
    """
    given = conversation.parser().parse_args(arguments)
    known = published("cmc")
    depths = [int(column.removeprefix("@")) for column in known.columns]
    turns = conversation.turns_of(given)
    if given.model is not None:
        turns = conversation.leaning_sample(turns, given.sample)
    else:
        print("cmc: rewriting by a language model is left out: it needs --model NAME", file=sys.stderr)
    ranks: list[dict[str, float]] = []
    with Engine.open(given.store, remembered_questions=0) as engine:
        model = None if given.model is None else open_chat_model(given.model)
        for turn in turns:
            history = conversation.live(engine, turn) if given.live else turn.history
            found = conversation.searched(engine, turn, history, max(depths)).hits
            if model is not None:
                found |= conversation.rewritten(engine, model, turn, max(depths)).hits
            ranks.append({way: conversation.rank_of(turn, hits, max(depths)) for way, hits in found.items()})
    made = []
    for kind in dict.fromkeys((*(turn.kind for turn in turns), "all")):
        places = [n for n, turn in enumerate(turns) if kind in (turn.kind, "all")]
        rows = [Row(way, "", _matched(np.array([ranks[n][way] for n in places]), depths)) for way in ranks[0]]
        cluster = clusters([[turns[n].dialogue] for n in places])
        made.append(
            SetTable(
                "cmc",
                kind,
                rows,
                cluster,
                known.columns,
                known.columns,
                baseline="literal",
                note=known.note,
            )
        )
    return made


def _matched(ranks: Scores, depths: Sequence[int]) -> dict[str, Scores]:
    return {f"@{depth}": (ranks <= depth).astype(np.float64) for depth in depths}
