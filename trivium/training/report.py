"""Writes a trained fusion to a folder: the artefact, its model card, and a report in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trivium.common.arrays import Floats
from trivium.common.progress import StageProgress
from trivium.evaluation.default_gate import Against, Gate
from trivium.evaluation.report import HEADLINE, Report
from trivium.evaluation.tables import Cell, Table, chance, plain, share, with_interval
from trivium.fusion.artefact import CARD, DESCRIPTION, FOLDS, NUMBERS, publishing, write
from trivium.fusion.artefact import REPORT as REPORT_FOLDER
from trivium.fusion.fold_networks import write_folds
from trivium.fusion.network import NetworkFusion
from trivium.search.ranking import order
from trivium.training.calibrate import Bin
from trivium.training.run import NETWORK, Outcome, headline_measures
from trivium.training.training_data import HitSet

REPORT = "report.md"
QUESTIONS = 100
"""Questions of each set to compute Shapley values for; each takes 512 passes through the network."""
HITS = 5


def save_outcome(
    outcome: Outcome,
    folder: Path,
    *,
    folds: bool = False,
    progress: StageProgress | None = None,
) -> None:
    """Write the artefact, its card, the report and (with ``folds``) the networks of the folds to a
    folder, which is created if it does not exist. An earlier artefact there stays until the new one is complete. Raises
    FusionError when the folder holds anything else."""
    with publishing(folder) as draft:
        write(outcome.artefact, draft)
        (draft / CARD).write_text(card(outcome), "utf-8")
        if folds:
            write_folds(outcome.folds(), outcome.held_out(), draft / FOLDS)
        write_report(outcome, draft / REPORT_FOLDER, progress)


def write_report(outcome: Outcome, folder: Path, progress: StageProgress | None = None) -> None:
    """Write ``report.md`` into a new folder."""
    folder.mkdir()
    fusion = outcome.artefact.fusion()
    shares: dict[str, dict[str, float]] = {}
    for hit_set in outcome.collection.sets:
        shares[hit_set.name] = importance(fusion, hit_set)
        if progress is not None:
            progress("Reporting", len(shares), len(outcome.collection.sets))
    text = "\n\n".join(_sections(outcome, shares))
    (folder / REPORT).write_text(text + "\n", "utf-8")


def _sections(outcome: Outcome, shares: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    settings, calibration = outcome.artefact.settings, outcome.calibration
    yield "# Training of a fusion"
    yield (
        f"Everything here is out of fold: each question was answered by networks that had seen none of its pages"
        f" ({settings['folds']} folds, seed {settings['seed']}, the mean of {settings['members']} networks)."
        f" Embedder: {outcome.artefact.embedder}; {len(outcome.artefact.layout.columns)} feature columns."
    )
    yield "## All sets"
    yield overview(outcome.reports).to_markdown()
    yield (
        "hit@1, hit@3 and hit@5; recall@5 and all@5 where at least half of the questions have several things to find."
        " Best of a column in bold."
    )
    yield "## The gate"
    yield f"**{'Open' if outcome.gate.active else 'Shut'}**: {outcome.gate.because}."
    yield gate_table(outcome.gate)
    yield (
        "Differences are paired, with 95 % intervals and two-sided permutation tests, both by page. The best single"
        " retriever is the best on these very questions."
    )
    yield "## Calibration"
    yield calibration_table(outcome.calibration.bins)
    yield (
        f"The sigmoid of a score is the probability that a candidate is gold: expected error {calibration.after:.4f}"
        f" out of fold, {calibration.before:.4f} before scaling by {calibration.scaling.slope:.3f} x score"
        f" {calibration.scaling.intercept:+.3f}, less {calibration.scaling.competition:.3f} times what all candidates of"
        " the question weigh together."
    )
    yield "## What each view contributes"
    rows = ([name, *(share(own[name]) for own in shares.values())] for name in next(iter(shares.values())))
    yield Table(["", *shares], rows).to_markdown()
    yield (
        f"Mean absolute Shapley values over the {HITS} best hits of about {QUESTIONS} questions a set, as shares; signals"
        " count for the retriever they belong to. Computed with the final network."
    )
    yield "## Set by set"
    for name, report in outcome.reports.items():
        yield f"### {plain(name)}"
        yield _details(report)
        yield (
            f"{len(report.traced.questions)} questions; intervals (95 %) and tests resample {report.clusters}"
            f" {report.resampled}. p: the row compared with the network at hit@5."
        )


def overview(reports: Mapping[str, Report]) -> Table:
    """A table of the measures: a row per system, a column per set and measure."""
    rows = list(next(iter(reports.values())).rows)
    rows = [*(name for name in rows if name != NETWORK), NETWORK]
    columns = [(name, measure) for name, report in reports.items() for measure in headline_measures(report)]
    best = {
        (name, measure): max(share(row.means[measure]) for row in reports[name].rows.values())
        for name, measure in columns
    }
    table = Table(
        ["", *(f"{name} ({len(reports[name].traced.questions):,}) {measure}" for name, measure in columns)]
    )
    for row in rows:
        shown = [share(reports[name].rows[row].means[measure]) for name, measure in columns]
        table.add_row(
            row,
            *(Cell(value, best=value == best[column]) for value, column in zip(shown, columns, strict=True)),
        )
    return table


def gate_table(gate: Gate) -> str:
    """A Markdown table: the network against the best single retriever and the convex combination, a row per set."""
    heads = ["set", "measure", "network", "best single", "difference", "p", "convex", "difference", "p"]
    table = Table([*heads, "network is"])
    for name, verdict in gate.sets.items():
        table.add_row(
            name,
            verdict.measure,
            share(verdict.mean),
            f"{verdict.single.row} {share(verdict.single.mean)}",
            *_difference(verdict.single),
            share(verdict.convex.mean),
            *_difference(verdict.convex),
            verdict.decision,
        )
    return table.to_markdown()


def calibration_table(bins: Sequence[Bin]) -> str:
    """A Markdown table of predicted probabilities and observed shares of gold."""
    rows = ([share(one.predicted), share(one.observed), share(one.weight)] for one in bins)
    return Table(["predicted", "observed", "share of the candidates"], rows).to_markdown()


def _difference(against: Against) -> tuple[str, str]:
    bounds = against.difference
    return with_interval(f"{bounds.mean:+.3f}", bounds.low, bounds.high), chance(against.p)


def _details(report: Report) -> str:
    p = {comparison.row: comparison.p for comparison in report.comparisons if comparison.measure == "hit@5"}
    table = Table(["", *HEADLINE, "p"])
    for name, row in report.rows.items():
        figures = []
        for measure in HEADLINE:
            bounds = row.intervals[measure]
            figures.append(f"{share(row.means[measure])} ({share(bounds.low)}-{share(bounds.high)})")
        table.add_row(name, *figures, chance(p[name]) if name in p else "")
    return table.to_markdown()


def importance(fusion: NetworkFusion, hit_set: HitSet) -> dict[str, float]:
    """Each retriever's share of the contributions, in [0, 1] and summing to 1: the mean absolute Shapley values over the
    five best hits of evenly spaced questions. Negative contributions count like positive ones."""
    step = max(1, len(hit_set.hits) // QUESTIONS)
    sample = [hit for hit in hit_set.hits[::step] if hit.table.chunks]
    total = np.zeros(len(fusion.layout.retrievers))
    for hit in sample:
        fused = fusion.fuse(hit.table)
        best = order(hit.table.chunks, fused.scores)[:HITS]
        columns = [hit.table.column(name) for name in fusion.layout.retrievers]
        total += np.abs(fused.explain(best)[:, columns]).mean(axis=0)
    shares: Floats = total / total.sum() if total.sum() > 0 else total
    return dict(zip(fusion.layout.retrievers, shares.tolist(), strict=True))


def card(outcome: Outcome) -> str:
    """The model card, in Markdown, with a link to the report."""
    artefact = outcome.artefact
    settings, layout = artefact.settings, artefact.layout
    network = artefact.network
    numbers = sum(weights.size + bias.size for weights, bias in network.layers)
    shape = "-".join(str(units) for units in (len(layout.columns), *settings["hidden"], 1))
    data_table = Table(["set", "questions", "importance", "SHA-256 of the hit lists"])
    for name, data in artefact.data.items():
        data_table.add_row(name, f"{data['questions']:,}", f"{data['importance']:g}", data["sha256"][:16])
    return f"""# A trained fusion for {artefact.embedder}

