"""Measures what a network gains by adapting it to some questions of a collection, and when a new one is better.

    pip install 'trivium[train]'
    python experiments/fusion/adapt.py hits/handbook.npz hits/tatqa.npz --trained hits/{squad,qed,tatqa}.npz

Each judged set is divided into five folds by page. A fold is ranked by the network that ships, then by it adapted to
50, 100, 300 questions of the other folds, drawn at random (the mean of three draws), and to all of them. A network that
was trained on the set itself is replaced by one (three networks) trained on the other sets of ``--trained``. ``--new``
also trains networks on those questions alone (two, each fold by those of the others).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments import command
from trivium.common.arrays import Floats
from trivium.datasets.cross_validation import apart, page_folds
from trivium.evaluation.tables import grid, share
from trivium.fusion.artefact import Artefact
from trivium.fusion.network import Network
from trivium.fusion.registry import shipped
from trivium.training.adapt import adapted
from trivium.training.crossfit import crossfit, fit_all
from trivium.training.run import headline_measures, report_of, start_of
from trivium.training.settings import Settings
from trivium.training.training_data import Collection, Example, HitSet, examples_of, read

FOLDS = 5
DRAWS = 3
SIZES = (50, 100, 300)
EPOCHS = 8


def main() -> None:
    """Print a table of measures by number of questions, a row per set."""
    parser = command.Parser(__doc__, takes="minutes a set", packages=("trivium[train]",))
    parser.add_argument("hits", nargs="+", type=command.existing)
    parser.add_argument("--trained", nargs="+", type=command.existing, default=[])
    parser.add_argument("--new", action="store_true")
    given = parser.parse_args()
    rows = []
    for path in given.hits:
        collection = read([path])
        print(f"{path.stem}: {len(collection.hits)} questions", flush=True)
        base = base_for(collection, given.trained)
        rows.append([path.stem, *figures(collection, base, given.new)])
        print(" ".join(rows[-1]), flush=True)
    heads = ["set", "as it is", *map(str, SIZES), "all", "seconds", *(["new, of all"] if given.new else [])]
    print(grid(heads, rows))


def base_for(collection: Collection, trained: Sequence[Path]) -> Artefact:
    """The network that ships for stores with names, or one like it that has not seen the set: trained on the other hit
    lists that it was trained on."""
    base = shipped(collection.embedder, names=True)
    assert base is not None
    (own,) = collection.sets
    if own.name not in base.data:
        return base
    others = [path for path in trained if path.stem in base.data and path.stem != own.name]
    importance = [base.data[path.stem]["importance"] for path in others]
    rest = read(others, importance)
    examples = examples_of(rest, base.layout)
    settings = replace(Settings(), members=3)
    return replace(base, network=fit_all(examples, settings, EPOCHS, start=start_of(rest, settings)))


def figures(collection: Collection, base: Artefact, new: bool) -> list[str]:
    """hit@1 and hit@5 (of several passages recall@5 and all@5) as it is, by number of questions, and of a new network;
    seconds of adapting to all."""
    examples = examples_of(collection, base.layout)
    fold = page_folds(collection.pages, FOLDS, seed=0)
    rest = [np.flatnonzero(apart(collection.pages, fold == number)) for number in range(FOLDS)]
    told = [measured(collection, fold, examples, [base.network] * FOLDS)]
    for size in SIZES:
        if size > min(map(len, rest)):
            told.append(np.full(2, np.nan))
            continue
        draws = []
        for draw in range(DRAWS):
            generator = np.random.default_rng(draw)
            chosen = [generator.permutation(own)[:size] for own in rest]
            networks = [adapted(base, [examples[place] for place in own]) for own in chosen]
            draws.append(measured(collection, fold, examples, networks))
        told.append(np.mean(draws, axis=0))
    begun = time.perf_counter()
    networks = [adapted(base, [examples[place] for place in own]) for own in rest]
    seconds = (time.perf_counter() - begun) / FOLDS
    told.append(measured(collection, fold, examples, networks))
    cells = ["" if np.isnan(pair).any() else "/".join(map(share, pair.tolist())) for pair in told]
    cells.append(f"{seconds:.1f}")
    if new:
        settings = replace(Settings(), members=2)
        start = start_of(collection, settings)
        alone = crossfit(examples, collection.pages, settings, start=start).logits
        cells.append("/".join(map(share, figures_of(collection, alone).tolist())))
    return cells


def measured(
    collection: Collection, fold: NDArray[np.int64], examples: Sequence[Example], networks: Sequence[Network]
) -> Floats:
    """The two measures (2,) of a set whose folds are ranked by these networks."""
    return figures_of(
        collection,
        [
            networks[number].logits(example.rows.astype(np.float64))
            for example, number in zip(examples, fold.tolist(), strict=True)
        ],
    )


def figures_of(collection: Collection, scores: Sequence[Floats]) -> Floats:
    """The two measures (2,) of a set with these scores (n,) of each question's candidates."""
    hit_set: HitSet = collection.sets[0]
    report = report_of(hit_set, scores, {})
    measures = headline_measures(report)
    means = report.rows["network"].means
    return np.array([means[measures[0]], means[measures[-1]]])


if __name__ == "__main__":
    command.run(main)
