"""Boosted trees that a network learns from: their scores of a question, by trees that have seen none of its pages.

Trees see thresholds and exceptions sooner than a network does, and forget users' questions where written ones outnumber
them. So they do not rank here; the network takes part of what they say about which candidates are alike.
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
"""The questions are parted by page; each part is scored by trees grown on the others."""
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


def taught(
    examples: Sequence[Example], pages: Sequence[Sequence[str]], trees: int, seed: int
) -> list[Example]:
    """The examples with the scores of a teacher, out of fold by page; as they are where all share a page.

    Raises MissingExtraError without LightGBM."""
    load_lightgbm()  # also where there is nothing to grow on
    parts = min(PARTS, len(np.unique(clusters(pages))))
    if parts < 2:
        return list(examples)
    part = folds(pages, parts, seed=seed)
    found = list(examples)
    for number in range(parts):
        seen = [examples[place] for place in np.flatnonzero(part != number).tolist()]
        teacher = grow(seen, trees, seed)
        if teacher is None:
            return list(examples)
        places = np.flatnonzero(part == number).tolist()
        scored = scores_by(teacher, [examples[place] for place in places])
        for place, scores in zip(places, scored, strict=True):
            found[place] = replace(
                examples[place], teacher=scores.astype(np.float32) if len(scores) else None
            )
    return found


def scores_by(teacher: Any, examples: Sequence[Example]) -> list[NDArray[np.float64]]:
    """What a booster of :func:`grow` gives the candidates of each question (n,); asked once for all."""
    sizes = [len(example.rows) for example in examples]
    if not sum(sizes):
        return [np.empty(0) for _ in examples]
    scores = np.asarray(teacher.predict(np.concatenate([example.rows for example in examples])))
    return np.split(scores, np.cumsum(sizes)[:-1])


def load_lightgbm() -> ModuleType:
    """LightGBM. Raises MissingExtraError without it, ConfigurationError where the system lacks what it needs."""
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
    """LambdaMART on questions that have gold among their candidates, as a LightGBM booster; None where there are none.

    Raises MissingExtraError without LightGBM."""
    lightgbm = load_lightgbm()
    seen = [example for example in examples if example.gold.any()]
    if not seen:
        return None
    data = lightgbm.Dataset(
        np.concatenate([example.rows for example in seen]),
        np.concatenate([example.gold for example in seen]).astype(np.int32),
        group=[len(example.gold) for example in seen],
        weight=np.concatenate([np.full(len(example.gold), example.weight) for example in seen]),
    )
    return lightgbm.train({**_GROWTH, "seed": seed}, data, trees)