A small network that ranks the candidates of a question from the scores of {len(layout.retrievers)} retrievers
({", ".join(layout.retrievers)}) and {len(layout.signals)} signals of each candidate. Made by Trivium {artefact.version}.

    trivium search "..." --store STORE --fusion THIS_FOLDER --explain

- **Gate**: {"open" if outcome.gate.active else "closed"}: {outcome.gate.because}.
- **Network**: {shape} (ReLU), the mean of {settings["members"]}, {numbers:,} parameters in `{NUMBERS}`; `{DESCRIPTION}`
  names its input columns. The score of a candidate is a logit: its sigmoid is the probability that the candidate
  answers the question (expected error {outcome.calibration.after:.4f} out of fold).
- **Embedder**: only for stores filled by {artefact.embedder}; others are refused.

## Data

{data_table.to_markdown()}

This folder holds no questions or pages, only the weights fitted to their scores. The data keep their own licences (those
from Wikipedia: CC BY-SA).

## Training

{_training(settings)}
A set is weighted by the square root of its number of questions, times its importance.

## Scores

Out of fold ({settings["folds"]} folds by page): every question was answered by networks that had seen none of its pages.

{overview(outcome.reports).to_markdown()}

Recall@5 and all@5 where at least half of the questions have several things to find, else hit@1, hit@3 and hit@5.

{gate_table(outcome.gate)}

The gate requires that the network is on no set significantly worse than the best single retriever or the convex
combination, and on average over the sets better than both. More in
[{REPORT_FOLDER}/{REPORT}]({REPORT_FOLDER}/{REPORT}).

## Limits

- It was trained on questions like those above. To find out whether it helps on yours, run
  `trivium evaluate YOUR_QUESTIONS --store STORE --fusion THIS_FOLDER --activate`.
- It needs all {len(layout.retrievers)} retrievers. When some are left out, the default is the convex combination.
- Results on small sets are uncertain: look at the intervals.
"""


def _training(settings: Mapping[str, Any]) -> str:
    """One paragraph on how the network was trained; ``told`` of the settings, if it is there."""
    if "told" in settings:
        return str(settings["told"])
    rate, dropout, seed = settings["rate"], settings["dropout"], settings["seed"]
    return (
        f"A softmax between each gold candidate and {settings['candidates']} others at most, AdamW ({rate:g}, cosine),\n"
        f"dropout {dropout:g}, {settings['epochs_of_the_whole']} of {settings['epochs']} epochs, batches of\n"
        f"{settings['batch']} questions, seed {seed}. Added afterwards: {settings['convex']:g} times the convex\n"
        f"combination of the retrievers, and {settings['title_time']:g} times `title_time`, if the network has it."
    )
