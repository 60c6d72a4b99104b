"""Reads TREC runs from files, by the names of their systems."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from urllib.parse import unquote

from trivium.errors import InputError
from trivium.evaluation.report import Ranking
from trivium.evaluation.trec import read_run

Runs = dict[str, dict[str, Ranking]]
"""System -> question id -> ranking."""


def system_of(path: Path) -> str:
    """Return the system of a run file named by :func:`trivium.evaluation.trec.run_path`.

    >>> system_of(Path("runs/vector > bm25.run"))
    'vector > bm25'
    """
    return unquote(path.stem)


def read_runs(paths: Iterable[str | Path], questions: Collection[str]) -> Runs:
    """Read runs from files, in their order. Raises InputError for a run that cannot be read, lists a chunk twice, or
    contains none of the question ids, and for duplicate names.
    """
    runs: Runs = {}
    for path in map(Path, paths):
        name = system_of(path)
        if name in runs:
            raise InputError(f"{path}: expected runs of different names, got a second one named {name!r}")
        run = read_run(path)
        if not run.keys() & set(questions):
            raise InputError(
                f"{path}: expected a run of these {len(questions)} questions, got none of their ids among its {len(run)}"
            )
        for question, ranking in run.items():
            if len({chunk for chunk, _ in ranking}) < len(ranking):
                raise InputError(
                    f"{path}: expected a ranking of distinct chunks for question {question!r}, got one listed twice"
                )
        runs[name] = dict(run)
    return runs
