"""Chunks that end where the topic changes, according to an embedder.

Sentences are embedded one by one. The change at a gap between sentences is one minus the cosine of the mean of the two
before and the mean of the two after. Chunks end at the largest changes of a page that are local maxima.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trivium.chunking import split_by_length as split_text
from trivium.chunking.chunker import Span, recut, runs_of, span_of
from trivium.chunking.chunker_spec import ChunkerSpec
from trivium.text.normalise import sentences
from trivium.types import ChunkKind, Page

Vectors = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vectors]

BREAKS = 80.0
"""Percentile of a page's changes above which a chunk ends."""
_FEW = 5
"""With fewer changes in a page, none is significant."""


@dataclass(frozen=True, slots=True)
class Semantic:
    """Merges sentences until the topic changes or the chunk has ``size`` tokens. ``embed`` returns unit vectors of
    texts (n x d) and must be deterministic.
    """

    size: int
    embed: Embed

    portable = False

    @property
    def spec(self) -> str:
        return str(ChunkerSpec("semantic", self.size))

    def rechunk(self, page: Page) -> Page:
        texts = [
            page.text[slice(*span_of(run))]
            for chunks in (page.chunks, *(section.chunks for section in page.sections))
            for run in runs_of(page.text, chunks)
            if run[0].kind != ChunkKind.IMAGE
        ]
        parts = {text: sentences(text) for text in texts}
        changes = self._changes(parts)
        every = np.concatenate([np.empty(0), *changes.values()])
        least = float(np.percentile(every, BREAKS)) if len(every) >= _FEW else np.inf

        def cut(text: str) -> list[Span]:
            breaks = np.flatnonzero((changes[text] >= least) & _peaks(changes[text])) + 1
            return split_text.fill(text, parts[text], self.size, breaks.tolist())

        return recut(page, cut)

    def _changes(self, parts: dict[str, list[Span]]) -> dict[str, NDArray[np.float64]]:
        """Return for each text the changes between its sentences (one fewer than sentences)."""
        several = {text: spans for text, spans in parts.items() if len(spans) > 1}
        every_sentence = [text[start:end] for text, spans in several.items() for start, end in spans]
        vectors = self.embed(every_sentence).astype(np.float64) if every_sentence else np.empty((0, 1))
        changes = {text: np.empty(0) for text in parts}
        at = 0
        for text, spans in several.items():
            changes[text] = _changes_between(vectors[at : at + len(spans)])
            at += len(spans)
        return changes


def _peaks(changes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which changes (n,) are positive, larger than the previous one and not smaller than the next."""
    padded = np.concatenate([[0.0], changes, [0.0]])
    peaks: NDArray[np.bool_] = (padded[1:-1] > padded[:-2]) & (padded[1:-1] >= padded[2:])
    return peaks


def _changes_between(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return one minus the cosine of the means of the two rows before and after each gap; vectors (n x d), result (n -
    1,).
    """
    changes = np.empty(len(vectors) - 1)
    for gap in range(1, len(vectors)):
        before, after = vectors[max(0, gap - 2) : gap].mean(axis=0), vectors[gap : gap + 2].mean(axis=0)
        lengths = np.linalg.norm(before) * np.linalg.norm(after)
        changes[gap - 1] = 1.0 - before @ after / lengths if lengths > 0 else 0.0
    return np.asarray(np.round(changes, 6))
