"""Hit lists made up so that it is known what can be learnt from them."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from trivium.fusion.hit_lists import HitFile, HitList, save_hits
from trivium.fusion.score_table import Table
from trivium.training.settings import Settings
from trivium.training.training_data import Collection, HitSet

needs_tensorflow = pytest.mark.skipif(
    find_spec("tensorflow") is None,
    reason="TensorFlow is not installed (the extra `train`)"
    if sys.version_info < (3, 14)
    else "there is no TensorFlow for this Python",
)
RETRIEVERS = ("vector", "lexical", "walk")
CANDIDATES = 24
QUICK = Settings(
    hidden=(16, 8), dropout=0.0, epochs=30, batch=16, candidates=24, members=2, folds=3, rate=1e-2
)


def hit_of(number: int, page: str, generator: np.random.Generator, *, signal: float = 1.0) -> HitList:
    """A question whose one gold chunk is fairly good in two views, while nine others shine in the one and nine more in
    the other: neither view finds it, nor does any sum of them, but it is the only one that is good in both. ``signal``
    0 makes all of it noise."""
    gold = int(generator.integers(CANDIDATES))
    scores = generator.normal(0, 0.3, (CANDIDATES, 3))
    scores[gold, :2] += 2 * signal
    rest = generator.permutation(np.setdiff1d(np.arange(CANDIDATES), [gold]))
    for column in (0, 1):
        scores[rest[9 * column : 9 * column + 9], column] += 5 * signal
    ranks = np.argsort(np.argsort(-scores, axis=0), axis=0) + 1
    groups = np.full(CANDIDATES, -1, dtype=np.int64)
    groups[gold] = 0
    table = Table(
        chunks=tuple(f"{page}#chunk-{row + 1}" for row in range(CANDIDATES)),
        columns=RETRIEVERS,
        raw=scores,
        ranks=np.where(ranks <= 15, ranks, 0),
        source_nodes=({},) * CANDIDATES,
        signals={"coverage": generator.random(CANDIDATES), "linked": np.full(CANDIDATES, np.nan)},
        question={"terms": float(number % 5)},
    )
    return HitList(f"q{number}", f"question {number}?", table, groups, 1, (page,))


def hits_of(questions: int, *, seed: int = 0, signal: float = 1.0) -> tuple[HitList, ...]:
    """Questions, three to a page."""
    generator = np.random.default_rng(seed)
    return tuple(hit_of(n, f"Page {n // 3}", generator, signal=signal) for n in range(questions))


def collection_of(questions: int = 120, *, seed: int = 0, signal: float = 1.0) -> Collection:
    """One set of such questions."""
    hits = hits_of(questions, seed=seed, signal=signal)
    return Collection((HitSet("made-up", hits, "0" * 64),), "minilm")


def save_world(path: Path, questions: int = 60, *, embedder: str = "minilm", seed: int = 0) -> Path:
    """A file of them."""
    save_hits(path, HitFile(hits_of(questions, seed=seed), embedder))
    return path
