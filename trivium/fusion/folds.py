"""The networks of the folds of a training, as a folder: each question has one that has seen none of its pages.

``1``, ``2``, ... are artefacts like any other; ``folds.json`` says which of them a question was held out from.
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
    """``held_out``: set of questions -> id of a question -> the fold, from 1 on, whose network has not seen its pages."""

    folder: Path
    held_out: Mapping[str, Mapping[str, int]]

    def fusion_for(self, question: str) -> Path:
        """The artefact for the question with this id, to be named as a fusion. Raises FusionError for a question that was
        not trained on, or for one whose id is that of questions in several sets with different folds."""
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
    """Write the artefacts of the folds, in their order, and which questions each has not seen, into a new folder."""
    folder.mkdir()
    for fold, artefact in enumerate(artefacts, start=1):
        (folder / str(fold)).mkdir()
        write(artefact, folder / str(fold))
    (folder / QUESTIONS).write_text(json.dumps(held_out, ensure_ascii=False) + "\n", "utf-8")


def read_folds(folder: Path) -> Folds:
    """What :func:`write_folds` wrote. Raises FusionError where there is nothing of the kind."""
    try:
        held_out = json.loads((folder / QUESTIONS).read_text("utf-8"))
        read = {name: {str(key): int(fold) for key, fold in ids.items()} for name, ids in held_out.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise FusionError(
            f"expected the networks of folds in {folder} (trivium train --keep-folds), got {error!r}"
        ) from error
    return Folds(folder, read)
