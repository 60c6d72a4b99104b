"""Writes the passages that answers were generated from as TREC runs, so that they can be evaluated like retrieval."""

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
    """Write one run per row of answers, except those from gold passages and without context, and the relevance
    judgements.

    ``answers`` has one entry per question of ``gold``, in the same order. Scores are 1 / rank, since a reader gets an
    order and no scores. Raises InputError if there is nothing to write.
    """
    rankings = {
        row: [[(uri, 1.0 / rank) for rank, uri in enumerate(one.hits, start=1)] for one in found]
        for row, found in answers.items()
        if row not in (GOLD, NO_CONTEXT)
    }
    write_rankings(gold, rankings, folder)
