"""Measures how many right and how many deliberately spoilt answers language models, as judges, find wanting.

    python -m experiments.answers.spoil --store STORE --questions FILE --judge local
    python -m experiments.answers.spoil --store STORE --questions FILE --judge openai:gpt-4o-mini --judge gemini:NAME

An interrupted run continues when the command is repeated. ``--json`` prints all details.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from experiments import command
from experiments.answers.agreement import GOOD, agreements
from experiments.answers.spoilt import KINDS, RIGHT, Trial, right_answers, trials
from trivium.common.safe_files import JsonLines
from trivium.datasets.questions import read_questions
from trivium.engine import Engine
from trivium.evaluation.answers.grading_judge import LOWER_IS_BETTER, MEASURES, VERSION, Graded, Grader
from trivium.evaluation.answers.run_folder import begin
from trivium.evaluation.digests import digest_of
from trivium.evaluation.evaluator import Evaluator
from trivium.evaluation.tables import grid, share
from trivium.graph.schema import headings_of
from trivium.llm.chat_model import ChatModel
from trivium.llm.registry import open_chat_model

ANY = "any of them"
USED = ("correctness", "hallucination")
"""The measures that a wrong answer must fail; specific information cannot detect a negation."""


def main(
    arguments: Sequence[str] | None = None, open_model: Callable[[str], ChatModel] = open_chat_model
) -> None:
    """Run the experiment."""
    parser = command.Parser(__doc__, takes="as the judges take")
    parser.add_argument("--store", type=command.store, required=True)
    parser.add_argument(
        "--questions",
        required=True,
        type=command.existing,
        nargs="+",
        help="question files with known answers",
    )
    parser.add_argument("--judge", required=True, action="append", help="a language model; may be repeated")
    parser.add_argument("--each", type=int, default=30, help="number of answers of each kind (30)")
    parser.add_argument("--measures", nargs="+", default=list(USED), choices=MEASURES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("spoilt-answers"))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    models = [open_model(name) for name in given.judge]
    with Engine.open(given.store) as engine:
        questions = [question for file in given.questions for question in read_questions(file)]
        traced = Evaluator(engine.searcher).trace([q for q in questions if q.answers])
        chosen = trials(list(right_answers(engine.store, traced)), given.each, given.seed)
        texts = [_context(engine, trial) for trial in chosen]
    of_trials = digest_of([trial.kind, trial.text, text] for trial, text in zip(chosen, texts, strict=True))
    measures = sorted(given.measures)
    begin(given.out, {"trials": of_trials, "measures": measures, "prompts": VERSION}, ["graded-*.jsonl"])
    judges = {model.name: _graded(model, measures, chosen, texts, given.out) for model in models}
    found = report(chosen, judges, measures)
    if given.json:
        print(json.dumps(found, indent=2))
    else:
        print_report(found)


def _context(engine: Engine, trial: Trial) -> str:
    record = engine.store.fetch([trial.right.chunk])[0]
    return f"{' > '.join(headings_of(record.section))}: {record.text}"


def _graded(
    model: ChatModel, measures: Sequence[str], chosen: Sequence[Trial], texts: Sequence[str], folder: Path
) -> list[Graded]:
    """Return the grades of a judge for every answer. Grades that are already in the file are not asked for again."""
    grader = Grader(model, measures)
    log = JsonLines(folder / f"graded-{quote(model.name, safe='')}.jsonl", Graded)
    with log.writing():
        done = list(log.records())
        for trial, context in list(zip(chosen, texts, strict=True))[len(done) :]:
            question = trial.right.question
            record = grader.grade(
                trial.kind, question.id, question.text, trial.text, context, question.answers
            )
            log.append(record)
            done.append(record)
    return done


def report(
    chosen: Sequence[Trial], judges: dict[str, list[Graded]], measures: Sequence[str]
) -> dict[str, Any]:
    """Return how many graded answers of each kind a judge finds wanting (below :data:`GOOD`), and the agreement of the
    judges over all of them.
    """
    kinds = [kind for kind in (RIGHT, *KINDS) if any(trial.kind == kind for trial in chosen)]
    found: dict[str, Any] = {}
    for name, graded in judges.items():
        own: dict[str, Any] = {}
        for kind in kinds:
            of_kind = [one for one in graded if one.row == kind]
            own[kind] = {
                measure: {
                    "wanting": sum(wanting(one, measure) is True for one in of_kind),
                    "graded": sum(wanting(one, measure) is not None for one in of_kind),
                }
                for measure in measures
            }
            verdicts = [[wanting(one, measure) for measure in measures] for one in of_kind]
            own[kind][ANY] = {
                "wanting": sum(any(said is True for said in verdict) for verdict in verdicts),
                "graded": sum(any(said is not None for said in verdict) for verdict in verdicts),
            }
        found[name] = {
            "kinds": own,
            "calls": sum(one.calls for one in graded),
            "malformed": sum(one.malformed for one in graded),
            "tokens": sum(one.prompt_tokens + one.completion_tokens for one in graded),
        }
    values = {
        name: {
            measure: np.array([np.nan if (v := one.value(measure)) is None else v for one in graded])
            for measure in measures
        }
        for name, graded in judges.items()
    }
    agreed = [
        {"measure": a.measure, "judges": [a.first, a.second], "answers": a.answers, "kappa": _or_none(a.kappa),
         "weighted": _or_none(a.weighted)}
        for a in agreements(values)
    ]  # fmt: skip
    answers = {kind: sum(trial.kind == kind for trial in chosen) for kind in kinds}
    return {"answers": answers, "judges": found, "agreement": agreed}


def wanting(graded: Graded, measure: str) -> bool | None:
    """Return whether a judge grades an answer below :data:`GOOD` by a measure; None without a grade."""
    value = graded.value(measure)
    if value is None:
        return None
    return value > 1 - GOOD if measure in LOWER_IS_BETTER else value < GOOD


def print_report(found: dict[str, Any]) -> None:
    """Print the results as Markdown."""
    for name, judge in found["judges"].items():
        kinds = judge["kinds"]
        columns = list(next(iter(kinds.values())))
        print(f"\n{name}: found wanting, of those graded (right answers should not be, spoilt ones should)\n")
        print(grid(["answers", *columns], [
            [kind, *(f"{cell['wanting']} of {cell['graded']}" for cell in cells.values())]
            for kind, cells in kinds.items()
        ]))  # fmt: skip
        print(f"\n{judge['malformed']} of {judge['calls']} replies malformed, {judge['tokens']:,} tokens")
    for agreed in found["agreement"]:
        kappas = ["-" if agreed[key] is None else share(agreed[key]) for key in ("kappa", "weighted")]
        print(
            f"\n{' and '.join(agreed['judges'])}, {agreed['measure']}: kappa {kappas[0]} (good or not), {kappas[1]}"
            f" weighted, {agreed['answers']} answers"
        )


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else value


if __name__ == "__main__":
    command.run(main)
