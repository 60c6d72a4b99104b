"""The fuser of the thesis: five columns, hard negatives mined by a first network for a second one.

Candidates are those that one of its retrievers returned; what a retriever did not return has a constant just below the
lowest score it gave in training.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats
from trivium.common.progress import Progress
from trivium.datasets.splits import folds
from trivium.errors import InputError
from trivium.fusion.features import Layout, counted, features
from trivium.fusion.hits import HitList
from trivium.fusion.network import Network, NetworkFusion
from trivium.training.crossfit import Counter, Crossfit, stack, watched_part
from trivium.training.data import Collection, Example
from trivium.training.fit import Scale, Tick, Trained
from trivium.training.settings import ThesisSettings
from trivium.training.thesis_fit import Sample, train

_BLOCKS = {"local": ("standard",), "global": ("raw",)}
_PATH = 0.0
"""What ``path`` has for a candidate it did not return: it says 1 or 0."""


@dataclass(frozen=True, eq=False)
class Lesson:
    """Questions to learn from, their ``pages`` and how much each counts, in the columns of a ``layout``."""

    hits: Sequence[HitList]
    pages: Sequence[Sequence[str]]
    weights: Floats
    layout: Layout
    pool: Sample
    scale: Scale

    def fusion(self, network: Network) -> NetworkFusion:
        """A network that learnt from it."""
        return NetworkFusion(network, self.layout)


def lesson(
    hits: Sequence[HitList],
    pages: Sequence[Sequence[str]],
    weights: Floats,
    settings: ThesisSettings,
) -> Lesson:
    """All counted candidates of some questions as rows. Raises InputError where a retriever of the settings is missing
    or there are no candidates."""
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
    return Lesson(hits, pages, weights, layout, pool, (mean, deviation))


def layout_of(hits: Sequence[HitList], settings: ThesisSettings) -> Layout:
    """The columns, and for each retriever the constant of what it did not return: the next lower multiple of .01 below
    the lowest score among what it did, 0 for ``path``."""
    missing = [name for name in settings.retrievers if name not in hits[0].table.columns] if hits else []
    if missing or not hits:
        raise InputError(
            f"the preset thesis needs hit lists with scores of {', '.join(settings.retrievers)}:"
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
    """The counted candidates of a question."""
    rows = np.flatnonzero(counted(hit.table, layout))
    table = hit.table.take(rows.tolist())
    return Example(features(table, layout).astype(np.float32), hit.gold[rows] >= 0, weight)


def sampled(gold: NDArray[np.bool_], share: float, generator: np.random.Generator) -> NDArray[np.int64]:
    """All gold and a random share of the others, as rising places."""
    others = np.flatnonzero(~gold)
    return _with_gold(gold, generator.permutation(others)[: _part(others, share)])


def hardest(gold: NDArray[np.bool_], scores: Floats, share: float) -> NDArray[np.int64]:
    """All gold and the share of the others with the highest scores (of equals the first), as rising places."""
    others = np.flatnonzero(~gold)
    return _with_gold(gold, others[np.argsort(-scores[others], kind="stable")][: _part(others, share)])


def first_pass(lesson: Lesson, settings: ThesisSettings, seed: int, tick: Tick = lambda: None) -> Trained:
    """The network that learns from all gold and a random share of the other candidates."""
    return _learn(
        lesson, settings, seed, tick, lambda part, generator: sampled(part.gold, settings.share, generator)
    )


def second_pass(
    lesson: Lesson, first: Network, settings: ThesisSettings, seed: int, tick: Tick = lambda: None
) -> Trained:
    """The network that learns from all gold and what the ``first`` takes for gold, and with mixed mining also from a
    random share."""

    def mined(part: Sample, generator: np.random.Generator) -> NDArray[np.int64]:
        hard = hardest(part.gold, first.logits(part.rows.astype(np.float64)), settings.share)
        if settings.mining == "hard":
            return hard
        return np.union1d(hard, sampled(part.gold, settings.share, generator))

    return _learn(lesson, settings, seed, tick, mined)


def fit(lesson: Lesson, settings: ThesisSettings, seed: int, tick: Tick = lambda: None) -> Trained:
    """Both passes, or the first where nothing is mined."""
    first = first_pass(lesson, settings, seed, tick)
    if settings.mining == "none":
        return first
    return second_pass(lesson, first.network, settings, seed, tick)


def crossfit(collection: Collection, settings: ThesisSettings, progress: Progress | None = None) -> Crossfit:
    """Train ``settings.members`` networks for each of ``settings.folds`` parts of the pages; scores are of all
    candidates, those that do not count behind the others. Raises InputError where the questions fall into fewer groups
    without a page in common."""
    hits, pages, weights = collection.hits, collection.pages, collection.weights
    fold = folds(pages, settings.folds, seed=0)
    counter = Counter(progress, settings.folds * settings.members * _epochs(settings))
    logits: list[Floats] = [np.zeros(0)] * len(hits)
    histories, epochs = [], []
    for held_out in range(settings.folds):
        rest = np.flatnonzero(fold != held_out).tolist()
        own = lesson([hits[n] for n in rest], [pages[n] for n in rest], weights[rest], settings)
        trained = [fit(own, settings, settings.seed + member, counter) for member in range(settings.members)]
        fusion = own.fusion(stack([one.network for one in trained]))
        for place in np.flatnonzero(fold == held_out).tolist():
            logits[place] = fusion.fuse(hits[place].table).scores
        histories.append(trained[0].history)
        epochs += [one.epochs for one in trained]
    return Crossfit(logits, fold, tuple(histories), max(1, round(float(np.mean(epochs)))))


def fit_all(
    collection: Collection, settings: ThesisSettings, progress: Progress | None = None
) -> tuple[Network, Layout]:
    """The network of all questions, which again watches a part of the pages, and its columns."""
    counter = Counter(progress, settings.members * _epochs(settings))
    whole = lesson(collection.hits, collection.pages, collection.weights, settings)
    members = [fit(whole, settings, settings.seed + member, counter) for member in range(settings.members)]
    return stack([one.network for one in members]), whole.layout


def cascade(first: Floats, second: Floats, least: float) -> Floats:
    """Scores (n,) of two networks as one order: the candidates that the first gives ``least`` or more stand before the
    others and are ordered by the second, the others by the first."""
    scores = first.copy()
    top = first >= least
    if top.any():
        scores[top] = first.max() + 1 + second[top] - second[top].min()
    return scores


def least_mined(lesson: Lesson, first: Network, share: float) -> float:
    """The lowest score of the first network among the negatives a second one learns from: below, that one is blind."""
    scores = first.logits(lesson.pool.rows.astype(np.float64))
    places = hardest(lesson.pool.gold, scores, share)
    return float(scores[places][~lesson.pool.gold[places]].min())


def judged(
    collection: Collection, settings: ThesisSettings, logits: Sequence[Floats]
) -> tuple[list[Example], list[Floats]]:
    """The counted candidates of every question, and their scores."""
    layout = layout_of(collection.hits, settings)
    examples = [
        example_of(hit, layout, float(weight))
        for hit, weight in zip(collection.hits, collection.weights, strict=True)
    ]
    scores = [own[counted(hit.table, layout)] for hit, own in zip(collection.hits, logits, strict=True)]
    return examples, scores


def _learn(
    lesson: Lesson,
    settings: ThesisSettings,
    seed: int,
    tick: Tick,
    choose: Callable[[Sample, np.random.Generator], NDArray[np.int64]],
) -> Trained:
    """Choose candidates among those to learn from and among the watched ones alike, and train."""
    generator = np.random.default_rng(seed)
    watched = watched_part(lesson.pages, settings.watched, seed)[lesson.pool.question]
    parts = [lesson.pool.take(np.flatnonzero(own)) for own in (~watched, watched)]
    learnt, seen = (part.take(choose(part, generator)) if len(part.gold) else None for part in parts)
    if learnt is None:
        raise InputError("nothing to learn from: all candidates are on the watched pages")
    return train(learnt, seen, settings, seed, lesson.scale, tick)


def _floor(hits: Sequence[HitList], name: str, layout: Layout) -> float:
    if name == "path":
        return _PATH
    lowest = math.inf
    for hit in hits:
        column = hit.table.column(name)
        ranks = hit.table.ranks[:, column]
        found = (ranks > 0) & (ranks <= layout.depths.get(name, len(ranks)))
        lowest = min(lowest, hit.table.raw[found, column].min(initial=math.inf))
    return 0.0 if math.isinf(lowest) else (math.ceil(lowest * 100) - 1) / 100


def _with_gold(gold: NDArray[np.bool_], others: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.sort(np.concatenate([np.flatnonzero(gold), others]))


def _part(others: NDArray[np.int64], share: float) -> int:
    return max(1, round(share * len(others)))


def _epochs(settings: ThesisSettings) -> int:
    return settings.epochs * (1 if settings.mining == "none" else 2)
