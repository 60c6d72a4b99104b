"""Tables of answers, from a sweep: its file, which is asked to its end, or the folder of one that was."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from experiments.papers.published import published
from experiments.papers.set_table import Row, SetTable
from trivium.errors import InputError
from trivium.evaluation.answers.report import FIVE, SUM_OF_FIVE, sum_of_five
from trivium.evaluation.leaderboard import read_leaderboard
from trivium.evaluation.significance import Interval, holm
from trivium.evaluation.sweep.definition import read_sweep
from trivium.evaluation.sweep.report import write_tables
from trivium.evaluation.sweep.run import RUNS, run_sweep

_Cell = dict[str, Any]
OF_TEXTS = {"ROUGE-L": "rouge_l", "BLEU": "bleu", "BERTScore": "bertscore"}
PRECISION_AT = 5
OF_JUDGES = dict(zip(("relevancy", "correct", "faithful", "no halluc.", "specific"), FIVE, strict=True))


@dataclass(frozen=True)
class ReportedTable(SetTable):
    """A table whose intervals (of rows and columns) and differences a sweep has computed, over so many ``groups``."""

    known: Mapping[tuple[str, str, str], Interval] = field(default_factory=dict)
    less: Sequence[tuple[Row, str, Interval, float]] = ()
    groups: int = 0

    @property
    def units(self) -> NDArray[np.int64] | None:
        return self.cluster

    @property
    def _clusters(self) -> int:
        return self.groups

    @property
    def _intervals(self) -> dict[tuple[str, str, str], Interval | None]:  # type: ignore[override]
        keys = [(row.method, row.retrieved, one) for row in self.rows for one in self.tested]
        return {key: self.known.get(key) for key in keys}

    @property
    def differences(self) -> list[tuple[Row, str, Interval, float]]:  # type: ignore[override]
        return list(self.less)


def tables(names: Sequence[str], sweep: Path | None) -> list[SetTable]:
    """Return the named tables of a sweep. Raises InputError if it lacks what they need."""
    if sweep is None or not sweep.exists():
        raise InputError(
            f"{' and '.join(names)}: expected --sweep FILE.toml, or the folder of a sweep (experiments/papers/README.md"
            f" has one for each table), got {sweep or 'none'}"
        )
    folder = sweep if sweep.is_dir() else _run(sweep)
    try:
        report = json.loads((folder / "report.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{folder}: expected the folder of a sweep, with report.json ({error})") from error
    cells = [cell for cell in report["cells"] if cell["complete"]]
    if not cells:
        raise InputError(f"{folder}: expected a sweep with a complete cell; run  trivium sweep  to its end")
    return [MADE[name](name, folder, report, cells) for name in names]


def _run(file: Path) -> Path:
    folder = file.with_name(f"{file.stem}-sweep")
    report = run_sweep(read_sweep(file), folder)
    write_tables(report, folder)
    for model, reason in report.failures.items():
        print(f"{model} failed, and its cells were left: {reason}", file=sys.stderr)
    if report.stopped is not None:
        print(f"stopped by the budget: {report.stopped}", file=sys.stderr)
    return folder


def of_texts(name: str, folder: Path, report: _Cell, cells: Sequence[_Cell]) -> SetTable:
    """Return how close answers from each context are to the known ones."""
    if not any("bertscore" in cell["means"] for cell in cells):
        print(
            f'{name}: BERTScore is left out: it needs  bertscore = "roberta-large"  in the sweep, and pip install'
            " 'trivium[bertscore]'",
            file=sys.stderr,
        )
    readers = {_reader(cell) for cell in cells}
    rows = [
        (cell, Row(_context(cell), _reader(cell) if len(readers) > 1 else "", _ones(cell["means"], OF_TEXTS)))
        for cell in cells
    ]
    said = f"; reader {', '.join(sorted({cell['model'] for cell in cells}))}"
    return _table(name, folder, report, rows, OF_TEXTS, columns=tuple(OF_TEXTS), said=said, about="reader")


def of_judges(name: str, folder: Path, report: _Cell, cells: Sequence[_Cell]) -> SetTable:
    """Return the five judged measures of each reader, of 100, and their sum; by all judges and by each alone."""
    rows = []
    for cell in _judged(name, folder, cells):
        rows.append((cell, Row(cell["model"], _setting(cell, cells), _of_100(cell["means"]))))
        if len(cell["by_judge"]) > 1:
            for judge, means in cell["by_judge"].items():
                by = Row(f"  judged by {judge}", _setting(cell, cells), _of_100(means))
                rows.append(({**cell, "ci": {}, "against": []}, by))
    columns = {**OF_JUDGES, "sum": SUM_OF_FIVE}
    return _table(name, folder, report, rows, columns, tested=("sum",), scale="percent", about="setting")


def of_sums(name: str, folder: Path, report: _Cell, cells: Sequence[_Cell]) -> SetTable:
    """Return the best sum of each model, less that of the baseline."""
    column = "sum less baseline"
    judged = _judged(name, folder, cells)
    base = next((cell for cell in judged if _label(cell) == report["baseline"]), None)
    if base is None:
        raise InputError(f"{folder}: expected the baseline {report['baseline']} to be complete and judged")
    rows = []
    for model in dict.fromkeys(cell["model"] for cell in judged):
        best = max((c for c in judged if c["model"] == model), key=lambda cell: float(cell[SUM_OF_FIVE]))
        less = best[SUM_OF_FIVE] - base[SUM_OF_FIVE]
        (found,) = [one for one in best["against"] if one["measure"] == SUM_OF_FIVE] or [None]
        interval = {} if found is None else {SUM_OF_FIVE: found["ci"]}
        row = Row(model, _setting(best, cells), {column: np.array([less])})
        rows.append(({**best, "ci": interval, "against": []}, row))
    columns = {column: SUM_OF_FIVE}
    rows.sort(key=lambda one: -one[1].mean(column))
    return _table(name, folder, report, rows, columns, scale="percent", about="setting")


def of_best(name: str, folder: Path, report: _Cell, cells: Sequence[_Cell]) -> SetTable:
    """Return the baseline and the best pipeline: precision of the passages, faithfulness, hallucination."""
    judged = _judged(name, folder, cells)
    base = [cell for cell in judged if _label(cell) == report["baseline"]]
    best = max(judged, key=lambda cell: float(cell[SUM_OF_FIVE]))
    measures = {"faithful": "faithfulness", "hallucination": "hallucination"}
    rows = []
    for said, cell in (*(("baseline", one) for one in base), ("best", best)):
        values = _ones(cell["means"], measures)
        values["P@5"] = np.array([_precision(name, folder, cell)])
        rows.append((cell, Row(said, _label(cell), values)))
    return _table(name, folder, report, rows, measures, tested=tuple(measures), about="cell")


def _precision(name: str, folder: Path, cell: _Cell) -> float:
    """Return the precision of the five passages that a cell's reader was given, NaN if there were fewer."""
    if cell["k"] is not None and cell["k"] < PRECISION_AT:
        print(
            f"{name}: P@5 of {_label(cell)} is left out: it needs k = [5] or more in the sweep",
            file=sys.stderr,
        )
        return math.nan
    runs = folder / RUNS / quote(cell["store"] or "", safe="")  # of several stores each has its own
    of = next((one for one in read_leaderboard(runs).places if one.name == _context(cell)), None)
    return math.nan if of is None else of.means[f"precision@{PRECISION_AT}"]


