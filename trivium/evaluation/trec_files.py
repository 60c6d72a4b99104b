"""Runs and judgements in TREC format, readable by trec_eval, ranx and ir-measures.

A run has lines ``question Q0 chunk rank score row``, judgements (qrels) ``question group chunk grade``: the second
column, which most tools ignore, numbers the gold group as in the TREC diversity tasks.

TREC fields are separated by white space, which uris may contain. White space, control characters and ``%`` in an
identifier are percent-encoded as UTF-8; :func:`encode` and :func:`decode` are inverse.

Tools order a run by score and break ties in their own way. Our ranks are authoritative, so a score that is not below
the previous one is written as the next smaller double. Every other score is preserved exactly.

The folder of an evaluation contains ``<row>.run`` for each row, ``qrels.txt``, ``metrics.json``, and for spreadsheets
``metrics.csv`` (a line for each row) and ``questions.csv`` (a line for each question with the measure that was chosen).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from trivium.common.safe_files import write_file
from trivium.datasets.gold import Gold
from trivium.errors import InputError
from trivium.evaluation.report import Ranking, Report
from trivium.evaluation.tables import Table

_UNSAFE = re.compile(r"[\s%\x00-\x1f\x7f]")


def encode(identifier: str) -> str:
    """Encode an identifier as one TREC field.

    >>> encode("Carl Boese#chunk-1")
    'Carl%20Boese#chunk-1'
    """
    if not identifier:
        raise InputError("expected an identifier for a TREC file, got an empty string")
    return _UNSAFE.sub(lambda match: quote(match[0], safe=""), identifier)


def decode(field: str) -> str:
    """Decode a field written by :func:`encode`."""
    return unquote(field, errors="strict")


def write_runs(report: Report, folder: str | Path) -> None:
    """Save an evaluation to a folder, which is created when missing; existing files are replaced.

    Row names that are not plain file names are percent-encoded. Raises InputError if nothing can be written.
    """
    traced = report.traced
    write_rankings({one.id: traced.gold[one.id] for one in traced.questions}, report.rankings, folder)
    metrics = json.dumps(report.to_json(), indent=2, ensure_ascii=False, allow_nan=False)
    write_file(Path(folder) / "metrics.json", f"{metrics}\n")
    rows = report.rows
    names = next(iter(rows.values())).means if rows else {}
    means = Table(["system", *names], [[name, *map(str, row.means.values())] for name, row in rows.items()])
    write_file(Path(folder) / "metrics.csv", means.to_csv())
    values = [map(str, row.values[report.by].tolist()) for row in rows.values()]
    asked = [[one.id, one.text] for one in traced.questions]
    each = [[*question, *own] for question, own in zip(asked, zip(*values, strict=True), strict=True)]
    write_file(Path(folder) / "questions.csv", Table(["id", "question", *rows], each).to_csv())


def write_rankings(
    gold: Mapping[str, Gold], rankings: Mapping[str, Sequence[Ranking]], folder: str | Path
) -> None:
    """Write the run of each system, and the judgements, as :func:`write_runs` does: ``rankings`` has one for each
    question of ``gold`` (question id -> gold), in its order. Raises InputError when nothing can be written."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: expected a folder for the runs, got {error.strerror}") from error
    for row, ranked in rankings.items():
        write_run(run_path(folder, row), row, dict(zip(gold, ranked, strict=True)))
    write_qrels(folder / "qrels.txt", gold)


def run_path(folder: Path, row: str) -> Path:
    """Return the path of a row's run."""
    return folder / f"{quote(row, safe=' ')}.run"


def write_run(path: str | Path, row: str, rankings: Mapping[str, Ranking]) -> None:
    """Write the rankings (question id -> ranking) of one row. Questions without hits have no line.

    Raises InputError for a score that is not finite.
    """
    tag = encode(row)
    lines = []
    for question, ranking in rankings.items():
        above = math.inf
        for rank, (chunk, score) in enumerate(ranking, start=1):
            if not math.isfinite(score):
                raise InputError(
                    f"expected finite scores, got {score} for {chunk!r} of question {question!r}"
                )
            above = min(float(score), math.nextafter(above, -math.inf))
            lines.append(f"{encode(question)} Q0 {encode(chunk)} {rank} {above!r} {tag}\n")
    write_file(Path(path), "".join(lines))


