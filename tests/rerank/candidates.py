"""Passages to be put in order."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.rerank.reranker import RerankCandidate


def candidates(*texts: str, **views: Sequence[float]) -> list[RerankCandidate]:
    """Passages a, b, c ... under the heading Mars, best first, with the scores of retrievers by name."""
    return [
        RerankCandidate(
            uri=chr(ord("a") + row),
            headings=("Mars",),
            text=text,
            score=-float(row),
            views={name: scores[row] for name, scores in views.items()},
        )
        for row, text in enumerate(texts)
    ]
