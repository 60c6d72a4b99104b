"""Asks several systems the same questions in turn and records answers and latencies."""

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
from trivium.fusion.fold_networks import read_folds
from trivium.types import Question

SHOWN = {"hit@1": "hit@1", "hit@3": "hit@3", "hit@5": "hit@5", "mrr": "MRR"}
"""Measures of the report, and their names in the table."""
SIGNIFICANT = 0.05
T = TypeVar("T")


class RefusedError(Exception):
    """A system could not process a question."""


@dataclass(frozen=True, slots=True)
class System:
    """A search system. ``ask`` returns chunk uris with scores, best first, or raises RefusedError. A system that is not
    ``judged`` is only timed.
    """

    name: str
    ask: Callable[[str], Ranking]
    judged: bool = True


@dataclass(slots=True)
class Answers:
    """The rankings of a system and the seconds each took, in the order of the questions. A refused question has an
    empty ranking.
    """

    rankings: list[Ranking] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def milliseconds(self, quantile: float) -> float:
        """Return the quantile of the latencies, in milliseconds."""
        return 1000 * float(np.quantile(self.seconds, quantile))


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result on one question set: the questions, the evaluation of the rankings, and the latencies."""

    title: str
    report: Report
    answers: Mapping[str, Answers]


def add_folds(parser: argparse.ArgumentParser) -> None:
    """Add the option whose value :func:`default_search` takes."""
    parser.add_argument(
        "--folds",
        type=Path,
        help="Networks of folds trained on these questions (trivium train --keep-folds): Trivium's default then ranks"
        " each question with a network that was not trained on its pages.",
    )


def default_search(
    engine: trivium.Engine, k: int, folds: Path | None, files: Sequence[Path]
) -> tuple[str, Callable[[str], Ranking]]:
    """Return the name and the function of Trivium's default search: with the bundled network, which may have been
    trained on the questions; or, given the networks of ``folds``, for each question with one that was not trained on
    its pages.
    """
    if folds is None:
        return "Trivium, default", lambda text: ranking(engine.search(text, k))
    networks = read_folds(folds)
    ids = {question.text: question.id for file in files for question in read_questions(file)}

    def ask(text: str) -> Ranking:
        fusion = networks.fusion_for(ids[text]) if text in ids else folds / "1"  # a warm-up text
        return ranking(engine.search(text, k, fusion=str(fusion)))

    return "Trivium, default out of fold", ask


def ranking(hits: Sequence[trivium.Hit]) -> Ranking:
    """Return the chunks of hits with their scores."""
    return [(hit.uri, hit.score) for hit in hits]


def sample(questions: Sequence[T], limit: int, seed: int) -> list[T]:
    """Return at most ``limit`` questions, drawn without replacement, in their original order."""
    if limit >= len(questions):
        return list(questions)
    drawn = random.Random(seed).sample(range(len(questions)), limit)
    return [questions[place] for place in sorted(drawn)]


def warm_up(systems: Sequence[System], texts: Sequence[str]) -> None:
    """Ask every system the texts with their words reversed: this exercises indexes and page caches in the same way, but
    with another vector, so that no answer is cached when the questions follow.
    """
    for text in texts:
        for system in systems:
            _answer(system, " ".join(reversed(text.split())), Answers())


def race(systems: Sequence[System], texts: Sequence[str], seed: int) -> dict[str, Answers]:
    """Ask all systems each question before the next one, in an order shuffled for each question: other load on the
    machine affects all alike, and no system always profits from pages that another has just read.
    """
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
    """Evaluate the rankings for the traceable questions. Systems are compared with the first one."""
    asked = Traced(tuple(questions), {question.id: traced.gold[question.id] for question in questions})
    rankings = {system.name: answers[system.name].rankings for system in systems if system.judged}
    return Outcome(title, evaluate(questions, asked, rankings), answers)


def table(outcome: Outcome) -> str:
    """Return a Markdown table, one row per system. A star marks a measure that differs significantly from the first
    system's.
    """
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
    """Return the outcome as JSON values: the report, and the latencies and refusals of each system."""
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
