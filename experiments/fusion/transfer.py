"""Measures how well a network transfers to kinds of questions it was not trained on, and how many questions it needs.

    pip install 'trivium[train]'
    python experiments/fusion/transfer.py hits/*.npz --importance 1 2 1 1 0.7 1 0.6 0.8

Prints three tables: trained without a set and evaluated on it; trained on one set and evaluated on another (on the same
set: out of fold by page); trained on a number of questions drawn from all sets (out of fold by page). With ``--kinds``
only the first: sets of one kind are left out together, and those after ``--judged`` are never trained on:

    python experiments/fusion/transfer.py hits/*.npz --kinds hotpotqa,2wiki,musique squad --judged filings --members 3

``--convex 0.5 1`` also judges the networks with so many times the convex combination (its weights times the standardised
scores of the retrievers) added to their log-odds; with ``--fading 0.8`` also only as far as that is beyond .8 where
candidates link to each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from experiments import command
from trivium.datasets.cross_validation import apart
from trivium.evaluation.run import evaluate
from trivium.evaluation.tables import grid, share
from trivium.fusion.convex import load as load_convex
from trivium.fusion.network import Network
from trivium.fusion.registry import shipped
from trivium.search.ranking import fused_ranking, own_ranking
from trivium.training.crossfit import crossfit, fit_all
from trivium.training.fit import NOTHING, Added, corrected, train
from trivium.training.run import added_after, headline_measures, start_of
from trivium.training.settings import Settings
from trivium.training.training_data import Collection, Example, HitSet, examples_of, read

EPOCHS = 8
"""Used without validation questions: the mean of the best epochs of a full training."""
SIZES = (50, 200, 1000)


def main() -> None:
    """Run the experiment and print the three tables."""
    parser = command.Parser(
        __doc__, takes="a quarter of an hour; with --kinds less", packages=("trivium[train]",)
    )
    parser.add_argument("hits", nargs="+", type=command.existing)
    parser.add_argument("--importance", nargs="+", type=float, default=[])
    parser.add_argument(
        "--kinds", nargs="+", help="sets of one kind, joined by commas; others are their own kind"
    )
    parser.add_argument("--judged", nargs="+", default=[], help="sets that are never trained on")
    parser.add_argument("--members", type=int, default=1)
    parser.add_argument(
        "--convex", nargs="+", type=float, default=[], help="weights of the convex combination that is added"
    )
    parser.add_argument("--fading", type=float, default=0.0, help="as in the settings of a training")
    given = parser.parse_args()
    collection = read(given.hits, given.importance, folds=5)
    examples = examples_of(collection)
    settings = replace(Settings(), members=given.members, fading=given.fading)
    print("## Trained without a set, judged on it\n")
    kinds = [kind.split(",") for kind in given.kinds or ()]
    print(left_out(collection, examples, settings, kinds, given.judged, given.convex))
    if given.kinds is not None:
        return
    print("\n## Trained on a row's set, judged on a column's\n")
    print(matrix(collection, examples, settings))
    print("\n## Trained on some questions of all sets\n")
    print(curve(collection, examples, settings))


def left_out(
    collection: Collection,
    examples: Sequence[Example],
    settings: Settings,
    kinds: Sequence[Sequence[str]],
    judged: Sequence[str],
    added: Sequence[float] = (),
) -> str:
    """Return one row per set: its best single retriever, the convex combination, the network that ships, and the network
    of all sets but those of its kind and the ``judged`` ones, without questions on pages of the set; the last two also
    with the convex combination times each weight ``added``.
    """
    kind_of = {name: kind for kind in kinds for name in kind}
    convex, known = load_convex(collection.embedder), shipped(collection.embedder, names=True)
    assert known is not None, f"no network ships for {collection.embedder}"
    weights = [convex.weights[name] for name in collection.layout.retrievers]
    start, fading = start_of(collection, settings), added_after(collection, settings)
    networks: dict[frozenset[int], Network] = {}
    set_of = np.array([one.name for one in collection.sets for _ in one.hits])
    lines = []
    for one, own in collection.by_set(examples):
        kind = {one.name, *kind_of.get(one.name, ())} - set(judged)
        held_out = np.isin(set_of, [one.name, *kind])
        rest = frozenset(
            np.flatnonzero(apart(collection.pages, held_out) & ~np.isin(set_of, list(judged))).tolist()
        )
        if rest not in networks:
            some = [examples[place] for place in sorted(rest)]
            networks[rest] = fit_all(some, settings, EPOCHS, start=start, added=replace(fading, weights=()))
        fusions = [convex]
        fusions += [
            replace(known, network=tilted(known.network, weights, times)).fusion() for times in (0.0, *added)
        ]
        found = [[np.asarray(fusion.fuse(hit.table).scores) for hit in one.hits] for fusion in fusions]
        found += [scores(tilted(networks[rest], weights, times), own) for times in (0.0, *added)]
        if fading.faded_by is not None:
            found += [scores(tilted(networks[rest], weights, times, fading), own) for times in added]
        lines.append([one.name, best_single(one), *(figures(one, values) for values in found)])
    heads = [
        f"{name} + {times:g}" if times else name
        for name in ("ships", "without its kind")
        for times in (0.0, *added)
    ]
    if fading.faded_by is not None:
        heads += [f"without its kind + {times:g}, faded" for times in added]
    return grid(["set", "best single retriever", "convex", *heads], lines)


def tilted(network: Network, weights: Sequence[float], times: float, fading: Added = NOTHING) -> Network:
    """Return a network with ``times`` the convex combination added to its log-odds, which may fade."""
    return corrected(network, 1.0, replace(fading, weights=[times * weight for weight in weights]))


def matrix(collection: Collection, examples: Sequence[Example], settings: Settings) -> str:
    """Return a table of training sets (rows) by test sets (columns)."""
    of_set, pages_of, place = {}, {}, 0
    for one in collection.sets:
        of_set[one.name] = examples[place : place + len(one.hits)]
        pages_of[one.name] = collection.pages[place : place + len(one.hits)]
        place += len(one.hits)
    start = start_of(collection, settings)
    lines = []
    for source in collection.sets:
        network = train(of_set[source.name], (), settings, settings.seed, epochs=EPOCHS, start=start).network
        cells = []
        for target in collection.sets:
            own = target.name == source.name
            found = (
                crossfit(of_set[target.name], pages_of[target.name], settings, start=start).logits
                if own
                else scores(network, of_set[target.name])
            )
            cells.append(figures(target, found))
        lines.append([source.name, *cells])
    return grid(["trained on", *(one.name for one in collection.sets)], lines)


def curve(collection: Collection, examples: Sequence[Example], settings: Settings) -> str:
    """Return one row per number of questions; the same share of every set, drawn once."""
    order = np.random.default_rng(0).permutation(len(examples))
    start = start_of(collection, settings)
    lines = []
    for size in (*SIZES, len(examples)):
        few = set(order[:size].tolist())
        # All are evaluated, but only these are trained on: the others have weight 0.
        kept = [
            one if k in few else replace(one, gold=np.zeros(len(one.gold), dtype=bool))
            for k, one in enumerate(examples)
        ]
        logits = crossfit(kept, collection.pages, settings, start=start).logits
        lines.append([f"{size:,}", *(figures(one, own) for one, own in collection.by_set(logits))])
    return grid(["questions", *(one.name for one in collection.sets)], lines)


def scores(network: Network, examples: Sequence[Example]) -> list[np.ndarray]:
    """Return the scores of the candidates of every question."""
    return [network.logits(one.rows.astype(np.float64)) for one in examples]


def figures(one: HitSet, logits: Sequence[np.ndarray]) -> str:
    """Return the most informative measures of a set."""
    traced = one.traced
    rankings = [fused_ranking(hit.table, own) for hit, own in zip(one.hits, logits, strict=True)]
    report = evaluate(traced.questions, traced, {"network": rankings})
    return "/".join(share(report.rows["network"].means[measure]) for measure in headline_measures(report))


def best_single(one: HitSet) -> str:
    """Return the retriever with the highest recall@5."""
    traced = one.traced
    names = one.hits[0].table.columns
    report = evaluate(
        traced.questions, traced, {name: [own_ranking(hit.table, name) for hit in one.hits] for name in names}
    )
    best = max(names, key=lambda name: report.rows[name].means["recall@5"])
    return f"{best} " + "/".join(
        share(report.rows[best].means[measure]) for measure in headline_measures(report)
    )


if __name__ == "__main__":
    command.run(main)
