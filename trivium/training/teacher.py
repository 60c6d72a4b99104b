"""A teacher for distillation: boosted trees whose scores, out of fold by page, a network learns to reproduce.

Trees find thresholds and exceptions faster than a network, but neglect real users' questions when questions written for
a benchmark outnumber them. They are therefore not used to rank; their scores are only a part of the network's loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.datasets.splits import clusters, folds
from trivium.errors import ConfigurationError, MissingExtraError
from trivium.training.data import Example

PARTS = 2
"""The questions are split by page into this many folds; each is scored by trees grown on the others."""
_GROWTH: dict[str, Any] = {
    "objective": "lambdarank",
    "lambdarank_truncation_level": 10,
    "learning_rate": 0.07,
    "num_leaves": 31,
    "min_data_in_leaf": 50,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "verbose": -1,
    # The same trees every time, on any number of threads.
    "deterministic": True,
    "force_row_wise": True,
}


def with_teacher_scores(
    examples: Sequence[Example], pages: Sequence[Sequence[str]], trees: int, seed: int
) -> list[Example]:
    """The examples with the scores of a teacher, out of fold by page. Returned unchanged when all questions share a page,
    or when a fold leaves no gold to learn from.

    Raises MissingExtraError without LightGBM."""
    load_lightgbm()  # fail early, even when no trees will be grown
    parts = min(PARTS, len(np.unique(clusters(pages))))
    if parts < 2:
        return list(examples)
    part = folds(pages, parts, seed=seed)
    scored_examples = list(examples)
    for number in range(parts):
        training = [examples[place] for place in np.flatnonzero(part != number).tolist()]
        teacher = grow(training, trees, seed)
        if teacher is None:
            return list(examples)
        places = np.flatnonzero(part == number).tolist()
        scored = scores_by(teacher, [examples[place] for place in places])
        for place, scores in zip(places, scored, strict=True):
            scored_examples[place] = replace(
                examples[place], teacher=scores.astype(np.float32) if len(scores) else None
            )
    return scored_examples


def scores_by(teacher: Any, examples: Sequence[Example]) -> list[NDArray[np.float64]]:
    """The scores (n,) that a booster of :func:`grow` gives the candidates of each question, predicted in one call."""
    sizes = [len(example.rows) for example in examples]
    if not sum(sizes):
        return [np.empty(0) for _ in examples]
    scores = np.asarray(teacher.predict(np.concatenate([example.rows for example in examples])))
    return np.split(scores, np.cumsum(sizes)[:-1])


def load_lightgbm() -> ModuleType:
    """LightGBM. Raises MissingExtraError without it, ConfigurationError when its OpenMP runtime is missing."""
    try:
        import lightgbm
    except ImportError as error:
        raise MissingExtraError("training a fusion", "train") from error
    except OSError as error:
        raise ConfigurationError(
            f"LightGBM cannot be loaded ({error}): install the OpenMP runtime (Debian: libgomp1; macOS: libomp)"
        ) from error
    module: ModuleType = lightgbm
    return module


def grow(examples: Sequence[Example], trees: int, seed: int) -> Any:
    """LambdaMART on questions that have gold among their candidates, as a LightGBM booster; None when there are
    none.

    Raises MissingExtraError without LightGBM."""
    lightgbm = load_lightgbm()
    answerable = [example for example in examples if example.gold.any()]
    if not answerable:
        return None
    data = lightgbm.Dataset(
        np.concatenate([example.rows for example in answerable]),
        np.concatenate([example.gold for example in answerable]).astype(np.int32),
        group=[len(example.gold) for example in answerable],
        weight=np.concatenate([np.full(len(example.gold), example.weight) for example in answerable]),
    )
    return lightgbm.train({**_GROWTH, "seed": seed}, data, trees)
