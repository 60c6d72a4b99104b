"""Writes the page that compares two runs, with passages and explanations from a store."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path

from trivium.common.safe_files import write_file
from trivium.engine import Engine
from trivium.errors import FusionError, InputError, StoreError
from trivium.evaluation.comparison.outcomes import Run
from trivium.evaluation.comparison.page import Explain, Setting, Side, comparison_page
from trivium.evaluation.trec_files import read_qrels, read_run, system_of
from trivium.retrievers.retriever_names import RETRIEVERS

_RUN = ".run"
_SAME = 1e-5
"""Scores that differ by more than this share are from two different fusions."""


def compare_runs(
    first: str | Path,
    second: str | Path,
    target: str | Path,
    *,
    engine: Engine | None = None,
) -> Path:
    """Write the page that compares two run files, ``second`` compared with ``first``, and return its path.

    Judgements come from ``qrels.txt``, the questions as they were searched for from ``questions.csv`` and ranks of
    single retrievers from their runs, all beside the first run, as ``trivium evaluate --runs`` writes them. Without
    ``questions.csv``, as beside runs of other systems, questions are shown by their ids. An ``engine`` on the store of
    the runs adds the passages and, for fused rows, each retriever's contributions. Raises InputError for files that are
    missing or do not match.
    """
    first, second = Path(first), Path(second)
    for path in (first, second):
        _check_run(path)
    judgements = first.parent / "qrels.txt"
    if not judgements.exists():
        raise InputError(f"{judgements}: expected relevance judgements beside {first}")
    gold = read_qrels(judgements)
    views = {name: read_run(path) for name in RETRIEVERS if (path := first.parent / f"{name}.run").is_file()}
    texts = _texts(first.parent / "questions.csv")
    labels = _labels(first, second)
    sides = [
        Side(label, run, _explainer(engine, system_of(path), run, texts))
        for label, path in zip(labels, (first, second), strict=True)
        for run in (read_run(path),)
    ]
    facts = [] if engine is None else [engine.info().location]
    setting = Setting(gold, texts, views, facts)
    fetch = None if engine is None else lambda chunks: _passages(engine, chunks)
    write_file(Path(target), comparison_page(sides[0], sides[1], setting, fetch))
    return Path(target)


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


def _passages(engine: Engine, chunks: Sequence[str]) -> dict[str, str]:
    """Return the texts of chunks. Raises InputError if the runs are from another store."""
    try:
        return {record.uri: record.text for record in engine.store.fetch(chunks)}
    except StoreError as error:
        raise InputError(
            f"expected the store that the runs were made on, got one without some of their chunks: {error}"
        ) from error


def _explainer(engine: Engine | None, row: str, run: Run, texts: Mapping[str, str]) -> Explain | None:
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
            breakdown = engine.searcher.break_down(texts[question], [best, *chunks], row)
        except FusionError:
            return {}
        if abs(breakdown.scores.get(best, inf) - score) > _SAME * max(1.0, abs(score)):
            return {}
        return breakdown.contributions

    return explain


def _texts(path: Path) -> dict[str, str]:
    """Return the texts of questions by id; none if the file does not exist."""
    if not path.is_file():
        return {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            head, *rows = csv.reader(file)
    except (ValueError, csv.Error) as error:
        raise InputError(f"{path}: expected a table of questions in CSV, got {error}") from error
    if head[:2] != ["id", "question"]:
        raise InputError(f"{path}: expected the columns id and question first, got {', '.join(head)}")
    return {row[0]: row[1] for row in rows if len(row) > 1}


def _labels(first: Path, second: Path) -> tuple[str, str]:
    """Return the rows' names, with as much of the folders as is needed to distinguish them."""
    # A trained fusion is named by the last part of its folder.
    first_label, second_label = (Path(row).name or row for row in map(system_of, (first, second)))
    if first_label != second_label:
        return first_label, second_label
    parents = [path.resolve().parent.parts for path in (first, second)]
    for depth in range(1, max(map(len, parents)) + 1):
        ends = ["/".join(parts[-depth:]) for parts in parents]
        if ends[0] != ends[1]:
            return f"{ends[0]}/{first_label}", f"{ends[1]}/{second_label}"
    raise InputError(f"expected two different runs, got {first} twice")
