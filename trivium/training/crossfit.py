"""Train out of fold by page: every question is scored by networks that have seen none of its pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats
from trivium.common.progress import Progress
from trivium.datasets.splits import clusters, folds
from trivium.fusion.network import Network
from trivium.training.data import Example
from trivium.training.fit import Epoch, Scale, Tick, Trained, scale_of, train
from trivium.training.settings import Settings
from trivium.training.teacher import taught


@dataclass(frozen=True, slots=True, eq=False)
class Crossfit:
    """``logits`` are a question's scores (n,), out of fold; ``fold`` (questions,) says which one was kept back for it.
    ``histories`` are those of each fold's first member; ``epochs`` the mean of the best epochs of all of them."""

    logits: list[Floats]
    fold: NDArray[np.int64]
    histories: tuple[tuple[Epoch, ...], ...]
    epochs: int


def crossfit(
    examples: Sequence[Example],
    pages: Sequence[Sequence[str]],
    settings: Settings,
    progress: Progress | None = None,
) -> Crossfit:
    """Train ``settings.members`` networks for each of ``settings.folds`` parts of the pages. Raises InputError where the
    questions fall into fewer groups without a page in common."""
    fold = folds(pages, settings.folds, seed=0)
    counter = Counter(progress, settings.folds * settings.members * settings.epochs)
    logits: list[Floats] = [np.zeros(0)] * len(examples)
    histories, epochs = [], []
    for held_out in range(settings.folds):
        rest = np.flatnonzero(fold != held_out).tolist()
        own = [examples[place] for place in rest], [pages[place] for place in rest]
        scale = scale_of(own[0])
        own = _taught(*own, settings), own[1]
        trained = [_watched(*own, settings, member, scale, counter) for member in range(settings.members)]
        network = stack([one.network for one in trained])
        for place in np.flatnonzero(fold == held_out).tolist():
            logits[place] = network.logits(examples[place].rows.astype(np.float64))
        histories.append(trained[0].history)
        epochs += [one.epochs for one in trained]
    return Crossfit(logits, fold, tuple(histories), max(1, round(float(np.mean(epochs)))))


def _taught(examples: Sequence[Example], pages: Sequence[Sequence[str]], settings: Settings) -> list[Example]:
    if settings.teacher == 0:
        return list(examples)
    return taught(examples, pages, settings.trees, settings.seed)


def fit_all(
    examples: Sequence[Example],
    pages: Sequence[Sequence[str]],
    settings: Settings,
    epochs: int,
    progress: Progress | None = None,
) -> Network:
    """The network of all questions: ``settings.members`` of them, each trained for a number of epochs."""
    counter = Counter(progress, settings.members * min(epochs, settings.epochs))
    scale = scale_of(examples)
    examples = _taught(examples, pages, settings)
    members = [
        train(examples, (), settings, settings.seed + member, scale=scale, epochs=epochs, tick=counter)
        for member in range(settings.members)
    ]
    return stack([one.network for one in members])


def stack(networks: Sequence[Network]) -> Network:
    """Networks of one shape and one scale as one that averages their scores."""
    layers = [
        (np.concatenate([weights for weights, _ in same]), np.concatenate([bias for _, bias in same]))
        for same in zip(*(one.layers for one in networks), strict=True)
    ]
    return Network(networks[0].mean, networks[0].deviation, tuple(layers))


def watched_part(pages: Sequence[Sequence[str]], parts: int, seed: int) -> NDArray[np.bool_]:
    """Which questions (q,) are watched: those of one in ``parts`` of the pages; none where all share a page."""
    parts = min(parts, len(np.unique(clusters(pages))))
    return folds(pages, parts, seed=seed) == 0 if parts > 1 else np.zeros(len(pages), dtype=bool)


def _watched(
    examples: Sequence[Example],
    pages: Sequence[Sequence[str]],
    settings: Settings,
    member: int,
    scale: Scale,
    tick: Tick,
) -> Trained:
    """Train one member; it watches a part of the pages that is its own."""
    seed = settings.seed + member
    kept_back = watched_part(pages, settings.watched, seed)
    return train(
        [example for example, own in zip(examples, kept_back, strict=True) if not own],
        [example for example, own in zip(examples, kept_back, strict=True) if own],
        settings,
        seed,
        scale=scale,
        tick=tick,
    )


class Counter:
    """Tells how many epochs are done."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._done, self._total = progress, 0, total

    def __call__(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)
