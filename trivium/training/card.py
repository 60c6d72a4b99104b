"""The model card: what an artefact is, for whoever finds its folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trivium.evaluation.tables import grid, plain
from trivium.fusion.artefact import DESCRIPTION, NUMBERS, REPORT
from trivium.training.report import gate_table, overview
from trivium.training.run import Outcome


def card(outcome: Outcome, *, report: bool) -> str:
    """Markdown. ``report`` says whether there is one to link to."""
    artefact = outcome.artefact
    settings, layout = artefact.settings, artefact.layout
    network = artefact.network
    numbers = sum(weights.size + bias.size for weights, bias in network.layers)
    shape = "-".join(str(units) for units in (len(layout.columns), *settings["hidden"], 1))
    data = grid(
        ["set", "questions", "importance", "SHA-256 of the hit lists"],
        [
            [plain(name), f"{one['questions']:,}", f"{one['importance']:g}", f"`{one['sha256'][:16]}`"]
            for name, one in artefact.data.items()
        ],
    )
    more = f" More in [{REPORT}/report.md]({REPORT}/report.md)." if report else ""
    return f"""# A trained fusion for {artefact.embedder}

A small network that ranks the candidates of a question from the scores of {len(layout.retrievers)} retrievers
({", ".join(layout.retrievers)}) and {len(layout.signals)} signals of each candidate. Made by Trivium {artefact.version}.

    trivium search "..." --store STORE --fusion THIS_FOLDER --explain

- **Gate**: {"open" if outcome.gate.active else "shut"}: {outcome.gate.because}.
- **Network**: {shape} (ReLU), {settings["members"]} to a mean, {numbers:,} numbers in `{NUMBERS}`; `{DESCRIPTION}` says
  which columns it takes. The score of a candidate is a logit: its sigmoid is the probability that the candidate
  answers the question (expected error {outcome.calibration.after:.4f} out of fold).
- **Embedder**: only for stores filled by {artefact.embedder}; others are refused.

## Data

{data}

Of the questions and pages nothing is in this folder, only the weights that were fitted to their scores. The data stay
under their own licences (those from Wikipedia: CC BY-SA).

## Training

{_training(settings)}
Sets weigh as the square root of their number of questions, times their importance.

## Scores

Out of fold ({settings["folds"]} folds by page): every question was answered by networks that had seen none of its pages.

{overview(outcome.reports)}

hit@1/hit@3/hit@5; recall@5/all@5 where at least half of the questions have several things to find.

{gate_table(outcome.gate)}

The gate asks that the network be nowhere significantly worse than the best single retriever and the convex combination,
and better than both in the mean over the sets.{more}

## Limits

- It knows questions like those it was trained on. Whether it helps on yours tells
  `trivium evaluate YOUR_QUESTIONS --store STORE --fusion THIS_FOLDER --activate`.
- It expects all {len(layout.retrievers)} retrievers. Where some are left out, the default is the convex combination.
- Small sets say little: look at the intervals.
"""


def _training(settings: Mapping[str, Any]) -> str:
    """How the network learnt."""
    rate, dropout, seed = settings["rate"], settings["dropout"], settings["seed"]
    if settings.get("preset") == "thesis":
        return (
            "The fuser of the thesis (Milano-Bicocca, 2024): scores only of what a retriever returned,"
            f" {settings['standardisation']} standardisation,\nmining: {settings['mining']} (a share of"
            f" {settings['share']:g} of the negatives), binary cross-entropy, Adam ({rate:g}, on a plateau x"
            f" {settings['factor']:g} down to {settings['least_rate']:g}),\nL2 {settings['l2']:g}, batch normalisation,"
            f" dropout {'/'.join(f'{part:g}' for part in dropout)}, early stopping ({settings['patience']}) within"
            f" {settings['epochs']} epochs, batches of {settings['batch']} candidates, seed {seed}."
        )
    return (
        f"A softmax between each gold candidate and {settings['candidates']} others at most, AdamW ({rate:g}, cosine),\n"
        f"dropout {dropout:g}, {settings['epochs_of_the_whole']} of {settings['epochs']} epochs, batches of\n"
        f"{settings['batch']} questions, seed {seed}."
    )
