"""Tables of what a question is meant for, by the experiment ``intent``: classifiers on phrases of unseen writers and
questions about unseen documents.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from sklearn.metrics import f1_score

from experiments.intent import fit
from experiments.papers.published import Published, published
from experiments.papers.set_table import Row, SetTable
from trivium.datasets.cross_validation import clusters

SHOWN = ("bge-small",)
"""The classifiers of the tables of one: that of the store's usual embedder."""


def tables(names: Sequence[str], arguments: Sequence[str]) -> list[SetTable]:
    """Return the named tables, by the options of the experiment."""
    given = fit.parser().parse_args(arguments)
    if given.data is None and given.phrases is None:
        print(
            f"{', '.join(names)}: without --data FOLDER, questions of evaluation sets are left out",
            file=sys.stderr,
        )
    found = fit.phrases(given.data, given.phrases, given.split)
    intents = np.array([phrase.intent for phrase in found])
    written = np.array([phrase.group.startswith("writer") for phrase in found])
    asked = fit.EMBEDDERS if "diffusion-2" in names else SHOWN
    said = {name: fit.judged(found, name).said for name in asked}
    made = []
    for name in names:
        known = published(name)
        if name == "diffusion-2":
            rows = [
                Row(embedder, case, accuracy(intents, answers))
                for embedder, cases in said.items()
                for case, answers in cases.items()
            ]
            cluster = clusters([[phrase.group] for phrase in found])
            made.append(_table(name, known, rows, cluster, ("accuracy",), "bge-small"))
        elif name == "diffusion-3":
            answers = said[SHOWN[0]]["as written"]
            rows = [
                Row(
                    _spoken(true),
                    "",
                    {_spoken(one): (answers[intents == true] == one) * 1.0 for one in fit.INTENTS},
                )
                for true in fit.INTENTS
            ]
            made.append(_table(name, known, rows, np.arange(len(found))))
        else:
            own = [phrase for phrase, by_writer in zip(found, written, strict=True) if by_writer]
            answers = said[SHOWN[0]]["with typos"]
            rows = [Row(SHOWN[0], "with typos", accuracy(intents[written], answers[written]))]
            cluster = clusters([[phrase.group] for phrase in own])
            made.append(_table(name, known, rows, cluster, ("accuracy",)))
    return made


def accuracy(intents: np.ndarray, answers: np.ndarray) -> dict[str, np.ndarray]:
    """Return whether each is right, and macro F1, which is one for all."""
    macro = f1_score(intents, answers.astype(str), average="macro")
    return {"accuracy": (answers == intents).astype(np.float64), "macro F1": np.full(len(intents), macro)}


def _spoken(intent: str) -> str:
    return intent.replace("_", " ")


def _table(
    name: str,
    known: Published,
    rows: Sequence[Row],
    cluster: np.ndarray,
    tested: tuple[str, ...] = (),
    baseline: str = "",
) -> SetTable:
    return SetTable(
        name,
        "intent",
        rows,
        cluster,
        known.columns,
        tested,
        known.figures,
        baseline=baseline,
        note=known.note,
        paper=known.paper,
        about="phrases",
        unit="phrases",
        others=True,
    )
