"""From saved hit lists to an artefact: cross-fit, calibrate, evaluate, apply the gate, train on all questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from trivium.common.arrays import Floats
from trivium.common.progress import StageProgress
from trivium.evaluation.default_gate import Gate, decide, verdict, why_not_instead
from trivium.evaluation.report import Report
from trivium.evaluation.run import evaluate, headline
from trivium.fusion.artefact import Artefact
from trivium.fusion.convex import load as load_convex
from trivium.fusion.features import Layout
from trivium.fusion.network import Network
from trivium.fusion.registry import shipped_name
from trivium.fusion.rrf import ReciprocalRank
from trivium.fusion.score_table import Fusion
from trivium.retrievers.signals import LINKED
from trivium.search.ranking import Ranking, fused_ranking, own_ranking
from trivium.training.adapt import PENALTY, adapted, crossfit_adapted
from trivium.training.calibrate import Calibration, apply, calibrate
from trivium.training.crossfit import Crossfit, crossfit, fit_all
from trivium.training.fit import Added
from trivium.training.settings import Settings
from trivium.training.training_data import Collection, Example, HitSet, examples_of

NETWORK = "network"
"""The name of the trained fusion in reports."""
SHIPPED = "shipped"
"""That of the network which was adapted."""


def report_of(hit_set: HitSet, logits: Sequence[Floats], fusions: Mapping[str, Fusion]) -> Report:
    """Evaluate a set's questions by the network (``logits``: scores (n,) per question), each retriever and other fusions.
    The network is the first system of the report, the one the others are compared with."""
    rankings: dict[str, list[Ranking]] = {NETWORK: []}
    for hit, scores in zip(hit_set.hits, logits, strict=True):
        rankings[NETWORK].append(fused_ranking(hit.table, scores))
        for retriever in hit.table.columns:
            rankings.setdefault(retriever, []).append(own_ranking(hit.table, retriever))
        for name, fusion in fusions.items():
            rankings.setdefault(name, []).append(fused_ranking(hit.table, fusion.fuse(hit.table).scores))
    traced = hit_set.traced
    return evaluate(traced.questions, traced, rankings)


def headline_measures(report: Report) -> tuple[str, ...]:
    """The measures to show for a report: those of :func:`trivium.evaluation.run.headline`."""
    return headline(list(report.traced.gold.values()))


def gate_of(reports: Mapping[str, Report], retrievers: Sequence[str]) -> Gate:
    """The gate's decision on the network, over the reports of all sets."""
    return decide({name: verdict(report, NETWORK, retrievers) for name, report in reports.items()})


def _better_than_shipped(gate: Gate, reports: Mapping[str, Report]) -> Gate:
    """The gate, shut if the network is on some set significantly worse than the one it was adapted from, or on average
    finds the first right passage no higher (mean reciprocal rank)."""
    for name, report in reports.items():
        if why := why_not_instead(report, NETWORK, SHIPPED):
            return replace(gate, active=False, because=f"on {name} {why}")
    new, old = (
        float(np.mean([report.rows[row].means["mrr"] for report in reports.values()]))
        for row in (NETWORK, SHIPPED)
    )
    if new <= old:
        why = f"not better than the network that ships (mrr {new:.3f}, {old:.3f})"
        return replace(gate, active=False, because=why)
    return replace(gate, because=f"{gate.because}; mrr {new:.3f}, the network that ships {old:.3f}")


