"""Cross-fitting by page: every question is scored by networks trained on none of its pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats
from trivium.common.progress import Progress
from trivium.datasets.cross_validation import apart, count_clusters, folds, page_folds
from trivium.fusion.network import Network
from trivium.training.fit import NOTHING, Added, Scale, Tick, Trained, scale_of, train
from trivium.training.settings import Settings
from trivium.training.training_data import Example


@dataclass(frozen=True, slots=True, eq=False)
class Crossfit:
    """Out-of-fold scores.

    ``logits`` holds each question's scores (n,), ``fold`` (questions,) the fold each question was held out in.
    ``networks`` are the ensembles of the folds, if they are kept; ``epochs`` is the mean of the best epochs of all
    networks, at least 1; 0 if they were not trained in epochs.
    """

    logits: list[Floats]
    fold: NDArray[np.int64]
    epochs: int
    networks: tuple[Network, ...] = ()


def crossfit(
    examples: Sequence[Example],
    pages: Sequence[Sequence[str]],
    settings: Settings,
    progress: Progress | None = None,
    start: Sequence[float] = (),
    added: Added = NOTHING,
) -> Crossfit:
    """Train ``settings.members`` networks for each of ``settings.folds`` folds of pages, each from the ``start``
    (:func:`~trivium.training.fit.train`), and with what is then ``added`` to their scores. Raises InputError when there
    are fewer groups of questions than folds (:func:`trivium.datasets.cross_validation.page_folds`)."""
    counter = EpochCounter(progress, settings.folds * settings.members * settings.epochs)
    epochs: list[int] = []
    seen = [added.hidden_from(example) for example in examples]

    def fit(rest: Sequence[int]) -> Network:
        fold_examples = [seen[place] for place in rest]
        fold_pages = [pages[place] for place in rest]
        scale = scale_of(fold_examples)
        trained = [
            _train_member(fold_examples, fold_pages, settings, member, scale, start, counter)
            for member in range(settings.members)
        ]
        epochs.extend(result.epochs for result in trained)
        return added.to(stack([result.network for result in trained]))

    fitted = by_others(examples, pages, settings.folds, fit)
    return replace(fitted, epochs=max(1, round(float(np.mean(epochs)))))


def by_others(
    examples: Sequence[Example],
    pages: Sequence[Sequence[str]],
    folds: int,
    fit: Callable[[Sequence[int]], Network],
) -> Crossfit:
    """Score each question by the network that ``fit`` makes of the questions (their places) that share no page with its
    fold."""
    fold = page_folds(pages, folds, seed=0)
    logits: list[Floats] = [np.zeros(0)] * len(examples)
    networks = []
    for held_out in range(folds):
        network = fit(np.flatnonzero(apart(pages, fold == held_out)).tolist())
        networks.append(network)
        for place in np.flatnonzero(fold == held_out).tolist():
            logits[place] = network.logits(examples[place].rows.astype(np.float64))
    return Crossfit(logits, fold, 0, tuple(networks))


def fit_all(
    examples: Sequence[Example],
    settings: Settings,
    epochs: int,
    progress: Progress | None = None,
    start: Sequence[float] = (),
    added: Added = NOTHING,
) -> Network:
    """The final network: the mean of ``settings.members`` networks, each trained on all questions for ``epochs`` from the
    ``start``, with what is ``added`` to their scores."""
    counter = EpochCounter(progress, settings.members * min(epochs, settings.epochs))
    examples = [added.hidden_from(example) for example in examples]
    scale = scale_of(examples)
    members = [
        train(
            examples,
            (),
            settings,
            settings.seed + member,
            scale=scale,
            epochs=epochs,
            start=start,
            tick=counter,
        )
        for member in range(settings.members)
    ]
    return added.to(stack([member.network for member in members]))


def stack(networks: Sequence[Network]) -> Network:
    """One network that averages the scores of several with equal layer shapes and equal scaling of the features."""
    layers = [
        (np.concatenate([weights for weights, _ in same]), np.concatenate([bias for _, bias in same]))
        for same in zip(*(network.layers for network in networks), strict=True)
    ]
    return Network(networks[0].mean, networks[0].deviation, tuple(layers))


def validation_part(pages: Sequence[Sequence[str]], parts: int, seed: int) -> NDArray[np.bool_]:
    """A mask (questions,) of the validation questions: those of one in ``parts`` of the pages; none when all questions
    share a page."""
    parts = min(parts, count_clusters(pages))
    return folds(pages, parts, seed=seed) == 0 if parts > 1 else np.zeros(len(pages), dtype=bool)


def _train_member(
    examples: Sequence[Example],
    pages: Sequence[Sequence[str]],
    settings: Settings,
    member: int,
    scale: Scale,
    start: Sequence[float],
    tick: Tick,
) -> Trained:
    """Train one network of the ensemble; each has its own validation pages, drawn from its seed."""
    seed = settings.seed + member
    held_out = validation_part(pages, settings.watched, seed)
    return train(
        [example for example, validates in zip(examples, held_out, strict=True) if not validates],
        [example for example, validates in zip(examples, held_out, strict=True) if validates],
        settings,
        seed,
        scale=scale,
        start=start,
        tick=tick,
    )


class EpochCounter:
    """Counts finished epochs and reports them as progress."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._done, self._total = progress, 0, total

    def __call__(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)
