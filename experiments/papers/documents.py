"""Tables of documents, by the experiments ``chunkers`` (7.1) and ``embedders`` (7.2) with their own options."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from experiments.chunkers import compare as chunkers
from experiments.embedders import compare as embedders
from experiments.papers.published import published
from experiments.papers.set_table import Row, Scores, SetTable
from trivium.datasets.cross_validation import clusters

BASELINE = "fixed:300/50"
"""The study's chunker to compare with."""


def of_chunkers(arguments: Sequence[str]) -> list[SetTable]:
    """Return a table of each system before which the chunkers stand."""
    known = published("study-7.1")
    done = chunkers.measured(arguments, lambda line: print(line, file=sys.stderr))
    made = []
    for system in dict.fromkeys(str(one.line["system"]) for one in done):
        own = [one for one in done if one.line["system"] == system]
        names = [str(one.line["chunker"]) for one in own]
        rows = [
            Row(name, "", {column: np.array(one.values[column]) for column in known.columns})
            for name, one in zip(names, own, strict=True)
        ]
        made.append(
            SetTable(
                "study-7.1",
                f"{own[0].line['set']}, {system}",
                rows,
                clusters([{document for document, _ in asked.quotes} for asked in own[0].asked]),
                known.columns,
                known.columns,
                baseline=BASELINE if BASELINE in names else names[0],
                note=known.note,
            )
        )
    return made


def of_embedders(arguments: Sequence[str]) -> list[SetTable]:
    """Return a table of each task, and one of the means of all, beside those published."""
    known = published("study-7.2")
    columns = dict(zip(known.columns, embedders.MEASURES, strict=True))
    options = embedders.parser().parse_args(arguments)
    tasks = embedders.checked(options)
    found: list[embedders.Row] = []
    embedders.ask(tasks, options, found)
    made = []
    for task in tasks:
        own = [one for one in found if (one.task, one.length) == (task.name, task.length)]
        rows = []
        for one in own:
            values = embedders.values_of(one.rankings, task.gold)
            rows.append(Row(name_of(one), "", {column: values[of] for column, of in columns.items()}))
        about = f"{task.name} {task.length:,}" if task.length else task.name
        cluster = np.arange(len(task.questions))
        made.append(_table(about, rows, cluster, tested=("R@1", "MRR@10")))
    means = []
    for name in dict.fromkeys(map(name_of, found)):
        own = [one for one in found if name_of(one) == name]
        by_task = [
            embedders.mean_over_tasks([one for one in own if one.task == task])
            for task in dict.fromkeys(one.task for one in own)
        ]
        means.append(
            Row(name, "", {column: np.array([one[of] for one in by_task]) for column, of in columns.items()})
        )
    units = np.arange(len({one.task for one in found}))
    return [*made, _table("mean", means, units, unit="tasks", others=True)]


def name_of(row: embedders.Row) -> str:
    """Return the name of an embedder and how it reads documents."""
    return f"{row.embedder}, {row.way}"


def _table(
    about: str,
    rows: Sequence[Row],
    cluster: Scores,
    *,
    tested: tuple[str, ...] = (),
    unit: str = "questions",
    others: bool = False,
) -> SetTable:
    known = published("study-7.2")
    return SetTable(
        "study-7.2",
        about,
        rows,
        cluster,
        known.columns,
        tested,
        known.figures if others else {},
        baseline=rows[0].method,
        note=known.note if others else "",
        paper=known.paper,
        unit=unit,
        others=others,
    )
