"""Reads TREC runs from files, by the names of their systems."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
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


def unknown_chunks(runs: Runs, chunks: Callable[[], Iterable[str]]) -> dict[str, str]:
    """Map systems to a description of the passages in their runs that are not among the ``chunks`` of a store, which
    are only read if there are runs. Systems without such passages are left out.

    >>> unknown_chunks({"theirs": {"q": [("a", 2.0), ("b", 1.0)]}}, lambda: ["a"])
    {'theirs': "theirs: 1 of 2 passages is not a chunk of the store, such as 'b'"}
    """
    if not runs:
        return {}
    known = set(chunks())
    told = {}
    for name, run in runs.items():
        named = dict.fromkeys(chunk for ranking in run.values() for chunk, _ in ranking)
        if away := [chunk for chunk in named if chunk not in known]:
            many = "are not chunks" if len(away) > 1 else "is not a chunk"
            told[name] = (
                f"{name}: {len(away)} of {len(named)} passages {many} of the store, such as {away[0]!r}"
            )
    return told


def refuse_unknown_chunks(unknown: Mapping[str, str], purpose: str) -> None:
    """Raise InputError if there are :func:`unknown_chunks`, because the ``purpose`` needs their texts."""
    for told in unknown.values():
        raise InputError(f"{told}; expected chunks of the store, whose texts are needed {purpose}")