def read_run(path: str | Path) -> dict[str, list[tuple[str, float]]]:
    """Return the rankings of a run by question, in the order of the rank column."""
    ranked: dict[str, list[tuple[int, str, float]]] = {}
    for number, fields in _read(path, 6):
        try:
            entry = int(fields[3]), decode(fields[2]), float(fields[4])
        except ValueError as error:
            raise InputError(f"{path}, line {number}: expected a rank and a score, got {error}") from error
        ranked.setdefault(decode(fields[0]), []).append(entry)
    return {
        question: [(chunk, score) for _, chunk, score in sorted(entries, key=lambda entry: entry[0])]
        for question, entries in ranked.items()
    }


def write_qrels(path: str | Path, gold: Mapping[str, Gold]) -> None:
    """Write the gold chunks (question id -> gold)."""
    lines = (
        f"{encode(question)} {number} {encode(chunk)} {answer.grades[number] if answer.grades else 1}\n"
        for question, answer in gold.items()
        for number, group in enumerate(answer.groups)
        for chunk in group
    )
    write_file(Path(path), "".join(lines))


def read_qrels(path: str | Path) -> dict[str, Gold]:
    """Return the gold chunks by question, from judgements written by :func:`write_qrels`. Judgements from elsewhere
    usually have 0 in the second column, which is read as one group of alternatives. Chunks judged 0 or less are
    skipped. The grade of a group is the highest of its chunks.

    A file whose name ends with ``.tsv`` has the columns of the benchmark BEIR, ``query-id``, ``corpus-id`` and ``score``,
    usually below a line with these names; there each document is a group.
    """
    groups: dict[str, dict[str, dict[str, int]]] = {}
    tabbed = Path(path).suffix == ".tsv"
    for number, fields in _read(path, 3 if tabbed else 4, "\t" if tabbed else None):
        question, group, chunk = (fields[0], fields[1], fields[1]) if tabbed else map(decode, fields[:3])
        try:
            grade = int(fields[-1])
        except ValueError as error:
            if tabbed and number == 1:
                continue
            raise InputError(f"{path}, line {number}: expected a whole number as judgement") from error
        if grade > 0:
            groups.setdefault(question, {}).setdefault(group, {})[chunk] = grade
    return {
        question: Gold.of(parts.values(), [max(graded.values()) for graded in parts.values()])
        for question, parts in groups.items()
    }


def _read(path: str | Path, columns: int, separator: str | None = None) -> Iterator[tuple[int, list[str]]]:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: expected a readable TREC file, got {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: expected a TREC file in UTF-8, got {error}") from error
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        fields = line.strip().split(separator)
        if len(fields) != columns:
            raise InputError(f"{path}, line {number}: expected {columns} columns, got {len(fields)}")
        yield number, fields


Runs = dict[str, dict[str, Ranking]]
"""System -> question id -> ranking."""


def system_of(path: Path) -> str:
    """Return the system of a run file named by :func:`trivium.evaluation.trec_files.run_path`.

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


def unknown_chunks(
    runs: Mapping[str, Mapping[Any, Ranking]], chunks: Callable[[], Iterable[str]], kind: str = "chunk"
) -> dict[str, str]:
    """Map systems to a description of the entries of their runs that are not among the ``chunks`` of a store (or its
    documents, as ``kind`` says), which are only read if there are runs. Systems without such entries are left out.

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
            many = f"are not {kind}s" if len(away) > 1 else f"is not a {kind}"
            entries = "passages" if kind == "chunk" else f"{kind}s"
            told[name] = (
                f"{name}: {len(away)} of {len(named)} {entries} {many} of the store, such as {away[0]!r}"
            )
    return told


def refuse_unknown_chunks(unknown: Mapping[str, str], purpose: str) -> None:
    """Raise InputError if there are :func:`unknown_chunks`, because the ``purpose`` needs their texts."""
    for told in unknown.values():
        raise InputError(f"{told}; expected chunks of the store, whose texts are needed {purpose}")
