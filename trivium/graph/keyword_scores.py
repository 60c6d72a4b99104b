"""The scores by which keyword indexes propose passages: BM25 as tantivy computes it."""

from __future__ import annotations

import numpy as np

from trivium.graph.records import Floats, TermCounts, TermStatistics

_K1, _B = 1.2, 0.75
"""The constants of tantivy's BM25."""


def keyword_scores(counts: TermCounts, statistics: TermStatistics) -> Floats:
    """Return the scores of chunks (n,), 0 where no term occurs. The columns of ``counts`` are the terms of
    ``statistics.document_frequency``, distinct.
    """
    in_chunks = statistics.document_frequency
    idf = np.log1p((statistics.chunks - in_chunks + 0.5) / (in_chunks + 0.5))
    often = counts.text + counts.headings
    norm = 1 - _B + _B * (counts.text_length + counts.headings_length) / max(statistics.mean_length, 1e-9)
    scores: Floats = (idf * often * (_K1 + 1) / (often + _K1 * norm[:, None])).sum(axis=1)
    return scores
