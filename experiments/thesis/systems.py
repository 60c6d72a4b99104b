"""The systems of the tables: vector search, the naive hybrid, and the hybrid with its ablations and variants."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import fuser as thesis
import numpy as np
from collect import RETRIEVERS, collection_of
from fuser_settings import ThesisSettings
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.inspection import permutation_importance

from trivium.datasets.cross_validation import folds
from trivium.fusion.hit_lists import HitList, load_hits
from trivium.search.ranking import Ranking, fused_ranking, own_ranking
from trivium.training.training_data import Collection

Scores = NDArray[np.float64]
Questions = tuple[list[HitList], list[list[str]], Scores]
"""Hit lists, the pages and the weight of each."""

VECTOR = "vector"
HYBRID = "hybrid"
NAIVE = "naive hybrid"
NAIVE_PATH = 3
FEW_ROWS = 200
NO_MINING = "no mining"
MIXED = "ours: random negatives kept when mining"
HARD = "hard negatives alone"
FEW = f"ours: {FEW_ROWS} training rows"
CUT = 30


def variants(settings: ThesisSettings) -> dict[str, ThesisSettings]:
    """Return the hybrid with these settings, the thesis's ablations, and Trivium's earlier variants."""
    found = {
        HYBRID: settings,
        "global standardisation": replace(settings, standardisation="global"),
        "no standardisation": replace(settings, standardisation="none"),
        NO_MINING: replace(settings, mining="none"),
        "no path": replace(settings, retrievers=tuple(name for name in RETRIEVERS if name != "path")),
        HARD: replace(settings, mining="hard"),
        MIXED: replace(settings, mining="mixed"),
        "ours: a tenth of the negatives, not 1:1": replace(settings, sampling="share"),
        f"ours: lists cut at {CUT}": replace(
            settings, depths={**dict.fromkeys(RETRIEVERS, CUT), **settings.depths}
        ),
    }
    hybrid = found[HYBRID]
    return {row: own for row, own in found.items() if row == HYBRID or own != hybrid}


def out_of_fold(
    training: Collection,
    rows: Mapping[str, ThesisSettings],
    parts: int,
    splits: int,
    few_of: ThesisSettings | None = None,
) -> tuple[dict[str, list[Scores]], NDArray[np.bool_]]:
    """Return for each row the scores of every question's candidates by a network that was not trained on its pages, and
    a mask (n,) of the evaluated questions: those of the first ``splits`` of ``parts`` folds, each by a network trained
    on the others. With ``few_of`` there is an additional row, trained with these settings on few candidates.
    """
    hits, pages, weights = training.hits, training.pages, training.weights
    fold = folds(pages, parts, seed=0)
    found: dict[str, list[Scores]] = {}
    for held_out in range(splits):
        rest = np.flatnonzero(fold != held_out).tolist()
        learnt = [hits[n] for n in rest], [pages[n] for n in rest], weights[rest]
        asked = np.flatnonzero(fold == held_out).tolist()
        made = {row: trained(learnt, settings) for row, settings in rows.items()}
        if few_of is not None:
            made[FEW] = trained(few(learnt, few_of), few_of)
        for row, score in made.items():
            own = found.setdefault(row, [np.zeros(0)] * len(hits))
            for place in asked:
                own[place] = score(hits[place])
        print(f"  split {held_out + 1} of {splits}", file=sys.stderr)
    return found, fold < splits


def trained(learnt: Questions, settings: ThesisSettings) -> Callable[[HitList], Scores]:
    """Train on some questions; returns a function that scores the candidates of others."""
    own = thesis.make_training_set(*learnt, settings)
    fusion = own.fusion(thesis.fit(own, settings, settings.seed).network)
    return lambda hit: fusion.fuse(hit.table).scores


def few(learnt: Questions, settings: ThesisSettings) -> Questions:
    """Return random questions with about FEW_ROWS candidates used by the first network."""
    hits, pages, weights = learnt
    layout = thesis.layout_of(hits, settings)
    generator = np.random.default_rng(settings.seed)
    some: list[int] = []
    rows = 0
    for n in generator.permutation(len(hits)).tolist():
        gold = thesis.example_of(hits[n], layout, 1.0).gold
        some.append(n)
        rows += len(thesis.sample_negatives(gold, settings, generator))
        if rows >= FEW_ROWS:
            break
    return [hits[n] for n in some], [pages[n] for n in some], weights[some]


def transferred(paths: Sequence[Path], target: Collection, settings: ThesisSettings) -> list[Scores]:
    """Return the scores of a hybrid trained on other hit lists, on those of their questions that share no page with the
    target.
    """
    source = collection_of({path.stem: load_hits(path) for path in paths})
    taken = {page for pages in target.pages for page in pages}
    rest = [n for n, pages in enumerate(source.pages) if not taken & set(pages)]
    score = trained(
        ([source.hits[n] for n in rest], [source.pages[n] for n in rest], source.weights[rest]), settings
    )
    return [score(hit) for hit in target.hits]


def vector_ranking(hit: HitList) -> Ranking:
    """Return the chunks of ``vector``, ten as in the thesis."""
    return own_ranking(hit.table, "vector")[: ThesisSettings().depths["vector"]]


def naive_ranking(hit: HitList) -> Ranking:
    """Rank up to three chunks of ``path`` by their own cosine, then those of ``vector``."""
    column = hit.table.column("vector")
    cosine = {uri: float(hit.table.raw[row, column]) for row, uri in enumerate(hit.table.chunks)}
    path = sorted((uri for uri, _ in own_ranking(hit.table, "path")), key=lambda uri: (-cosine[uri], uri))
    more = [uri for uri, _ in vector_ranking(hit)]
    return [(uri, cosine[uri]) for uri in dict.fromkeys([*path[:NAIVE_PATH], *more])]


def fused(hits: Sequence[HitList], scores: Sequence[Scores]) -> list[Ranking]:
    """Return the rankings of a trained row."""
    return [fused_ranking(hit.table, own) for hit, own in zip(hits, scores, strict=True)]


def importance(
    training: Collection, settings: ThesisSettings, parts: int, repeats: int
) -> dict[str, dict[str, float]]:
    """Return for each retriever the importance of its feature in a random forest of scikit-learn: ``impurity``, fitted
    on four fifths of the questions, split by page, and ``permutation``, the loss of average precision on the other
    fifth when the feature is shuffled, with its ``deviation`` over the ``repeats``. Both parts have as many negatives
    as gold passages.
    """
    hits = training.hits
    held_out = folds(training.pages, parts, seed=0) == 0
    layout = thesis.layout_of([hit for hit, out in zip(hits, held_out, strict=True) if not out], settings)
    examples = [thesis.example_of(hit, layout, 1.0) for hit in hits]

    def rows(wanted: bool) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        chosen = [one for one, out in zip(examples, held_out, strict=True) if out == wanted]
        gold = np.concatenate([one.gold for one in chosen])
        kept = thesis.balanced(gold, generator)
        return np.concatenate([one.rows for one in chosen])[kept], gold[kept]

    generator = np.random.default_rng(settings.seed)
    forest = RandomForestClassifier(200, min_samples_leaf=5, random_state=settings.seed)
    forest.fit(*rows(False))
    shuffled = permutation_importance(
        forest,
        *rows(True),
        scoring="average_precision",
        n_repeats=repeats,
        random_state=settings.seed,
    )
    return {
        name: {
            "impurity": float(forest.feature_importances_[place]),
            "permutation": float(shuffled.importances_mean[place]),
            "deviation": float(shuffled.importances_std[place]),
        }
        for place, name in enumerate(settings.retrievers)
    }
