"""Train a network on saved hit lists, judged out of fold by page, and save it as an artefact.

    pip install tensorflow-cpu
    python experiments/fusion/train.py squad.npz earth.npz qed.npz hotpotqa.npz 2wiki.npz musique.npz --out network

Every question is answered by a network that has seen none of its pages (5 folds), beside each retriever alone and the
tuned convex combination. Sets weigh as the square root of their number of questions, times ``--importance``. Then one
network is trained on all questions and written with ``--out``: search with it by  ``--fusion network``.

The loss is that of a softmax between each gold candidate and all others, over all gold and up to 64 candidates of a
question, drawn anew every five epochs.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from rich.console import Console
from rich.table import Table as Grid

from trivium.datasets.splits import folds
from trivium.fusion.artefact import Artefact, save
from trivium.fusion.convex import load
from trivium.fusion.features import Layout, features
from trivium.fusion.hits import HitList, load_hits
from trivium.fusion.network import CLIP, Network
from trivium.retrievers.signals import OWNERS, WALKS

FOLDS = 5
CANDIDATES = 64
REDRAWN = 5
"""Epochs after which other candidates are drawn."""


@dataclass(frozen=True)
class Settings:
    """How a network is trained."""

    hidden: tuple[int, ...] = (128, 64)
    dropout: float = 0.2
    rate: float = 2e-3
    decay: float = 1e-2
    epochs: int = 40
    batch: int = 64
    seed: int = 0


@dataclass
class Example:
    """A question: features (n, f) of its candidates and their gold groups (n,)."""

    hit: HitList
    rows: np.ndarray


def main() -> None:
    """Read, train out of fold, judge, train on all, save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("hits", nargs="+", type=Path)
    parser.add_argument("--importance", nargs="+", type=float, help="One a file (default 1 each).")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--dropout", type=float, default=0.2)
    parser.add_argument("--hidden", nargs="+", type=int, default=[128, 64])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="Folder for the artefact.")
    given = parser.parse_args()
    settings = Settings(
        hidden=tuple(given.hidden), dropout=given.dropout, epochs=given.epochs, seed=given.seed
    )
    importance = given.importance or [1.0] * len(given.hits)
    sets, embedder = read(given.hits)
    layout = layout_of(next(iter(sets.values()))[0])
    examples = [
        Example(hit, features(hit.table, layout).astype(np.float32)) for hits in sets.values() for hit in hits
    ]
    weights = np.concatenate(
        [
            np.full(len(hits), factor / len(hits) ** 0.5)
            for hits, factor in zip(sets.values(), importance, strict=True)
        ]
    )
    scores = out_of_fold(examples, sets, weights, settings)
    judged = judge(sets, scores, embedder)
    show(judged)
    if given.out is not None:
        network = train(examples, weights, settings)
        data = {name: len(hits) for name, hits in sets.items()}
        save(
            Artefact(network, layout, embedder, data, {s: rows["network"] for s, rows in judged.items()}),
            given.out,
        )


def read(paths: Sequence[Path]) -> tuple[dict[str, list[HitList]], str]:
    """Hit lists by the name of their file, and the embedder they have in common."""
    loaded = {path.stem: load_hits(path) for path in paths}
    embedders = {embedder for _, embedder in loaded.values()}
    if len(embedders) != 1:
        raise SystemExit(f"the hit lists come from several embedders: {', '.join(sorted(embedders))}")
    return {name: hits for name, (hits, _) in loaded.items()}, embedders.pop()


def layout_of(hit: HitList) -> Layout:
    """Everything there is in the table."""
    return Layout(
        retrievers=hit.table.columns,
        signals=tuple(hit.table.signals),
        owners=dict(OWNERS),
        logarithmic=("walk", *WALKS),
        gaps=("entity", "before", "after", "linking", "linked", "page_best"),
        question=tuple(hit.table.question),
    )


def out_of_fold(
    examples: list[Example], sets: dict[str, list[HitList]], weights: np.ndarray, settings: Settings
) -> list[np.ndarray]:
    """Scores of every question's candidates by a network that has seen none of its pages."""
    keys = [[f"{_corpus(name)}: {page}" for page in hit.pages] for name, hits in sets.items() for hit in hits]
    fold = folds(keys, FOLDS, seed=0)
    scores: list[np.ndarray] = [np.zeros(0)] * len(examples)
    began = time.perf_counter()
    for held_out in range(FOLDS):
        rest = np.flatnonzero(fold != held_out)
        network = train([examples[place] for place in rest], weights[rest], settings)
        for place in np.flatnonzero(fold == held_out):
            scores[place] = network.logits(examples[place].rows)
        print(f"fold {held_out} after {time.perf_counter() - began:.0f} s", flush=True)
    return scores


def _corpus(name: str) -> str:
    """Sets with a corpus of their own have titles of their own."""
    return name if name.split("_")[0] in ("hotpotqa", "2wiki", "musique") else "joint"


