"""The fuser of the thesis: five columns, hard negatives mined by a first network for a second one.

    python experiments/thesis/fuser.py hits/earth.npz hits/qed.npz --out thesis-fusion

trains one on hit lists (``trivium evaluate --hits FILE --depth own``), saves it, and says by its figures out of fold
whether it is fit to search with. Requires the extra ``train``.

Its candidates are those returned by at least one of its retrievers. A candidate that a retriever did not return has, in
that column, a constant just below the lowest score of the retriever in the training data.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from fuser_network import Sample, train
from fuser_settings import MININGS, SAMPLINGS, SPLITS, ThesisSettings
from negatives import balanced, hardest, hardest_of_each, sample_negatives
from numpy.typing import NDArray

import trivium
from experiments import command
from trivium.common.arrays import Floats
from trivium.common.progress import Progress, StageProgress
from trivium.errors import InputError
from trivium.evaluation.tables import share
from trivium.fusion.features import Layout, counted, features
from trivium.fusion.hit_lists import HitList
from trivium.fusion.network import Network, NetworkFusion
from trivium.training.crossfit import Crossfit, EpochCounter, stack
from trivium.training.fit import Scale, Tick, Trained, load_keras
from trivium.training.report import save_outcome
from trivium.training.run import NETWORK, Outcome, finished
from trivium.training.training_data import Collection, Example, read

_BLOCKS = {"local": ("standard",), "global": ("raw",), "none": ("raw",)}
_MINED = {
    "none": "one pass",
    "hard": "in the second pass gold and as many of the hardest {share:.0%} of each question's negatives",
    "global": "in the second pass gold and the hardest {share:.0%} of all questions' negatives together",
    "mixed": "in the second pass gold, the hardest {share:.0%} of all questions' negatives and random ones",
}
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
    """The layout of the feature columns. The floor of a retriever, the value of candidates it did not return, is that of
    the settings, or else the multiple of 0.01 just below its lowest score; 0 for ``path``. Raises InputError when a
    retriever is missing."""
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
    return replace(
        layout, floors={name: _floor(hits, name, layout, settings) for name in settings.retrievers}
    )


def example_of(hit: HitList, layout: Layout, weight: float) -> Example:
    """The candidates of a question that are within the layout's depths, as an example."""
    rows = np.flatnonzero(counted(hit.table, layout))
    table = hit.table.take(rows.tolist())
    return Example(features(table, layout).astype(np.float32), hit.gold[rows] >= 0, weight)


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
    """Train the second network: on all gold and as many of the negatives that the ``first`` scores highest of each
    question; with other mining as the settings say."""

    def mine(part: Sample, generator: np.random.Generator) -> NDArray[np.int64]:
        scores = first.logits(part.rows.astype(np.float64))
        if settings.mining == "hard":
            kept = hardest_of_each(part.gold, scores, part.question, settings.share)
            return kept[balanced(part.gold[kept], generator)]
        hard = hardest(part.gold, scores, settings.share)
        if settings.mining == "global":
            return hard
        return np.union1d(hard, sample_negatives(part.gold, settings, generator))

    return _train_on(training_set, settings, seed, tick, mine)


def fit(training_set: TrainingSet, settings: ThesisSettings, seed: int, tick: Tick = lambda: None) -> Trained:
    """Train both passes and return the second network; with mining "none" only the first."""
    first = first_pass(training_set, settings, seed, tick)
    if settings.mining == "none":
        return first
    return second_pass(training_set, first.network, settings, seed, tick)


def fit_members(training_set: TrainingSet, settings: ThesisSettings, tick: Tick = lambda: None) -> Trained:
    """Train ``settings.members`` networks, with successive seeds, and return their mean, and the mean of their epochs."""
    members = [
        fit(training_set, settings, settings.seed + member, tick) for member in range(settings.members)
    ]
    epochs = round(float(np.mean([member.epochs for member in members])))
    return Trained(stack([member.network for member in members]), (), epochs)


def crossfit(collection: Collection, settings: ThesisSettings, progress: Progress | None = None) -> Crossfit:
    """Train ``settings.members`` networks for each of the settings' folds. All candidates are scored; those beyond the
    depths rank behind the others. Raises InputError when there are fewer groups of questions than folds."""
    hits, pages, weights = collection.hits, collection.pages, collection.weights
    fold = settings.fold_of(pages)
    counter = EpochCounter(progress, settings.folds * settings.members * _epochs(settings))
    logits: list[Floats] = [np.zeros(0)] * len(hits)
    epochs: list[int] = []
    for held_out in range(settings.folds):
        rest = np.flatnonzero(fold != held_out).tolist()
        training_set = make_training_set(
            [hits[n] for n in rest], [pages[n] for n in rest], weights[rest], settings
        )
        trained = fit_members(training_set, settings, counter)
        fusion = training_set.fusion(trained.network)
        for place in np.flatnonzero(fold == held_out).tolist():
            logits[place] = fusion.fuse(hits[place].table).scores
        epochs.append(trained.epochs)
    return Crossfit(logits, fold, max(1, round(float(np.mean(epochs)))))


