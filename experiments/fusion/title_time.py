"""Measures how much it should count that a title has the years and quarters of a question.

    python experiments/fusion/title_time.py hits/filings.npz hits/ect_qa.npz hits/squad.npz ...

No set that the networks are trained on has documents that are told apart by years or quarters (filings, calls, price
lists), so training says nothing of it, and a weight is added afterwards (``title_time`` of
:class:`trivium.training.settings.Settings`). Prints hit@1, hit@5, and how often the first passage is of the right
document, with several weights in its place (in log-odds, for one standard deviation).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments import command
from trivium.evaluation.tables import grid, share
from trivium.fusion.artefact import Artefact
from trivium.fusion.network import Network
from trivium.fusion.registry import shipped
from trivium.training.fit import Added, corrected
from trivium.training.run import report_of
from trivium.training.training_data import examples_of, read

COLUMN = "title_time"
WEIGHTS = (0.0, 0.3, 0.5, 0.8, 1.0, 1.5, 2.0)


def counting(base: Artefact, weight: float) -> Network:
    """Return the network of an artefact with that weight of the column in place of the one added after its training."""
    more = weight - base.settings.get(COLUMN, 0.0) * base.calibration["slope"]
    return corrected(base.network, 1.0, Added([more * (view == COLUMN) for view in base.layout.views]))


def figures(path: Path) -> list[str]:
    """The row of a set."""
    collection = read([path])
    base = shipped(collection.embedder, names=True)
    assert base is not None
    rows = [example.rows.astype(np.float64) for example in examples_of(collection, base.layout)]
    (own,) = collection.sets
    told = sum(bool(hit.table.signals[COLUMN].any()) for hit in own.hits)
    cells = [path.stem, f"{told} of {len(own.hits)}"]
    for weight in WEIGHTS:
        network = counting(base, weight)
        scores = [network.logits(each) for each in rows]
        means = report_of(own, scores, {}).rows["network"].means
        first = [hit.table.chunks[int(np.argmax(one))] for hit, one in zip(own.hits, scores, strict=True)]
        right = np.mean([uri.split("#")[0] in hit.pages for hit, uri in zip(own.hits, first, strict=True)])
        cells.append(f"{share(means['hit@1'])}/{share(means['hit@5'])}/{share(float(right))}")
    return cells


def main() -> None:
    """Print a row per set."""
    parser = command.Parser(__doc__, takes="seconds a set")
    parser.add_argument("hits", nargs="+", type=command.existing)
    given = parser.parse_args()
    print(grid(["set", "has it", *map(str, WEIGHTS)], [figures(path) for path in given.hits]))


if __name__ == "__main__":
    command.run(main)
