"""The fuser of the thesis: five columns, hard negatives mined by a first network for a second one.

    python experiments/thesis/fuser.py hits/earth.npz hits/qed.npz --out thesis-fusion

trains one on hit lists (``trivium evaluate --hits FILE --depth own``) and saves it, to search with. Requires the extra
``train``.

Its candidates are those returned by at least one of its retrievers. A candidate that a retriever did not return has, in
that column, a constant just below the lowest score of the retriever in the training data.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from fuser_network import Sample, train
from fuser_settings import MININGS, SAMPLINGS, ThesisSettings
from numpy.typing import NDArray

import trivium
from trivium.common.arrays import Floats
from trivium.common.progress import Progress, StageProgress
from trivium.datasets.cross_validation import folds
from trivium.errors import InputError
from trivium.fusion.features import Layout, counted, features
from trivium.fusion.hit_lists import HitList
from trivium.fusion.network import Network, NetworkFusion
from trivium.training.crossfit import Crossfit, EpochCounter, stack, validation_part
from trivium.training.fit import Scale, Tick, Trained
from trivium.training.report import save_outcome
from trivium.training.run import Outcome, finished
from trivium.training.training_data import Collection, Example, read

_BLOCKS = {"local": ("standard",), "global": ("raw",), "none": ("raw",)}
_PATH_FLOOR = 0.0
"""Value of the column ``path`` for candidates it did not return; its scores are 1 or 0."""


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Training questions with their gold ``pages`` and ``weights`` (questions,). ``pool`` holds their candidates in the
    columns of ``layout``; ``scale`` is the mean and deviation (f,) to standardise them by."""

    hits: Sequence[HitList]
    pages: Sequence[Sequence[str]]
    weights: Floats
    layout: Layout
    pool: Sample
    scale: Scale

    def fusion(self, network: Network) -> NetworkFusion:
        """The fusion of a network trained on this set."""
        return NetworkFusion(network, self.layout)


def make_training_set(
    hits: Sequence[HitList],
    pages: Sequence[Sequence[str]],
    weights: Floats,
    settings: ThesisSettings,
) -> TrainingSet:
    """The training set of some questions: all candidates within the settings' depths. Raises InputError when the hit
    lists lack a retriever of the settings or hold no candidates."""
    layout = layout_of(hits, settings)
    examples = [example_of(hit, layout, float(weight)) for hit, weight in zip(hits, weights, strict=True)]
    sizes = [len(example.gold) for example in examples]
    if not sum(sizes):
        raise InputError("nothing to learn from: there are no candidates")
    rows = np.concatenate([example.rows for example in examples])
    pool = Sample(
        rows=rows,
        gold=np.concatenate([example.gold for example in examples]),
        weight=np.repeat(weights, sizes).astype(np.float32),
        question=np.repeat(np.arange(len(hits)), sizes),
    )
    mean, deviation = np.zeros(rows.shape[1], np.float32), np.ones(rows.shape[1], np.float32)
    if settings.standardisation == "global":
        mean = rows.mean(axis=0, dtype=np.float64).astype(np.float32)
        spread = rows.std(axis=0, dtype=np.float64).astype(np.float32)
        deviation = np.where(spread > 0, spread, np.float32(1))
    return TrainingSet(hits, pages, weights, layout, pool, (mean, deviation))


def layout_of(hits: Sequence[HitList], settings: ThesisSettings) -> Layout:
    """The layout of the feature columns. The floor of a retriever, the value of candidates it did not return, is the
    multiple of 0.01 just below its lowest score; 0 for ``path``. Raises InputError when a retriever is missing."""
    missing = [name for name in settings.retrievers if name not in hits[0].table.columns] if hits else []
    if missing or not hits:
        raise InputError(
            f"the fuser of the thesis needs hit lists with scores of {', '.join(settings.retrievers)}:"
            f" {', '.join(missing) or 'all of them'} missing"
        )
    layout = Layout(
        settings.retrievers,
        blocks=_BLOCKS[settings.standardisation],
        floors=dict.fromkeys(settings.retrievers, 0.0),
        depths={name: n for name, n in settings.depths.items() if name in settings.retrievers},
    )
    return replace(layout, floors={name: _floor(hits, name, layout) for name in settings.retrievers})


def example_of(hit: HitList, layout: Layout, weight: float) -> Example:
    """The candidates of a question that are within the layout's depths, as an example."""
    rows = np.flatnonzero(counted(hit.table, layout))
    table = hit.table.take(rows.tolist())
    return Example(features(table, layout).astype(np.float32), hit.gold[rows] >= 0, weight)


