"""The networks of the folds of a training run, as a folder. For each question there is one that has seen none of its
pages.

``1``, ``2``, ... are ordinary artefacts; ``folds.json`` says from which of them each question was held out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trivium.errors import FusionError
from trivium.fusion.artefact import Artefact, write

QUESTIONS = "folds.json"


@dataclass(frozen=True, slots=True)
class Folds:
    """``held_out`` maps a set of questions and the id of a question to the fold, counted from 1, whose network has
    not seen its pages.
    """

    folder: Path
    held_out: Mapping[str, Mapping[str, int]]

    def fusion_for(self, question: str) -> Path:
        """Return the folder of the artefact for the question with this id, usable as the name of a fusion. Raises
        FusionError for a question that was not trained on, or an id that occurs in several sets with different folds.
        """
        found = {ids[question] for ids in self.held_out.values() if question in ids}
        if len(found) != 1:
            raise FusionError(
                f"expected a question of the training, got the id {question!r} of "
                + ("several in different folds" if found else "none")
            )
        return self.folder / str(found.pop())


def write_folds(
    artefacts: Sequence[Artefact], held_out: Mapping[str, Mapping[str, int]], folder: Path
) -> None:
    """Write the artefacts of the folds, in their order, and the held-out questions of each, to a new folder."""
    folder.mkdir()
    for fold, artefact in enumerate(artefacts, start=1):
        (folder / str(fold)).mkdir()
        write(artefact, folder / str(fold))
    (folder / QUESTIONS).write_text(json.dumps(held_out, ensure_ascii=False) + "\n", "utf-8")


def read_folds(folder: Path) -> Folds:
    """Read a folder written by :func:`write_folds`. Raises FusionError for anything else."""
    try:
        held_out = json.loads((folder / QUESTIONS).read_text("utf-8"))
        read = {name: {str(key): int(fold) for key, fold in ids.items()} for name, ids in held_out.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise FusionError(
            f"expected the networks of folds in {folder} (trivium train --keep-folds), got {error!r}"
        ) from error
    return Folds(folder, read)
