"""Write what came of a training: the artefact with its card and report, all or nothing."""

from __future__ import annotations

from pathlib import Path

from trivium.common.progress import StageProgress
from trivium.fusion.artefact import CARD, REPORT, publishing, write
from trivium.training.card import card
from trivium.training.report import write_report
from trivium.training.run import Outcome


def save_outcome(
    outcome: Outcome, folder: Path, *, report: bool = True, progress: StageProgress | None = None
) -> None:
    """Fill a folder, which is made when missing; an earlier artefact there stays until the new one is complete. Raises
    FusionError where the folder holds anything else, MissingExtraError for a report without matplotlib."""
    with publishing(folder) as draft:
        write(outcome.artefact, draft)
        (draft / CARD).write_text(card(outcome, report=report), "utf-8")
        if report:
            write_report(outcome, draft / REPORT, progress)
