"""The systems of the tables: vector search, whole lists, the naive hybrid, the hybrid, its steps and variants."""

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

from trivium.errors import InputError
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
GLOBAL_MINING = "global mining"
FEW = f"{FEW_ROWS} rows"
BY_QUESTION = " by question"
"""Ends the name of a row whose folds are of questions, not of questions that share no page."""
CUT = 30
OF_STEPS = ("global, no mining", "local, no mining", HYBRID, "no path", GLOBAL_MINING)
"""The trained rows of table 4.4."""


def variants(settings: ThesisSettings) -> dict[str, ThesisSettings]:
    """Return the hybrid with these settings, the thesis's steps towards it, and choices of ours."""
    return {
        HYBRID: settings,
        "global, no mining": replace(settings, standardisation="global", mining="none"),
        "local, no mining": replace(settings, standardisation="local", mining="none"),
        "no path": replace(settings, retrievers=tuple(name for name in RETRIEVERS if name != "path")),
        GLOBAL_MINING: replace(settings, mining="global"),
        "no standardisation": replace(settings, standardisation="none"),
        "random ones kept": replace(settings, mining="mixed"),
        "a tenth, not 1:1": replace(settings, sampling="share"),
        f"lists cut at {CUT}": replace(
            settings, depths={**dict.fromkeys(RETRIEVERS, CUT), **settings.depths}
        ),
        FEW: settings,
    }


def out_of_fold(
    training: Collection, rows: Mapping[str, ThesisSettings], splits: int
) -> tuple[dict[str, list[Scores]], NDArray[np.bool_]]:
    """Return for each row the scores of every question's candidates by a network that was not trained on its fold, and
    a mask (n,) of the evaluated questions: those of the first ``splits`` folds, each by a network trained on the others.
    The row FEW is trained on few candidates. Raises InputError when there are fewer groups of questions than folds, and
    for one split of rows that are split differently.
    """
    hits, pages, weights = training.hits, training.pages, training.weights
    found: dict[str, list[Scores]] = {}
    judged = np.ones(len(hits), dtype=np.bool_)
    for row, settings in rows.items():
        fold = settings.fold_of(pages)
        if found and ((fold < splits) != judged).any():
            raise InputError("expected one --split for a part of the --splits: others have other questions")
        judged = fold < splits
        own = found.setdefault(row, [np.zeros(0)] * len(hits))
        for held_out in range(min(splits, settings.folds)):
            rest = np.flatnonzero(fold != held_out).tolist()
            learnt = [hits[n] for n in rest], [pages[n] for n in rest], weights[rest]
            few_of = row.removesuffix(BY_QUESTION) == FEW
            score = trained(few(learnt, settings) if few_of else learnt, settings)
            for place in np.flatnonzero(fold == held_out).tolist():
                own[place] = score(hits[place])
        print(f"  trained: {row}", file=sys.stderr)
    return found, judged


def trained(learnt: Questions, settings: ThesisSettings) -> Callable[[HitList], Scores]:
    """Train on some questions; returns a function that scores the candidates of others."""
    own = thesis.make_training_set(*learnt, settings)
    fusion = own.fusion(thesis.fit_members(own, settings).network)
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
    if source.embedder != target.embedder:
        raise InputError(
            f"expected hit lists of the same embedder, got {source.embedder} to train on and {target.embedder} to ask"
        )
    taken = {page for pages in target.pages for page in pages}
    rest = [n for n, pages in enumerate(source.pages) if not taken & set(pages)]
    if not rest:
        raise InputError("expected other pages to train on than those of the questions, got only the same")
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
