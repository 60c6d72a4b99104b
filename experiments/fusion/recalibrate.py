"""Refits the probability calibration of a trained fusion, after a change of the calibration method. Rankings do not
change.

    pip install 'trivium[train]'
    python experiments/fusion/recalibrate.py hits/*.npz --importance 1 3 1 1 0.7 1 0.6 0.8 --fusion network

The hit lists must be those of the training, in the same order. The networks of the folds are trained with the fusion's
settings, as ``trivium train`` does; the calibration of their scores replaces that of the fusion, whose weights are
kept. Prints for each set the mean probability of the first hits and the share that is right, before and after (out of
fold).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields, replace

import numpy as np

from experiments import command
from trivium.common.arrays import Floats
from trivium.fusion.artefact import Artefact, load, write
from trivium.training.calibrate import Scaling, apply, calibrate
from trivium.training.crossfit import crossfit
from trivium.training.run import added_after
from trivium.training.settings import Settings
from trivium.training.training_data import Collection, Example, examples_of, read


def main() -> None:
    """Run the experiment and write the calibration."""
    parser = command.Parser(__doc__, takes="minutes", packages=("scipy", "trivium[train]"))
    parser.add_argument("hits", nargs="+", type=command.existing)
    parser.add_argument("--importance", nargs="+", type=float, default=[])
    parser.add_argument(
        "--fusion", type=command.existing, required=True, help="Folder of the fusion; it is changed."
    )
    given = parser.parse_args()
    artefact = load(given.fusion)
    known = {one.name for one in fields(Settings)}
    own = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in artefact.settings.items()
        if name in known
    }
    settings = Settings(**{"convex": 0.0, "title_time": 0.0, **own})  # earlier networks have neither
    collection = read(given.hits, given.importance, settings.folds)
    examples = examples_of(collection)
    fitted = crossfit(examples, collection.pages, settings, added=added_after(collection, settings))
    calibration = calibrate(fitted.logits, examples, fitted.fold)
    old = Scaling(artefact.calibration["slope"], artefact.calibration["intercept"])
    new = calibration.scaling
    print(first_hits(collection, examples, fitted.logits, [old, new]))
    # Invert the calibration that is part of the network's scores, then apply the new one.
    slope = new.slope / old.slope
    line = Scaling(slope, new.intercept - slope * old.intercept)
    changed: Artefact = replace(
        artefact,
        network=apply(line, artefact.network),
        calibration={
            **asdict(new),
            "expected_error_before": round(calibration.before, 6),
            "expected_error": round(calibration.after, 6),
        },
    )
    write(changed, given.fusion)


def first_hits(
    collection: Collection, examples: Sequence[Example], logits: Sequence[Floats], scalings: Sequence[Scaling]
) -> str:
    """Return one row per set: the share of first hits that are right, and their mean probability per calibration."""
    from scipy.special import expit

    rows, start = ["| | right | before | after |", "|---|---|---|---|"], 0
    for one in collection.sets:
        own = range(start, start + len(one.hits))
        start = own.stop
        asked = [place for place in own if len(logits[place])]
        best = {place: int(np.argmax(logits[place])) for place in asked}
        right = np.mean([examples[place].gold[best[place]] for place in asked])
        said = [
            np.mean([expit(scaling(logits[place])[best[place]]) for place in asked]) for scaling in scalings
        ]
        rows.append(f"| {one.name} | {right:.3f} | {said[0]:.3f} | {said[1]:.3f} |")
    return "\n".join(rows)


if __name__ == "__main__":
    command.run(main)
