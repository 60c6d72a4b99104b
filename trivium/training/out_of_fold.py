"""Evaluates out-of-fold scores against every retriever and the fusions that need no training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trivium.common.arrays import Floats
from trivium.evaluation.best_system import headline
from trivium.evaluation.gate import Gate, decide, verdict
from trivium.evaluation.report import Report
from trivium.evaluation.run import evaluate
from trivium.fusion.base import Fusion
from trivium.search.ranking import Ranking, fused_ranking, own_ranking
from trivium.training.data import HitSet

NETWORK = "network"
"""The name of the trained fusion in reports."""


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
    """The measures to show for a report: those of :func:`trivium.evaluation.best_system.headline`."""
    return headline(list(report.traced.gold.values()))


def gate_of(reports: Mapping[str, Report], retrievers: Sequence[str]) -> Gate:
    """The gate's decision on the network, over the reports of all sets."""
    return decide({name: verdict(report, NETWORK, retrievers) for name, report in reports.items()})
