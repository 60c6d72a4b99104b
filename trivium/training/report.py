"""The report of a training: what was compared with what, on which questions, in Markdown with pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from trivium.common.progress import StageProgress
from trivium.evaluation.gate import Against, Gate
from trivium.evaluation.report import HEADLINE, Report
from trivium.evaluation.tables import chance, grid, plain, share
from trivium.fusion.network import NetworkFusion
from trivium.training import pictures
from trivium.training.importance import HITS, QUESTIONS, importance
from trivium.training.judge import NETWORK, shown
from trivium.training.run import Outcome

REPORT = "report.md"
_CURVES, _CALIBRATION, _CONTRIBUTIONS = "learning.svg", "calibration.svg", "contributions.svg"


def write_report(outcome: Outcome, folder: Path, progress: StageProgress | None = None) -> None:
    """Write ``report.md`` and its pictures into a new folder. Raises MissingExtraError without matplotlib."""
    pictures.check_matplotlib()
    folder.mkdir()
    fusion = NetworkFusion(outcome.artefact.network, outcome.artefact.layout)
    shares: dict[str, dict[str, float]] = {}
    for one in outcome.collection.sets:
        shares[one.name] = importance(fusion, one)
        if progress is not None:
            progress("Reporting", len(shares), len(outcome.collection.sets))
    pictures.learning_curves(outcome.fitted.histories, folder / _CURVES)
    pictures.calibration(outcome.calibration.bins, folder / _CALIBRATION)
    pictures.contributions(shares, folder / _CONTRIBUTIONS)
    text = "\n\n".join(_sections(outcome, shares))
    (folder / REPORT).write_text(text + "\n", "utf-8")


def _sections(outcome: Outcome, shares: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    settings, calibration = outcome.artefact.settings, outcome.calibration
    yield "# Training of a fusion"
    yield (
        f"Everything here is out of fold: each question was answered by networks that had seen none of its pages"
        f" ({settings['folds']} folds, seed {settings['seed']}, {settings['members']} to a mean). Scores of"
        f" {outcome.artefact.embedder}; {len(outcome.artefact.layout.columns)} columns."
    )
    yield "## All sets"
    yield overview(outcome.reports)
    yield (
        "hit@1/hit@3/hit@5; recall@5/all@5 where at least half of the questions have several things to find."
        " Best of a column in bold."
    )
    yield "## The gate"
    yield f"**{'Open' if outcome.gate.active else 'Shut'}**: {outcome.gate.because}."
    yield gate_table(outcome.gate)
    yield (
        "Differences are paired, with 95 % intervals and two-sided permutation tests, both by page. The best single"
        " retriever is the best on these very questions."
    )
    yield "## Learning"
    yield f"![Loss and hit@1, epoch by epoch]({_CURVES})"
    watched = f"One page in {settings['watched']} of those learnt from is watched; the epoch with the least loss on it"
    if settings.get("preset") == "thesis":
        yield f"{watched} is kept, also for the network of all questions. Of the last pass, over the candidates it saw."
    else:
        epochs = outcome.fitted.epochs
        yield f"{watched} is kept. The network of all questions saw {epochs} epochs, the mean of the best ones."
    yield "## Calibration"
    yield f"![Share that is gold against the probability told]({_CALIBRATION})"
    yield (
        f"The sigmoid of a score is the probability that a candidate is gold: expected error {calibration.after:.4f}"
        f" out of fold, {calibration.before:.4f} before the line {calibration.line.slope:.3f} x score"
        f" {calibration.line.intercept:+.3f} was laid through it."
    )
    yield "## What each view contributes"
    yield f"![Shares of the contributions]({_CONTRIBUTIONS})"
    yield grid(
        ["", *map(plain, shares)],
        [[name, *(share(own[name]) for own in shares.values())] for name in next(iter(shares.values()))],
    )
    yield (
        f"Mean absolute Shapley values over the {HITS} best hits of about {QUESTIONS} questions a set, as shares; signals"
        " count for the retriever they belong to. By the network of all questions."
    )
    yield "## Set by set"
    for name, report in outcome.reports.items():
        yield f"### {plain(name)}"
        yield _details(report)
        yield (
            f"{len(report.traced.questions)} questions; intervals (95 %) and tests resample {report.clusters}"
            f" {report.resampled}. p: the row against the network at hit@5."
        )


def overview(reports: Mapping[str, Report]) -> str:
    """Rows x sets."""
    rows = list(next(iter(reports.values())).rows)
    rows = [*(name for name in rows if name != NETWORK), NETWORK]
    measures = {name: shown(report) for name, report in reports.items()}
    best = {
        (name, measure): max(share(row.means[measure]) for row in report.rows.values())
        for name, report in reports.items()
        for measure in measures[name]
    }

    def cell(name: str, row: str) -> str:
        values = [(measure, share(reports[name].rows[row].means[measure])) for measure in measures[name]]
        return "/".join(f"**{v}**" if v == best[name, measure] else v for measure, v in values)

    head = [f"{plain(name)} ({len(report.traced.questions):,})" for name, report in reports.items()]
    return grid(["", *head], [[row, *(cell(name, row) for name in reports)] for row in rows])


def gate_table(gate: Gate) -> str:
    """Set by set, the network against the best single retriever and the convex combination."""
    return grid(
        [
            "set",
            "measure",
            "network",
            "best single",
            "difference",
            "p",
            "convex",
            "difference",
            "p",
            "network is",
        ],
        [
            [
                plain(name),
                one.measure,
                share(one.mean),
                f"{one.single.row} {share(one.single.mean)}",
                *_difference(one.single),
                share(one.convex.mean),
                *_difference(one.convex),
                one.decision,
            ]
            for name, one in gate.sets.items()
        ],
    )


def _difference(against: Against) -> tuple[str, str]:
    bounds = against.difference
    return f"{bounds.mean:+.3f} ({bounds.low:+.3f} to {bounds.high:+.3f})", chance(against.p)


def _details(report: Report) -> str:
    p = {one.row: one.p for one in report.comparisons if one.measure == "hit@5"}
    rows = []
    for name, row in report.rows.items():
        figures = []
        for measure in HEADLINE:
            bounds = row.intervals[measure]
            figures.append(f"{share(row.means[measure])} ({share(bounds.low)}-{share(bounds.high)})")
        rows.append([name, *figures, chance(p[name]) if name in p else ""])
    return grid(["", *HEADLINE, "p"], rows)
