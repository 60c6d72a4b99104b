"""Reproduces the tables of the thesis with its fuser on our sets and our setup (ours.md), out of fold by page.

    python experiments/thesis/run.py hits/earth.npz,hits/qed.npz hits/squad.npz hits/hotpotqa.npz hits/2wiki.npz \\
        hits/musique.npz > tables.md

Each argument is the training set of one network: a file of hit lists (``trivium evaluate --hits``), or several
separated by commas. Training sets with more than ``--most`` questions are subsampled evenly. All but the first are also
evaluated with a network trained on the first, as in the thesis for multi-hop questions. Requires the extras ``train``
and ``dev``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import fuser as thesis
import numpy as np
from fuser_settings import ThesisSettings
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from systems import Questions, Scores, naive_ranking, trained

from trivium.datasets.cross_validation import clusters, folds
from trivium.evaluation.ranking_measures import measure
from trivium.evaluation.run import SEVERAL_PARTS, headline
from trivium.evaluation.significance import holm, mean_intervals, p_values
from trivium.evaluation.tables import chance, grid, share
from trivium.fusion.hit_lists import HitList
from trivium.fusion.network import Network
from trivium.search.ranking import Ranking, fused_ranking, own_ranking
from trivium.training.fit import load_keras
from trivium.training.training_data import Collection, HitSet, read

SETTINGS = ThesisSettings(sampling="share", mining="mixed")
HYBRID = "**hybrid** (`--sampling share --mining mixed`)"
FEW_ROWS = 200
FEWEST_PAGES = 6


@dataclass(frozen=True)
class Judged:
    """The rows of a set: name -> measure -> one value per question; the two tested measures, and the page of each
    question.
    """

    rows: Mapping[str, Mapping[str, Scores]]
    shown: tuple[str, ...]
    tested: tuple[str, str]
    pages: NDArray[np.int64]


def main() -> None:
    """Train all systems and print Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("hits", nargs="+", help="Files of one training set, separated by commas.")
    parser.add_argument("--most", type=int, default=750)
    parser.add_argument("--folds", type=int, default=3)
    given = parser.parse_args()
    _, tf = load_keras()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    trainings = [thinned(read([Path(name) for name in one.split(",")]), given.most) for one in given.hits]
    judged: dict[str, Judged] = {}
    for training in trainings:
        print("training on", *(one.name for one in training.sets), file=sys.stderr)
        scores = trained_rows(training, given.folds)
        if training is not trainings[0]:
            scores |= transferred(trainings[0], training)
        start = 0
        for one in training.sets:
            part = slice(start, start + len(one.hits))
            judged[one.name] = judge(one, {row: own[part] for row, own in scores.items()})
            start += len(one.hits)
            print(means_table({one.name: judged[one.name]}), file=sys.stderr)
    print(means_table(judged))
    for place in (0, 1):
        print()
        print(tests_table(judged, place))
    print()
    print(importance_table([one for training in trainings for one in training.sets]))


