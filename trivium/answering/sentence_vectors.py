"""The vectors of passages' sentences: those that the store has from its embedding, the others made now.

Made anew for every question they were three fifths of the time of an answer without a language model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from trivium.answering.passages import NumberedPassage
from trivium.embedding.base import Embedder, Vectors
from trivium.embedding.plain import embedded_headings
from trivium.graph.protocols import SearchStore
from trivium.graph.records import Passage
from trivium.graph.schema import embedding_text, headings_of
from trivium.graph.sentences import sentence_texts


def vectors_of(
    sentences: Sequence[tuple[NumberedPassage, str]], embedder: Embedder, store: SearchStore | None
) -> Vectors:
    """Unit vectors (n x d) of sentences, each under the headings of its passage unless the store's are without. The store
    has eight bits of a number."""

    def headings(passage: NumberedPassage) -> tuple[str, ...]:
        return embedded_headings(embedder.identity, headings_of(passage.hit.section))

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
    """Text as it was embedded -> its vector, of what the store has."""
    own = [passage for passage in offered if passage.hit.live is None]
    found = store.sentence_vectors([passage.hit.uri for passage in own])
    kept: dict[str, Vectors] = {}
    for passage, (start, end) in zip(own, pairwise(found.starts.tolist()), strict=True):
        texts = sentence_texts(Passage(headings(passage), passage.hit.text))
        if len(texts) == end - start:  # not so where the document has changed meanwhile
            codes = found.codes[start:end].astype(np.float32)
            kept |= zip(texts, codes / np.linalg.norm(codes, axis=1, keepdims=True), strict=True)
    return kept