SCORES = ("hit@1", "hit@3", "hit@5", "recall@5", "all@5", "mrr", "ndcg@10")


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The results of a training run. ``reports`` maps each set to its out-of-fold evaluation; ``examples`` are those that
    the calibration used."""

    artefact: Artefact
    collection: Collection
    examples: Sequence[Example]
    fitted: Crossfit
    calibration: Calibration
    reports: Mapping[str, Report]
    gate: Gate

    def folds(self) -> list[Artefact]:
        """Return the artefacts of the folds, scaled like the final one; empty without them."""
        return [
            replace(
                self.artefact,
                network=apply(self.calibration.scaling, network),
                settings={**self.artefact.settings, "held_out": fold},
            )
            for fold, network in enumerate(self.fitted.networks, start=1)
        ]

    def held_out(self) -> dict[str, dict[str, int]]:
        """Map each set and question id to the fold (counted from 1) it was held out in."""
        folds = iter((self.fitted.fold + 1).tolist())
        return {
            hit_set.name: {hit.question_id: next(folds) for hit in hit_set.hits}
            for hit_set in self.collection.sets
        }


def train_fusion(
    collection: Collection, settings: Settings, progress: StageProgress | None = None, *, version: str = ""
) -> Outcome:
    """Train a network on a collection of hit lists. ``version``, that of the program, is recorded in the artefact.

    Raises MissingExtraError without TensorFlow, InputError when there is nothing to learn from.
    """
    stage = _stages(progress)
    examples = examples_of(collection)
    start, added = start_of(collection, settings), added_after(collection, settings)
    fitted = crossfit(examples, collection.pages, settings, stage("Training"), start, added)
    return finished(
        collection,
        fitted,
        examples,
        fitted.logits,
        lambda: (
            fit_all(examples, settings, fitted.epochs, stage("Finishing"), start, added),
            collection.layout,
        ),
        asdict(settings),
        progress,
        version=version,
    )


def start_of(collection: Collection, settings: Settings) -> list[float]:
    """The weight of each retriever of a collection in the score that a network starts from."""
    weights = load_convex(collection.embedder).weights
    return [settings.start * weights.get(view, 0.0) for view in collection.layout.retrievers]


def added_after(collection: Collection, settings: Settings) -> Added:
    """What ``settings`` add to a network after its training: each view of a collection by its weight."""
    weights = {
        name: settings.convex * share for name, share in load_convex(collection.embedder).weights.items()
    }
    weights["title_time"] = settings.title_time
    columns = [name for name, _ in collection.layout.columns]
    faded_by = columns.index(LINKED) if settings.hidden and settings.fading and LINKED in columns else None
    return Added([weights.get(view, 0.0) for view in collection.layout.views], faded_by, settings.fading)


def adapt_fusion(
    collection: Collection,
    base: Artefact,
    folds: int,
    progress: StageProgress | None = None,
    *,
    version: str = "",
) -> Outcome:
    """Adapt a network that ships to a collection of hit lists. It may become a default only if it is better than that
    network. Raises MissingExtraError without SciPy.
    """
    examples = examples_of(collection, base.layout)
    fitted = crossfit_adapted(base, examples, collection.pages, folds)
    name = shipped_name(collection.embedder, collection.names)
    told = (
        f"The network that ships for {name}, adapted: to its score a weighted sum of the standardised views is added,\n"
        f"with weights fitted to {len(examples):,} questions (penalty {PENALTY:g})."
    )
    return finished(
        collection,
        fitted,
        examples,
        fitted.logits,
        lambda: (adapted(base, examples), base.layout),
        {**base.settings, "folds": folds, "seed": 0, "adapted": name, "told": told},
        progress,
        version=version,
        base=base,
    )


def finished(
    collection: Collection,
    fitted: Crossfit,
    examples: Sequence[Example],
    scored: Sequence[Floats],
    whole: Callable[[], tuple[Network, Layout]],
    settings: Mapping[str, Any],
    progress: StageProgress | None = None,
    *,
    version: str = "",
    base: Artefact | None = None,
) -> Outcome:
    """Calibrate, evaluate and judge a cross-fit, then train the final network by ``whole``. ``examples`` and their scores
    ``scored`` (n,) are those that the calibration uses. ``base``: the network must be better than this one, too.
    """
    stage = _stages(progress)
    calibration = calibrate(scored, examples, fitted.fold)
    fusions: dict[str, Fusion] = {"rrf": ReciprocalRank(), "convex": load_convex(collection.embedder)}
    if base is not None:
        fusions[SHIPPED] = base.fusion()
    reports: dict[str, Report] = {}
    for hit_set, logits in collection.by_set(fitted.logits):
        reports[hit_set.name] = report_of(hit_set, logits, fusions)
        stage("Judging")(len(reports), len(collection.sets))
    gate = gate_of(reports, collection.layout.retrievers)
    if gate.active and base is not None:
        gate = _better_than_shipped(gate, reports)
    network, layout = whole()
    artefact = Artefact(
        network=apply(calibration.scaling, network),
        layout=layout,
        embedder=collection.embedder,
        data={hit_set.name: _data(hit_set) for hit_set in collection.sets},
        settings={**settings, "epochs_of_the_whole": fitted.epochs},
        scores={name: scores_of(report) for name, report in reports.items()},
        calibration={
            **asdict(calibration.scaling),
            "expected_error_before": round(calibration.before, 6),
            "expected_error": round(calibration.after, 6),
        },
        gate=gate.to_json(),
        version=version,
        inputs=collection.inputs,
    )
    return Outcome(artefact, collection, examples, fitted, calibration, reports, gate)


def _stages(progress: StageProgress | None) -> Callable[[str], Callable[[int, int], None]]:
    def stage(name: str) -> Callable[[int, int], None]:
        return lambda done, total: None if progress is None else progress(name, done, total)

    return stage


def scores_of(report: Report) -> dict[str, dict[str, float]]:
    """The mean of each measure for each system of a report, rounded to six digits: system -> measure -> mean."""
    return {
        name: {measure: round(row.means[measure], 6) for measure in SCORES}
        for name, row in report.rows.items()
    }


def _data(hit_set: HitSet) -> dict[str, Any]:
    return {"questions": len(hit_set.hits), "importance": hit_set.importance, "sha256": hit_set.digest}