def sample_negatives(
    gold: NDArray[np.bool_], settings: ThesisSettings, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Positions, ascending, of all gold candidates and of a random sample of the others, by the settings."""
    return (
        balanced(gold, generator)
        if settings.sampling == "balanced"
        else sampled(gold, settings.share, generator)
    )


def balanced(gold: NDArray[np.bool_], generator: np.random.Generator) -> NDArray[np.int64]:
    """Positions, ascending, of all gold candidates and as many random others (all, where there are fewer)."""
    others = np.flatnonzero(~gold)
    return _with_gold(gold, generator.permutation(others)[: int(gold.sum())])


def sampled(gold: NDArray[np.bool_], share: float, generator: np.random.Generator) -> NDArray[np.int64]:
    """Positions, ascending, of all gold candidates and a random share of the others (at least one)."""
    others = np.flatnonzero(~gold)
    return _with_gold(gold, generator.permutation(others)[: _count(others, share)])


def hardest(gold: NDArray[np.bool_], scores: Floats, share: float) -> NDArray[np.int64]:
    """Positions, ascending, of all gold candidates and the share of the others with the highest scores (ties: the
    first)."""
    others = np.flatnonzero(~gold)
    return _with_gold(gold, others[np.argsort(-scores[others], kind="stable")][: _count(others, share)])


def first_pass(
    training_set: TrainingSet, settings: ThesisSettings, seed: int, tick: Tick = lambda: None
) -> Trained:
    """Train the first network: on all gold and a random sample of the other candidates."""
    return _train_on(
        training_set,
        settings,
        seed,
        tick,
        lambda part, generator: sample_negatives(part.gold, settings, generator),
    )


def second_pass(
    training_set: TrainingSet, first: Network, settings: ThesisSettings, seed: int, tick: Tick = lambda: None
) -> Trained:
    """Train the second network: on all gold and the negatives that the ``first`` scores highest; with mixed mining
    also on a random sample."""

    def mine(part: Sample, generator: np.random.Generator) -> NDArray[np.int64]:
        hard = hardest(part.gold, first.logits(part.rows.astype(np.float64)), settings.share)
        if settings.mining == "hard":
            return hard
        return np.union1d(hard, sample_negatives(part.gold, settings, generator))

    return _train_on(training_set, settings, seed, tick, mine)


def fit(training_set: TrainingSet, settings: ThesisSettings, seed: int, tick: Tick = lambda: None) -> Trained:
    """Train both passes and return the second network; with mining "none" only the first."""
    first = first_pass(training_set, settings, seed, tick)
    if settings.mining == "none":
        return first
    return second_pass(training_set, first.network, settings, seed, tick)


def crossfit(collection: Collection, settings: ThesisSettings, progress: Progress | None = None) -> Crossfit:
    """Train ``settings.members`` networks for each of ``settings.folds`` folds of pages. All candidates are
    scored; those beyond the depths rank behind the others. Raises InputError when there are fewer groups of questions
    that share no page than folds."""
    hits, pages, weights = collection.hits, collection.pages, collection.weights
    fold = folds(pages, settings.folds, seed=0)
    counter = EpochCounter(progress, settings.folds * settings.members * _epochs(settings))
    logits: list[Floats] = [np.zeros(0)] * len(hits)
    epochs: list[int] = []
    for held_out in range(settings.folds):
        rest = np.flatnonzero(fold != held_out).tolist()
        training_set = make_training_set(
            [hits[n] for n in rest], [pages[n] for n in rest], weights[rest], settings
        )
        trained = [
            fit(training_set, settings, settings.seed + member, counter) for member in range(settings.members)
        ]
        fusion = training_set.fusion(stack([result.network for result in trained]))
        for place in np.flatnonzero(fold == held_out).tolist():
            logits[place] = fusion.fuse(hits[place].table).scores
        epochs += [result.epochs for result in trained]
    return Crossfit(logits, fold, max(1, round(float(np.mean(epochs)))))


def fit_all(
    collection: Collection, settings: ThesisSettings, progress: Progress | None = None
) -> tuple[Network, Layout]:
    """The final network, trained on all questions (again with a part of the pages for validation), and its layout."""
    counter = EpochCounter(progress, settings.members * _epochs(settings))
    whole = make_training_set(collection.hits, collection.pages, collection.weights, settings)
    members = [fit(whole, settings, settings.seed + member, counter) for member in range(settings.members)]
    return stack([member.network for member in members]), whole.layout


def counted_examples(
    collection: Collection, settings: ThesisSettings, logits: Sequence[Floats]
) -> tuple[list[Example], list[Floats]]:
    """The candidates of every question within the settings' depths, and their scores (n,), from those of all
    candidates."""
    layout = layout_of(collection.hits, settings)
    examples = [
        example_of(hit, layout, float(weight))
        for hit, weight in zip(collection.hits, collection.weights, strict=True)
    ]
    scores = [
        hit_logits[counted(hit.table, layout)]
        for hit, hit_logits in zip(collection.hits, logits, strict=True)
    ]
    return examples, scores


def _train_on(
    training_set: TrainingSet,
    settings: ThesisSettings,
    seed: int,
    tick: Tick,
    choose: Callable[[Sample, np.random.Generator], NDArray[np.int64]],
) -> Trained:
    """Split the pages into training and validation, choose candidates of both parts with ``choose``, and train."""
    generator = np.random.default_rng(seed)
    validates = validation_part(training_set.pages, settings.watched, seed)[training_set.pool.question]
    parts = [training_set.pool.take(np.flatnonzero(mask)) for mask in (~validates, validates)]
    training, validation = (part.take(choose(part, generator)) if len(part.gold) else None for part in parts)
    if training is None:
        raise InputError("nothing to learn from: all candidates are on the validation pages")
    return train(training, validation, settings, seed, training_set.scale, tick)


def _floor(hits: Sequence[HitList], name: str, layout: Layout) -> float:
    if name == "path":
        return _PATH_FLOOR
    lowest = math.inf
    for hit in hits:
        column = hit.table.column(name)
        ranks = hit.table.ranks[:, column]
        returned = (ranks > 0) & (ranks <= layout.depths.get(name, len(ranks)))
        lowest = min(lowest, hit.table.raw[returned, column].min(initial=math.inf))
    return 0.0 if math.isinf(lowest) else (math.ceil(lowest * 100) - 1) / 100


def _with_gold(gold: NDArray[np.bool_], others: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.sort(np.concatenate([np.flatnonzero(gold), others]))


def _count(others: NDArray[np.int64], share: float) -> int:
    return max(1, round(share * len(others)))


def _epochs(settings: ThesisSettings) -> int:
    return settings.epochs * (1 if settings.mining == "none" else 2)


def train_thesis(
    collection: Collection, settings: ThesisSettings, progress: StageProgress | None = None
) -> Outcome:
    """Train the fuser on a collection, and judge it as ``trivium train`` judges its own."""

    def told(done: int, total: int) -> None:
        if progress is not None:
            progress("Training", done, total)

    fitted = crossfit(collection, settings, told)
    examples, scored = counted_examples(collection, settings, fitted.logits)
    how = (
        "The fuser of the thesis (Milano-Bicocca, 2024): scores only of what a retriever returned,"
        f" {settings.standardisation} standardisation,\nmining: {settings.mining} (a share of {settings.share:g} of the"
        f" negatives), binary cross-entropy, Adam ({settings.rate:g}, on a plateau x {settings.factor:g} down to"
        f" {settings.least_rate:g}),\nL2 {settings.l2:g}, batch normalisation, dropout"
        f" {'/'.join(f'{part:g}' for part in settings.dropout)}, early stopping ({settings.patience}) within"
        f" {settings.epochs} epochs, batches of {settings.batch} candidates, seed {settings.seed}."
    )
    return finished(
        collection,
        fitted,
        examples,
        scored,
        lambda: fit_all(collection, settings),
        {**asdict(settings), "told": how},
        progress,
        version=trivium.__version__,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Train one and save it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("hits", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--mining", choices=MININGS, default=ThesisSettings().mining)
    parser.add_argument("--sampling", choices=SAMPLINGS, default=ThesisSettings().sampling)
    parser.add_argument("--epochs", type=int, default=ThesisSettings().epochs)
    parser.add_argument("--folds", type=int, default=ThesisSettings().folds)
    given = parser.parse_args(arguments)
    settings = ThesisSettings(
        mining=given.mining, sampling=given.sampling, epochs=given.epochs, folds=given.folds
    )
    outcome = train_thesis(read(given.hits, folds=given.folds), settings)
    save_outcome(outcome, given.out)
    print(f"gate {'open' if outcome.gate.active else 'closed'}: {outcome.gate.because}")


if __name__ == "__main__":
    main()
