"""Plots of a training run, as SVG on a white background: readable on light and dark pages alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from trivium.errors import MissingExtraError
from trivium.training.calibrate import Bin
from trivium.training.fit import Epoch

# The Okabe-Ito palette, which colour-blind readers can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
_STYLE = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "svg.fonttype": "none",
    "svg.hashsalt": "trivium",
}


def check_matplotlib() -> None:
    """Raise MissingExtraError without matplotlib."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("the report of a training", "train") from error


def learning_curves(histories: Sequence[Sequence[Epoch]], path: Path) -> None:
    """Training and validation loss, and validation hit@1, by epoch, with one line per fold."""
    with _figure(path, 2) as (losses, hits):
        for fold, history in enumerate(histories):
            colour = COLOURS[fold % len(COLOURS)]
            epochs = np.arange(1, len(history) + 1)
            losses.plot(epochs, [epoch.loss for epoch in history], color=colour, alpha=0.4, linestyle="--")
            validated = [
                (n, e) for n, e in zip(epochs.tolist(), history, strict=True) if e.validation_loss is not None
            ]
            if not validated:
                continue
            numbers, seen = zip(*validated, strict=True)
            losses.plot(numbers, [e.validation_loss for e in seen], color=colour, label=f"fold {fold + 1}")
            best = min(range(len(seen)), key=lambda n: seen[n].validation_loss)
            losses.plot(numbers[best], seen[best].validation_loss, "o", color=colour)
            hits.plot(numbers, [e.validation_hit for e in seen], color=colour, label=f"fold {fold + 1}")
        losses.set(xlabel="epoch", ylabel="loss", title="Loss: validation (o best), training dashed")
        hits.set(xlabel="epoch", ylabel="hit@1", title="hit@1 on the validation pages")
        if losses.get_legend_handles_labels()[0]:
            losses.legend(frameon=False)


def calibration(bins: Sequence[Bin], path: Path) -> None:
    """The observed share of gold candidates against their predicted probability."""
    with _figure(path, 1) as (axes,):
        axes.plot([0, 1], [0, 1], color="#999999", linestyle="--", linewidth=1)
        sizes = [20 + 400 * bin.weight**0.5 for bin in bins]
        axes.scatter(
            [bin.predicted for bin in bins],
            [bin.observed for bin in bins],
            s=sizes,
            color=COLOURS[0],
            alpha=0.7,
        )
        axes.plot([bin.predicted for bin in bins], [bin.observed for bin in bins], color=COLOURS[0])
        axes.set(
            xlabel="predicted probability, out of fold",
            ylabel="observed share of gold",
            title="Calibration",
            xlim=(-0.02, 1.02),
            ylim=(-0.02, 1.02),
        )


def contributions(shares: Mapping[str, Mapping[str, float]], path: Path) -> None:
    """Each retriever's share (in [0, 1]) of the scores of the best hits, one bar per set."""
    sets = list(shares)
    retrievers = list(next(iter(shares.values())))
    with _figure(path, 1) as (axes,):
        left = np.zeros(len(sets))
        for place, retriever in enumerate(retrievers):
            widths = np.array([shares[name][retriever] for name in sets])
            axes.barh(sets, widths, left=left, color=COLOURS[place % len(COLOURS)], label=retriever)
            left += widths
        axes.invert_yaxis()
        axes.set(xlabel="share of the absolute contributions to the five best hits", xlim=(0, 1))
        axes.legend(frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        axes.grid(visible=False)


@contextmanager
def _figure(path: Path, columns: int) -> Iterator[Sequence[Any]]:
    """The axes of a figure, ``columns`` side by side; it is saved as SVG at the end of the block."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(4.4 * max(columns, 1.4), 3.4), layout="constrained", facecolor="white")
        yield list(figure.subplots(1, columns, squeeze=False)[0])
        # Without a date, so that the same training writes the same file.
        figure.savefig(path, format="svg", metadata={"Date": None})