def thinned(training: Collection, most: int) -> Collection:
    """Return a collection with evenly spread questions of each set, ``most`` in total."""
    step = -(-len(training.hits) // most)
    return Collection(tuple(replace(one, hits=one.hits[::step]) for one in training.sets), training.embedder)


def trained_rows(training: Collection, parts: int) -> dict[str, list[Scores]]:
    """Return for each row the scores of every question's candidates by networks that were not trained on its pages."""
    hits, pages, weights = training.hits, training.pages, training.weights
    fold = folds(pages, parts, seed=0)
    rows: dict[str, list[Scores]] = {}
    for held_out in range(parts):
        rest = np.flatnonzero(fold != held_out).tolist()
        learnt = [hits[n] for n in rest], [pages[n] for n in rest], weights[rest]
        asked = np.flatnonzero(fold == held_out).tolist()
        for row, scores in variants(learnt, [hits[n] for n in asked]).items():
            own = rows.setdefault(row, [np.zeros(0)] * len(hits))
            for place, values in zip(asked, scores, strict=True):
                own[place] = values
        print(f"  fold {held_out + 1} of {parts}", file=sys.stderr)
    return rows


def cascade(first: Scores, second: Scores, threshold: float) -> Scores:
    """Combine the scores (n,) of two networks: candidates that the first scores ``threshold`` or more rank before the
    others, in the order of the second; the others keep the order of the first.

    >>> cascade(np.array([5.0, 2.0, -40.0]), np.array([-9.0, 4.0, 99.0]), 2.0).argsort().tolist()
    [2, 0, 1]
    """
    scores = first.copy()
    top = first >= threshold
    if top.any():
        scores[top] = first.max() + 1 + second[top] - second[top].min()
    return scores


def lowest_mined_score(training_set: thesis.TrainingSet, first: Network, share: float) -> float:
    """Return the lowest first-pass score among the hard negatives; the second network has seen no negatives below
    it.
    """
    scores = first.logits(training_set.pool.rows.astype(np.float64))
    places = thesis.hardest(training_set.pool.gold, scores, share)
    return float(scores[places][~training_set.pool.gold[places]].min())


def variants(learnt: Questions, asked: Sequence[HitList]) -> dict[str, list[Scores]]:
    """Return the scores of all trained variants for the candidates of some questions."""
    seed = SETTINGS.seed
    local = thesis.make_training_set(*learnt, SETTINGS)
    first = thesis.first_pass(local, SETTINGS, seed).network
    hard = thesis.second_pass(local, first, replace(SETTINGS, mining="hard"), seed).network
    least = lowest_mined_score(local, first, SETTINGS.share)
    mixed = thesis.second_pass(local, first, SETTINGS, seed).network
    by_first = [local.fusion(first).fuse(hit.table).scores for hit in asked]
    by_hard = [local.fusion(hard).fuse(hit.table).scores for hit in asked]
    rows = {
        HYBRID: [local.fusion(mixed).fuse(hit.table).scores for hit in asked],
        "no mining": by_first,
        "mining, hard negatives only": by_hard,
        "mining, cascade of the two": [
            cascade(easy, hard_scores, least) for easy, hard_scores in zip(by_first, by_hard, strict=True)
        ],
    }
    everywhere = replace(SETTINGS, standardisation="global")
    own = thesis.make_training_set(*learnt, everywhere)
    first = thesis.first_pass(own, everywhere, seed).network
    mixed = thesis.second_pass(own, first, everywhere, seed).network
    rows["global standardisation"] = [own.fusion(mixed).fuse(hit.table).scores for hit in asked]
    rows["global standardisation, no mining"] = [own.fusion(first).fuse(hit.table).scores for hit in asked]
    pathless = replace(SETTINGS, retrievers=tuple(r for r in SETTINGS.retrievers if r != "path"))
    others = {f"{FEW_ROWS} training rows": (few(learnt), SETTINGS), "without path": (learnt, pathless)}
    for row, (questions, settings) in others.items():
        score = trained(questions, settings)
        rows[row] = [score(hit) for hit in asked]
    return rows


def few(learnt: Questions) -> Questions:
    """Return random questions with about FEW_ROWS candidates used by the first network."""
    hits, pages, weights = learnt
    layout = thesis.layout_of(hits, SETTINGS)
    order = np.random.default_rng(SETTINGS.seed).permutation(len(hits)).tolist()
    some, rows = [], 0.0
    for n in order:
        gold = thesis.example_of(hits[n], layout, 1.0).gold
        some.append(n)
        rows += gold.sum() + SETTINGS.share * (~gold).sum()
        if rows >= FEW_ROWS:
            break
    return [hits[n] for n in some], [pages[n] for n in some], weights[some]


def transferred(source: Collection, target: Collection) -> dict[str, list[Scores]]:
    """Return the scores of the hybrid trained on the questions of ``source`` that share no page with the target."""
    taken = {page for pages in target.pages for page in pages}
    rest = [n for n, pages in enumerate(source.pages) if not taken & set(pages)]
    learnt = [source.hits[n] for n in rest], [source.pages[n] for n in rest], source.weights[rest]
    score = trained(learnt, SETTINGS)
    name = f"hybrid, trained on {' and '.join(one.name for one in source.sets)}"
    return {name: [score(hit) for hit in target.hits]}


def judge(one: HitSet, scores: Mapping[str, Sequence[Scores]]) -> Judged:
    """Evaluate each retriever, the naive hybrid and all trained systems on a set."""
    rankings: dict[str, list[Ranking]] = {}
    for hit in one.hits:
        for name in SETTINGS.retrievers:
            own = own_ranking(hit.table, name)[: SETTINGS.depths.get(name)]
            rankings.setdefault(name, []).append(own)
        rankings.setdefault("naive hybrid", []).append(naive_ranking(hit))
    for row, fused in scores.items():
        rankings[row] = [
            fused_ranking(hit.table, values) for hit, values in zip(one.hits, fused, strict=True)
        ]
    gold = list(one.traced.gold.values())
    several = headline(gold) == SEVERAL_PARTS
    shown = ("recall@6", "all@6") if several else ("hit@1", "hit@3", "hit@5")
    values = {row: measure(gold, [[uri for uri, _ in own] for own in all_]) for row, all_ in rankings.items()}
    return Judged(values, shown, (shown[-1], shown[0]), clusters([answer.pages for answer in gold]))


def means_table(judged: Mapping[str, Judged]) -> str:
    """Return a table of rows x sets; the best of each column is bold."""
    names = list(dict.fromkeys(row for one in judged.values() for row in one.rows))
    best = {
        (name, m): max(share(float(row[m].mean())) for row in one.rows.values())
        for name, one in judged.items()
        for m in one.shown
    }

    def cell(name: str, row: str) -> str:
        own = judged[name].rows.get(row)
        if own is None:
            return ""
        values = [(m, share(float(own[m].mean()))) for m in judged[name].shown]
        return "/".join(f"**{v}**" if v == best[name, m] else v for m, v in values)

    head = [f"{name} ({len(one.pages):,}) {'/'.join(one.shown)}" for name, one in judged.items()]
    return grid(["", *head], [[row, *(cell(name, row) for name in judged)] for row in names])


def tests_table(judged: Mapping[str, Judged], place: int) -> str:
    """Return the differences between the hybrid and each other row: mean, 95 % interval and p-value (paired, by page;
    Holm correction over the rows of a set).
    """
    names = list(dict.fromkeys(row for one in judged.values() for row in one.rows if row != HYBRID))
    cells: dict[tuple[str, str], str] = {}
    for name, one in judged.items():
        rows, m = [row for row in one.rows if row != HYBRID], one.tested[place]
        differences = np.stack([one.rows[HYBRID][m] - one.rows[row][m] for row in rows], axis=1)
        pages = one.pages if len(np.unique(one.pages)) >= FEWEST_PAGES else None
        tests = holm(p_values(differences, pages))
        for row, bounds, p in zip(rows, mean_intervals(differences, pages), tests, strict=True):
            text = f"{bounds.mean:+.3f} ({bounds.low:+.3f} to {bounds.high:+.3f}), {chance(p)}"
            cells[name, row] = f"**{text}**" if p < 0.05 else text
    head = [f"{name}, {one.tested[place]}" for name, one in judged.items()]
    return grid(
        ["hybrid less", *head], [[row, *(cells.get((name, row), "") for name in judged)] for row in names]
    )


def importance_table(sets: Sequence[HitSet]) -> str:
    """Return impurity importances of a random forest on the five locally standardised features of each set's
    candidates.
    """
    found = {}
    for one in sets:
        layout = thesis.layout_of(one.hits, SETTINGS)
        examples = [thesis.example_of(hit, layout, 1.0) for hit in one.hits]
        forest = RandomForestClassifier(200, min_samples_leaf=5, class_weight="balanced", random_state=0)
        forest.fit(np.concatenate([e.rows for e in examples]), np.concatenate([e.gold for e in examples]))
        found[one.name] = dict(zip(SETTINGS.retrievers, forest.feature_importances_.tolist(), strict=True))
    rows = [[name, *(f"{own[name]:.0%}" for own in found.values())] for name in SETTINGS.retrievers]
    return grid(["importance", *found], rows)


if __name__ == "__main__":
    main()