MADE: Mapping[str, Callable[[str, Path, _Cell, Sequence[_Cell]], SetTable]] = {
    "diffusion-6": of_texts,
    "study-7.4": of_judges,
    "study-7.5": of_sums,
    "study-7.6": of_best,
}


def _table(
    name: str,
    folder: Path,
    report: _Cell,
    rows: Sequence[tuple[_Cell, Row]],
    measures: Mapping[str, str],
    *,
    tested: tuple[str, ...] | None = None,
    columns: tuple[str, ...] = (),
    said: str = "",
    scale: str = "share",
    about: str,
) -> SetTable:
    """Return a table of rows of cells. ``measures`` are the measures of the columns that have intervals."""
    known = published(name)
    tested = tuple(measures) if tested is None else tested
    places = {measures[column]: column for column in tested}
    intervals = {
        (row.method, row.retrieved, places[measure]): Interval(row.mean(places[measure]), *bounds)
        for cell, row in rows
        for measure, bounds in cell["ci"].items()
        if measure in places
    }
    less = []
    for measure, column in places.items():
        told = [(row, one) for cell, row in rows for one in cell["against"] if one["measure"] == measure]
        for (row, one), p in zip(told, holm([one["p"] for _, one in told]), strict=True):
            less.append((row, column, Interval(one["difference"], *one["ci"]), p))
    return ReportedTable(
        name,
        folder.name,
        [row for _, row in rows],
        np.arange(report["asked"]),
        columns or known.columns,
        tested,
        known.figures,
        baseline=report["baseline"],
        note=f"{said}{known.note}",
        paper=known.paper,
        about=about,
        scale=scale,  # type: ignore[arg-type]
        others=True,
        known=intervals,
        less=less,
        groups=report["clusters"],
    )


def _judged(name: str, folder: Path, cells: Sequence[_Cell]) -> list[_Cell]:
    judged = [cell for cell in cells if cell[SUM_OF_FIVE] is not None]
    if not judged:
        raise InputError(
            f'{name}: {folder} has no sums of five: it needs [[judge]] name = "openai:NAME" or another capable model in'
            " its file, and trivium[openai] or the extra of that model"
        )
    return judged


def _ones(means: Mapping[str, float], measures: Mapping[str, str]) -> dict[str, NDArray[np.float64]]:
    return {column: np.array([means.get(measure, math.nan)]) for column, measure in measures.items()}


def _of_100(means: Mapping[str, float]) -> dict[str, NDArray[np.float64]]:
    """Return the five, each of 100 with hallucination turned round, and their sum."""
    turned = {name: 1 - value if name == "hallucination" else value for name, value in means.items()}
    total = means.get(SUM_OF_FIVE, sum_of_five(means))
    own = {column: 100 * values for column, values in _ones(turned, OF_JUDGES).items()}
    return {**own, "sum": np.array([math.nan if total is None else total])}


def _context(cell: _Cell) -> str:
    parts = (cell["context"], cell["rerank"], cell["cut"])
    return " > ".join(part for part in parts if part is not None)


def _reader(cell: _Cell) -> str:
    parts = [
        cell["model"],
        cell["prompt"],
        None if cell["temperature"] is None else f"t {cell['temperature']:g}",
    ]
    return ", ".join(
        part for part in (*parts, None if cell["k"] is None else f"k {cell['k']}") if part is not None
    )


def _label(cell: _Cell) -> str:
    return ", ".join(part for part in (cell.get("store"), _reader(cell), _context(cell)) if part)


def _setting(cell: _Cell, cells: Sequence[_Cell]) -> str:
    """Return what tells a cell from the others of its model."""
    told = [_reader(cell).removeprefix(cell["model"]).removeprefix(", ")]
    told += [_context(cell)] if len({_context(one) for one in cells}) > 1 else []
    told += [cell["store"]] if cell.get("store") else []
    return ", ".join(part for part in told if part)
