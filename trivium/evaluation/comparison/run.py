"""Writes the page that compares two runs, with passages and explanations from a store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path
from urllib.parse import unquote

from trivium.common.safe_files import write_file
from trivium.datasets.questions import read_questions
from trivium.engine import Engine
from trivium.errors import FusionError, InputError, StoreError
from trivium.evaluation.comparison.outcomes import Run
from trivium.evaluation.comparison.page import MOST, Explain, Setting, Side, comparison_page
from trivium.evaluation.evaluator import stand_alone
from trivium.evaluation.trec_files import read_qrels, read_run
from trivium.retrievers.retriever_names import RETRIEVERS
from trivium.types import Question

QUESTIONS = "questions.jsonl"
"""File with the question texts of a run, beside it."""
QRELS = "qrels.txt"
"""File with the relevance judgements of a run, beside it."""
_RUN = ".run"
_SAME = 1e-5
"""Scores that differ by more than this share are from two different fusions."""


def compare_runs(
    first: str | Path,
    second: str | Path,
    target: str | Path,
    *,
    engine: Engine | None = None,
    most: int = MOST,
) -> Path:
    """Write the page that compares two run files, ``second`` compared with ``first``, and return its path.

    Judgements come from ``qrels.txt``, question texts from ``questions.jsonl`` and ranks of
    single retrievers from their runs, both beside the first run. An ``engine`` on the store of the runs adds the
    passages and, for fused rows, each retriever's contributions. Raises InputError for files that are missing or do
    not match.
    """
    first, second = Path(first), Path(second)
    for path in (first, second):
        _check_run(path)
    judgements = first.parent / QRELS
    if not judgements.exists():
        raise InputError(f"{judgements}: expected relevance judgements beside {first}")
    gold = read_qrels(judgements)
    views = {name: read_run(path) for name in RETRIEVERS if (path := first.parent / f"{name}.run").is_file()}
    texts = _texts(first.parent / QUESTIONS, engine)
    labels = _labels(first, second)
    sides = [
        Side(label, run, explainer(engine, unquote(path.stem), run, texts))
        for label, path in zip(labels, (first, second), strict=True)
        for run in (read_run(path),)
    ]
    facts = [] if engine is None else [engine.info().location]
    setting = Setting(gold, texts, views, facts)
    return write_page(target, sides[0], sides[1], setting, engine, most)


def _check_run(path: Path) -> None:
    """Raise InputError for a run that is not there, with those that may have been meant."""
    if path.is_file():
        return
    nearby = [path.with_name(f"{path.name}{_RUN}"), *(sorted(path.glob(f"*{_RUN}")) if path.is_dir() else ())]
    there = [str(run) for run in nearby if run.is_file()][:5]
    got = "a folder" if path.is_dir() else "no such file"
    raise InputError(
        f"{path}: expected a run file, as  trivium evaluate --runs DIR  writes them, got {got}"
        + (f"; did you mean {' or '.join(there)}?" if there else "")
    )


def write_page(
    target: str | Path,
    first: Side,
    second: Side,
    setting: Setting,
    engine: Engine | None,
    most: int = MOST,
) -> Path:
    """Write the page that compares two sides and return its path."""
    fetch = None if engine is None else lambda chunks: passages(engine, chunks)
    page = comparison_page(first, second, setting, fetch, most)
    write_file(Path(target), page)
    return Path(target)


def label(row: str) -> str:
    """Return the display name of a system; for a trained fusion the last part of its folder."""
    return Path(row).name or row


def write_texts(path: Path, questions: Sequence[Question]) -> None:
    """Write ids and texts of questions, as a question file without gold."""
    lines = [json.dumps({"id": q.id, "question": q.text}, ensure_ascii=False) + "\n" for q in questions]
    write_file(path, "".join(lines))


def passages(engine: Engine, chunks: Sequence[str]) -> dict[str, str]:
    """Return the texts of chunks. Raises InputError if the runs are from another store."""
    try:
        return {record.uri: record.text for record in engine.store.fetch(chunks)}
    except StoreError as error:
        raise InputError(
            f"expected the store that the runs were made on, got one without some of their chunks: {error}"
        ) from error


def explainer(
    engine: Engine | None, row: str, run: Run, texts: Mapping[str, str], exact: bool = False
) -> Explain | None:
    """A function that returns each retriever's contributions to the scores of chunks: (question id, chunks) -> chunk ->
    retriever -> contribution. None without an engine and for a run of a single retriever.

    The function returns nothing for an unknown fusion, and for a question whose best score differs from that in the run:
    the fusion or the store has changed since."""
    if engine is None or row in RETRIEVERS:
        return None

    def explain(question: str, chunks: Sequence[str]) -> Mapping[str, Mapping[str, float]]:
        if question not in texts or not run.get(question):
            return {}
        best, score = run[question][0]
        try:
            breakdown = engine.searcher.break_down(texts[question], [best, *chunks], row, exact=exact)
        except FusionError:
            return {}
        if abs(breakdown.scores.get(best, inf) - score) > _SAME * max(1.0, abs(score)):
            return {}
        return breakdown.contributions

    return explain


def _texts(path: Path, engine: Engine | None) -> dict[str, str]:
    """Return the texts of questions; with an engine, in the form in which they were searched for."""
    if not path.is_file():
        return {}
    questions = read_questions(path)
    asked = questions if engine is None else stand_alone(questions, engine.store)
    return {question.id: question.text for question in asked}


def _labels(first: Path, second: Path) -> tuple[str, str]:
    """Return the rows' names, with as much of the folders as is needed to distinguish them."""
    first_label, second_label = label(unquote(first.stem)), label(unquote(second.stem))
    if first_label != second_label:
        return first_label, second_label
    parents = [path.resolve().parent.parts for path in (first, second)]
    for depth in range(1, max(map(len, parents)) + 1):
        ends = ["/".join(parts[-depth:]) for parts in parents]
        if ends[0] != ends[1]:
            return f"{ends[0]}/{first_label}", f"{ends[1]}/{second_label}"
    raise InputError(f"expected two different runs, got {first} twice")