def train(examples: Sequence[Example], weights: np.ndarray, settings: Settings) -> Network:
    """A network fitted to the questions that have gold among their candidates."""
    keras.utils.set_random_seed(settings.seed)
    generator = np.random.default_rng(settings.seed)
    useful = [place for place, example in enumerate(examples) if (example.hit.gold >= 0).any()]
    examples = [examples[place] for place in useful]
    weights = (weights[useful] / weights[useful].mean()).astype(np.float32)
    everything = np.concatenate([example.rows for example in examples])
    mean, deviation = everything.mean(axis=0), everything.std(axis=0)
    deviation = np.where(deviation > 1e-4, deviation, 1).astype(np.float32)
    model = _model(everything.shape[1], settings)
    steps = settings.epochs * -(-len(examples) // settings.batch)
    optimizer = keras.optimizers.AdamW(
        keras.optimizers.schedules.CosineDecay(settings.rate, steps), weight_decay=settings.decay
    )
    optimizer.build(model.trainable_variables)

    @tf.function
    def step(rows: tf.Tensor, gold: tf.Tensor, there: tf.Tensor, weight: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            value = tf.reduce_mean(_loss(model(rows, training=True)[..., 0], gold, there) * weight)
        optimizer.apply_gradients(
            zip(tape.gradient(value, model.trainable_variables), model.trainable_variables, strict=True)
        )
        return value

    for epoch in range(settings.epochs):
        if epoch % REDRAWN == 0:
            rows, gold, there = _draw(examples, generator)
            rows = np.clip((rows - mean) / deviation, -CLIP, CLIP) * there[..., np.newaxis]
        order = generator.permutation(len(examples))
        for start in range(0, len(examples), settings.batch):
            some = order[start : start + settings.batch]
            step(rows[some], gold[some], there[some], weights[some])
    numbers = [variable.numpy() for variable in model.trainable_variables]
    return Network(
        mean,
        deviation,
        tuple((w[np.newaxis], b[np.newaxis]) for w, b in zip(numbers[::2], numbers[1::2], strict=True)),
    )


def _model(width: int, settings: Settings) -> keras.Model:
    rows = values = keras.Input((None, width))
    for units in settings.hidden:
        values = keras.layers.Dense(units, activation="relu")(values)
        values = keras.layers.Dropout(settings.dropout)(values)
    return keras.Model(rows, keras.layers.Dense(1)(values))


def _loss(logits: tf.Tensor, gold: tf.Tensor, there: tf.Tensor) -> tf.Tensor:
    """Each gold candidate against all that are not gold, the mean over a question's gold."""
    others = tf.reduce_logsumexp(tf.where((gold > 0) | (there == 0), -1e9, logits), 1, keepdims=True)
    return tf.reduce_sum(tf.nn.softplus(others - logits) * gold, 1) / tf.maximum(tf.reduce_sum(gold, 1), 1)


def _draw(
    examples: Sequence[Example], generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows (q, c, f), which of them are gold and which are there at all (q, c)."""
    rows = np.zeros((len(examples), CANDIDATES, examples[0].rows.shape[1]), dtype=np.float32)
    gold = np.zeros(rows.shape[:2], dtype=np.float32)
    there = np.zeros_like(gold)
    for place, example in enumerate(examples):
        positive = np.flatnonzero(example.hit.gold >= 0)[: CANDIDATES // 4]
        negative = generator.permutation(np.flatnonzero(example.hit.gold < 0))[: CANDIDATES - len(positive)]
        chosen = np.concatenate([positive, negative])
        rows[place, : len(chosen)] = example.rows[chosen]
        gold[place, : len(positive)] = 1
        there[place, : len(chosen)] = 1
    return rows, gold, there


def judge(
    sets: dict[str, list[HitList]], scores: list[np.ndarray], embedder: str
) -> dict[str, dict[str, list[float]]]:
    """{set: {row: [hit@1, hit@3, hit@5, recall@5, all@5]}}."""
    convex = load(embedder)
    result: dict[str, dict[str, list[float]]] = {}
    start = 0
    for name, hits in sets.items():
        rows: dict[str, list[list[float]]] = {}
        for hit, own in zip(hits, scores[start : start + len(hits)], strict=True):
            for column, retriever in enumerate(hit.table.columns):
                ranks = hit.table.ranks[:, column]
                found = np.flatnonzero(ranks)
                rows.setdefault(retriever, []).append(_measures(hit, found[np.argsort(ranks[found])]))
            fused = convex.fuse(hit.table).scores
            rows.setdefault("convex", []).append(_measures(hit, np.argsort(-fused, kind="stable")))
            rows.setdefault("network", []).append(_measures(hit, np.argsort(-own, kind="stable")))
        result[name] = {row: np.mean(values, axis=0).round(4).tolist() for row, values in rows.items()}
        start += len(hits)
    return result


def _measures(hit: HitList, order: np.ndarray) -> list[float]:
    gold = hit.gold[order]
    found = len(set(gold[:5][gold[:5] >= 0].tolist()))
    return [
        *(float((gold[:k] >= 0).any()) for k in (1, 3, 5)),
        found / hit.groups,
        float(found == hit.groups),
    ]


def show(judged: dict[str, dict[str, list[float]]]) -> None:
    """The table of the README."""
    grid = Grid(title="hit@1/3/5, recall@5/all@5")
    grid.add_column("")
    for name in judged:
        grid.add_column(name)
    for row in next(iter(judged.values())):
        cells = [
            "/".join(f"{value:.3f}"[-4:] if value < 1 else "1.0" for value in rows[row])
            for rows in judged.values()
        ]
        grid.add_row(row, *cells)
    Console(width=200).print(grid)


if __name__ == "__main__":
    main()
