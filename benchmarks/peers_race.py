"""Systems asked the same questions in turn: who answers what, and how long it takes."""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import trivium
from trivium.datasets.gold import Traced
from trivium.datasets.questions import read_questions
from trivium.evaluation.report import Ranking, Report
from trivium.evaluation.run import evaluate
from trivium.fusion.folds import read_folds
from trivium.types import Question

SHOWN = {"hit@1": "hit@1", "hit@3": "hit@3", "hit@5": "hit@5", "mrr": "MRR"}
"""Measures of the report -> how the table calls them."""
SIGNIFICANT = 0.05
T = TypeVar("T")


class RefusedError(Exception):
    """A system could not make anything of a question."""


@dataclass(frozen=True, slots=True)
class System:
    """Something that answers questions. ``ask`` returns chunk uris with scores, best first, or raises RefusedError.
    What is not ``judged`` is only timed."""

    name: str
    ask: Callable[[str], Ranking]
    judged: bool = True


@dataclass(slots=True)
class Answers:
    """What a system answered and how many seconds each answer took, in the order of the questions. A question it
    refused has an empty ranking."""

    rankings: list[Ranking] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def milliseconds(self, quantile: float) -> float:
        """So many milliseconds, or fewer, took this share of the answers."""
        return 1000 * float(np.quantile(self.seconds, quantile))


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question set: what was asked, how good the answers are, and what they took."""

    title: str
    report: Report
    answers: Mapping[str, Answers]


def add_folds(parser: argparse.ArgumentParser) -> None:
    """The option whose value :func:`default_search` takes."""
    parser.add_argument(
        "--folds",
        type=Path,
        help="Networks of folds that were trained on these questions (trivium train --keep-folds): Trivium's default asks"
        " each question with one that has not seen its pages.",
    )


def default_search(
    engine: trivium.Engine, k: int, folds: Path | None, files: Sequence[Path]
) -> tuple[str, Callable[[str], Ranking]]:
    """The name and the search of Trivium's default: with the network that ships, which may have learnt from the
    questions, or, where the networks of ``folds`` are given, for each question with one that has not seen its pages."""
    if folds is None:
        return "Trivium, default", lambda text: ranking(engine.search(text, k))
    networks = read_folds(folds)
    ids = {question.text: question.id for file in files for question in read_questions(file)}

    def ask(text: str) -> Ranking:
        fusion = networks.fusion_for(ids[text]) if text in ids else folds / "1"  # a text to warm up with
        return ranking(engine.search(text, k, fusion=str(fusion)))

    return "Trivium, default out of fold", ask


def ranking(hits: Sequence[trivium.Hit]) -> Ranking:
    """Chunks with scores."""
    return [(hit.uri, hit.score) for hit in hits]


def sample(questions: Sequence[T], limit: int, seed: int) -> list[T]:
    """At most ``limit`` of them, drawn without replacement, in their own order."""
    if limit >= len(questions):
        return list(questions)
    drawn = random.Random(seed).sample(range(len(questions)), limit)
    return [questions[place] for place in sorted(drawn)]


def warm_up(systems: Sequence[System], texts: Sequence[str]) -> None:
    """Ask every system the texts with their words in reverse: the same work for indexes and caches of pages, but
    another vector, so that nobody remembers an answer when the questions come."""
    for text in texts:
        for system in systems:
            _answer(system, " ".join(reversed(text.split())), Answers())


def race(systems: Sequence[System], texts: Sequence[str], seed: int) -> dict[str, Answers]:
    """Ask each question of all systems, in an order shuffled anew for each question, before the next one: what else
    the machine does hits all alike, and nobody always finds the pages that another has just read."""
    answers = {system.name: Answers() for system in systems}
    shuffled = random.Random(seed)
    for text in texts:
        for system in shuffled.sample(systems, len(systems)):
            _answer(system, text, answers[system.name])
    return answers


def _answer(system: System, text: str, answers: Answers) -> None:
    found: Ranking = ()
    started = time.perf_counter()
    try:
        found = system.ask(text)
    except RefusedError as refusal:
        answers.refused.append(str(refusal))
    answers.seconds.append(time.perf_counter() - started)
    answers.rankings.append(found)


def judge(
    title: str,
    systems: Sequence[System],
    questions: Sequence[Question],
    traced: Traced,
    answers: Mapping[str, Answers],
) -> Outcome:
    """Measure the answers to some of the traced questions. Systems are compared with the first one."""
    asked = Traced(tuple(questions), {question.id: traced.gold[question.id] for question in questions})
    rankings = {system.name: answers[system.name].rankings for system in systems if system.judged}
    return Outcome(title, evaluate(questions, asked, rankings), answers)


def table(outcome: Outcome) -> str:
    """A row a system, in Markdown. A star marks a measure in which it differs significantly from the first one."""
    report = outcome.report
    differs = {(c.row, c.measure) for c in report.comparisons if c.p < SIGNIFICANT}
    rows = [["", *SHOWN.values(), "median ms", "p95 ms"], ["---", *["---:"] * (len(SHOWN) + 2)]]
    for name, answers in outcome.answers.items():
        means = report.rows[name].means if name in report.rows else None
        cells = [
            "" if means is None else f"{means[measure]:.3f}" + ("*" if (name, measure) in differs else "")
            for measure in SHOWN
        ]
        rows.append([name, *cells, f"{answers.milliseconds(0.5):.1f}", f"{answers.milliseconds(0.95):.1f}"])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def to_json(outcome: Outcome) -> dict[str, Any]:
    """The outcome as plain JSON values: the report, and for each system its milliseconds and refusals."""
    return {
        "title": outcome.title,
        **outcome.report.to_json(),
        "latency": {
            name: {
                "median_ms": answers.milliseconds(0.5),
                "p95_ms": answers.milliseconds(0.95),
                "refused": answers.refused,
            }
            for name, answers in outcome.answers.items()
        },
    }
