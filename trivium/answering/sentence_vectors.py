"""Vectors of the sentences of passages: taken from the store if it has them, otherwise embedded.

Embedding them for every question took three fifths of the time of an answer without a language model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from trivium.answering.passages import NumberedPassage
from trivium.embedding.embedder import Embedder, Vectors
from trivium.embedding.late_chunking import embedded_headings
from trivium.graph.protocols import SearchStore
from trivium.graph.records import Passage
from trivium.graph.schema import embedding_text, headings_as_text
from trivium.graph.stored_vectors import sentence_texts


def vectors_of(
    sentences: Sequence[tuple[NumberedPassage, str]], embedder: Embedder, store: SearchStore | None
) -> Vectors:
    """Return unit vectors (n, d) of sentences, each embedded with the headings of its passage unless the store embeds
    without headings. Vectors from the store have int8 precision.
    """

    def headings(passage: NumberedPassage) -> tuple[str, ...]:
        return embedded_headings(embedder.identity, headings_as_text(passage.hit.section))

    texts = [embedding_text(headings(passage), text) for passage, text in sentences]
    offered = {passage.number: passage for passage, _ in sentences}
    known = {} if store is None else _kept(list(offered.values()), headings, store)
    new = [text for text in dict.fromkeys(texts) if text not in known]
    if new:
        known |= dict(zip(new, embedder.embed(new), strict=True))
    return np.array([known[text] for text in texts], dtype=np.float32)


def _kept(
    offered: Sequence[NumberedPassage],
    headings: Callable[[NumberedPassage], tuple[str, ...]],
    store: SearchStore,
) -> dict[str, Vectors]:
    """Map embedded texts to their vectors, for the sentences that the store has."""
    own = [passage for passage in offered if passage.hit.live is None]
    found = store.sentence_vectors([passage.hit.uri for passage in own])
    kept: dict[str, Vectors] = {}
    for passage, (start, end) in zip(own, pairwise(found.starts.tolist()), strict=True):
        texts = sentence_texts(Passage(headings(passage), passage.body))
        if len(texts) == end - start:  # false if the document has changed meanwhile
            codes = found.codes[start:end].astype(np.float32)
            kept |= zip(texts, codes / np.linalg.norm(codes, axis=1, keepdims=True), strict=True)
    return kept
