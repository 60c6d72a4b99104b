"""Evaluates several sets of questions, each on its store, with all results in one folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import trivium
from trivium.common.progress import StageProgress
from trivium.common.safe_files import write_file
from trivium.datasets.questions import read_questions
from trivium.engine import Engine
from trivium.evaluation.comparison.run import QUESTIONS, write_texts
from trivium.evaluation.digests import (
    changed_retrieval,
    digest_of,
    digest_of_files,
    digest_of_folder,
    shipped_digest,
    store_digest,
    trained_digests,
)
from trivium.evaluation.run import against_best, headline
from trivium.evaluation.suite.definition import Suite, SuiteSet, sample
from trivium.evaluation.suite.report import to_json, to_markdown
from trivium.evaluation.suite.results import (
    Paired,
    SetResult,
    forget_result,
    load_result,
    save_result,
)
from trivium.evaluation.trec_files import write_runs
from trivium.parser.sources import huggingface
from trivium.retrievers.llm_path_selectors import make_selector
from trivium.retrievers.path import Selector
from trivium.retrievers.retriever_names import RETRIEVERS


def run_suite(
    suite: Suite,
    folder: str | Path,
    retrievers: Sequence[str] | None = None,
    fusions: Sequence[str] | None = None,
    *,
    selector: str | Selector | None = None,
    progress: StageProgress | None = None,
) -> list[SetResult]:
    """Evaluate every set of a suite: exactly the named retrievers and fusions, or all eight retrievers and
    ``default``.

    For each set, ``folder`` receives TREC runs, qrels and question
    texts (``<set>/``), and finally ``report.json`` and ``report.md``.

    A set that was completed there earlier, with the same questions, store, rows and version, is reused. ``selector`` is
    that of the path retriever, by default that of the settings.
    """
    folder = Path(folder)
    if not retrievers and not fusions:
        retrievers, fusions = RETRIEVERS, ("default",)
    named = tuple(dict.fromkeys(retrievers or ())), tuple(dict.fromkeys(fusions or ()))
    if selector is None or isinstance(selector, str):
        selector = make_selector(selector)
    results = []
    for done, suite_set in enumerate(suite.sets):
        if progress is not None:
            progress("sets", done, len(suite.sets))
        results.append(_judge(suite_set, folder, named, selector, progress))
    if progress is not None:
        progress("sets", len(suite.sets), len(suite.sets))
    write_file(folder / "report.json", json.dumps(to_json(results), indent=2, ensure_ascii=False) + "\n")
    write_file(folder / "report.md", to_markdown(results))
    return results


def _judge(
    suite_set: SuiteSet,
    folder: Path,
    named: tuple[tuple[str, ...], tuple[str, ...]],
    selector: Selector,
    progress: StageProgress | None,
) -> SetResult:
    """Return the result of one set, computed now or earlier."""
    with Engine.open(suite_set.store, selector=selector) as engine:
        own = folder / suite_set.name
        inputs = _inputs(suite_set, engine, named)
        earlier = load_result(own, inputs)
        if earlier is not None:
            return earlier
        forget_result(own)
        questions = sample(read_questions(suite_set.questions), suite_set.sample, suite_set.seed)
        report = engine.evaluate(
            questions,
            *named,
            exact=suite_set.exact,
            progress=None if progress is None else partial(progress, suite_set.name),
        )
        fusions = tuple(row for row in report.rows if row in named[1])
        retrievers = tuple(row for row in report.rows if row not in fusions)
        measures = headline([report.traced.gold[question.id] for question in report.traced.questions])
        write_runs(report, own)
        write_texts(own / QUESTIONS, report.traced.questions)
        result = SetResult(
            name=suite_set.name,
            version=trivium.__version__,
            inputs=inputs,
            report=report.to_json(),
            retrievers=retrievers,
            fusions=fusions,
            measures=measures,
            tests=tuple(map(Paired.of, against_best(report, retrievers, fusions, measures))),
            store=asdict(engine.info()),
        )
        save_result(result, own)
        return result


def _inputs(
    suite_set: SuiteSet,
    engine: Engine,
    named: tuple[tuple[str, ...], tuple[str, ...]],
) -> dict[str, Any]:
    """Return everything the result of a set depends on."""
    return {
        "version": trivium.__version__,
        "questions": _digest_of_questions(suite_set.questions),
        "sample": suite_set.sample,
        "seed": suite_set.seed,
        "exact": suite_set.exact,
        "store": store_digest(engine.store),
        "retrievers": list(named[0]),
        "fusions": list(named[1]),
        "trained": trained_digests(named[1]),
        "shipped": shipped_digest(),
        **changed_retrieval(engine.searcher.retrievers),
    }


def _digest_of_questions(questions: str) -> str:
    """Return the digest of a file, the files of a folder, or the name of a data set of the hub. Raises InputError."""
    if questions.startswith(huggingface.PREFIX):
        return digest_of([questions])
    path = Path(questions)
    return digest_of_folder(path) if path.is_dir() else digest_of_files([path])