def fit_all(
    collection: Collection, settings: ThesisSettings, progress: Progress | None = None
) -> tuple[Network, Layout]:
    """The final network, trained on all questions (again with a part of the rows for validation), and its layout."""
    counter = EpochCounter(progress, settings.members * _epochs(settings))
    whole = make_training_set(collection.hits, collection.pages, collection.weights, settings)
    return fit_members(whole, settings, counter).network, whole.layout


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
    """Choose candidates with ``choose``, take a random part of them for validation, and train on the others."""
    generator = np.random.default_rng(seed)
    sample = training_set.pool.take(choose(training_set.pool, generator))
    held_out = np.zeros(len(sample.gold), dtype=np.bool_)
    held_out[generator.permutation(len(sample.gold))[: round(settings.validation * len(sample.gold))]] = True
    validation = sample.take(np.flatnonzero(held_out)) if held_out.any() else None
    return train(sample.take(np.flatnonzero(~held_out)), validation, settings, seed, training_set.scale, tick)


def _floor(hits: Sequence[HitList], name: str, layout: Layout, settings: ThesisSettings) -> float:
    if name == "path":
        return _PATH_FLOOR
    if settings.floor is not None:
        return settings.floor
    lowest = math.inf
    for hit in hits:
        column = hit.table.column(name)
        ranks = hit.table.ranks[:, column]
        returned = (ranks > 0) & (ranks <= layout.depths.get(name, len(ranks)))
        lowest = min(lowest, hit.table.raw[returned, column].min(initial=math.inf))
    return 0.0 if math.isinf(lowest) else (math.ceil(lowest * 100) - 1) / 100


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
        f" {settings.standardisation} standardisation,\n{_MINED[settings.mining].format(share=settings.share)},"
        f" binary cross-entropy, Adam ({settings.rate:g}, on a plateau x {settings.factor:g} down to"
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


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add the options of :class:`ThesisSettings` that both commands have."""
    usual = ThesisSettings()
    parser.add_argument(
        "--mining",
        choices=MININGS,
        default=usual.mining,
        help="Of hard negatives.  [default: hard, as published]",
    )
    parser.add_argument("--sampling", choices=SAMPLINGS, default=usual.sampling)
    parser.add_argument(
        "--share", type=float, default=usual.share, help="Of negatives mined.  [default: 0.1]"
    )
    parser.add_argument(
        "--floor",
        type=float,
        help="Score of what was not returned (published: .75).  [default: below the lowest]",
    )
    parser.add_argument("--epochs", type=int, default=usual.epochs)
    parser.add_argument("--folds", type=int, default=usual.folds, help="5 means 80/20.  [default: 5]")
    parser.add_argument("--seed", type=int, default=0, help="Of samples and first weights.  [default: 0]")
    parser.add_argument(
        "--members",
        type=int,
        default=1,
        help="The mean of so many networks, with seeds from --seed on.  [default: 1]",
    )
    parser.add_argument("--split-seed", type=int, default=0, help="Of the folds.  [default: 0]")


def settings_of(given: argparse.Namespace, **more: Any) -> ThesisSettings:
    """The settings of :func:`add_settings`. Raises ConfigurationError."""
    names = ("mining", "sampling", "share", "floor", "epochs", "folds", "seed", "members", "split_seed")
    return ThesisSettings(**{name: getattr(given, name) for name in names}, **more)


def deep_inputs(collection: Collection) -> Collection:
    """The collection, with lists in a search as long as the longest of its own: a network that was trained on all chunks
    of a page is not given the best thirty."""
    longest = max(int(hit.table.ranks.max(initial=0)) for hit in collection.hits)
    depth = max(longest, int(collection.inputs.get("depth", 1)))
    return replace(collection, inputs={**collection.inputs, "depth": depth})


def fitness(outcome: Outcome) -> list[str]:
    """What an outcome is fit for, in lines: the figures of each set out of fold, and whether to search with it."""
    lines = [
        f"{name}: hit@1/3/5 "
        + ", ".join(
            f"{row} {'/'.join(share(report.rows[row].means[f'hit@{k}']) for k in (1, 3, 5))}"
            for row in (NETWORK, "vector", "convex")
        )
        for name, report in outcome.reports.items()
    ]
    if outcome.gate.active:
        return [*lines, f"fit for search: {outcome.gate.because}"]
    return [
        *lines,
        f"not fit for search: {outcome.gate.because}",
        "what is: the store's own default, or  trivium train  on hit lists of the usual depth; of the thesis's networks"
        " --mining none, the first one, comes closer",
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Train one, save it, and say what it is fit for."""
    parser = command.Parser(__doc__, takes="minutes", packages=("trivium[train]",))
    parser.add_argument("hits", nargs="+", type=command.existing)
    parser.add_argument("--out", type=Path, required=True)
    add_settings(parser)
    parser.add_argument("--split", choices=SPLITS, default=ThesisSettings().split)
    given = parser.parse_args(arguments)
    settings = settings_of(given, split=given.split)
    load_keras()
    collection = read(given.hits, folds=settings.folds if settings.split == "document" else 1)
    outcome = train_thesis(deep_inputs(collection), settings)
    save_outcome(outcome, given.out)
    print(*fitness(outcome), f"saved in {given.out}", sep="\n")


if __name__ == "__main__":
    command.run(main)
