"""What was found for the questions whose answers are measured, as TREC runs: contexts can be judged as retrieval is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from trivium.datasets.gold import Gold
from trivium.evaluation.answers.records import Answered
from trivium.evaluation.answers.report import GOLD, NO_CONTEXT
from trivium.evaluation.trec import write_rankings


def write_contexts(
    answers: Mapping[str, Sequence[Answered]], gold: Mapping[str, Gold], folder: str | Path
) -> None:
    """Write the run of each row (gold and no context aside) and the judgements of its questions: ``answers`` has one for
    each question of ``gold``, in its order. Scores are 1 / rank: a reader is given an order, no scores. Raises
    InputError when nothing can be written."""
    rankings = {
        row: [[(uri, 1.0 / rank) for rank, uri in enumerate(one.hits, start=1)] for one in found]
        for row, found in answers.items()
        if row not in (GOLD, NO_CONTEXT)
    }
    write_rankings(gold, rankings, folder)
