"""Baselines: passages of 250 words in a plain vector index or BM25 index."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.documents.sets import Passage
from trivium.embedding.embedder import Embedder
from trivium.text.normalise import question_terms, terms

K1, B = 1.2, 0.75


class FlatVectors:
    """Exact search by cosine similarity. ``kept`` is a file that the vectors are loaded from, or saved to."""

    def __init__(self, texts: Sequence[str], embedder: Embedder, kept: Path) -> None:
        self._embedder = embedder
        if kept.is_file() and len(found := np.load(kept)) == len(texts):
            self._vectors = found
            return
        self._vectors = embedder.embed(texts)
        np.save(kept, self._vectors)

    def search(self, question: str, k: int) -> list[int]:
        """Return the indexes of the k best texts."""
        scores = self._vectors @ self._embedder.embed_query(question)
        return [int(place) for place in np.argsort(-scores, kind="stable")[:k]]


class FlatWords:
    """BM25 (k1 1.2, b 0.75) over stemmed words, without the stop words of the question."""

    def __init__(self, texts: Sequence[str]) -> None:
        counted = [Counter(terms(text)) for text in texts]
        self._lengths = np.array([count.total() for count in counted], dtype=np.float64)
        postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, count in enumerate(counted):
            for term, number in count.items():
                postings[term].append((place, number))
        self._postings = {term: np.array(found) for term, found in postings.items()}

    def search(self, question: str, k: int) -> list[int]:
        """Return the indexes of the k best texts."""
        scores = np.zeros(len(self._lengths))
        norm = K1 * (1 - B + B * self._lengths / self._lengths.mean())
        for term in question_terms(question):
            if (found := self._postings.get(term)) is not None:
                places, frequency = found[:, 0], found[:, 1]
                rarity = np.log1p((len(scores) - len(places) + 0.5) / (len(places) + 0.5))
                scores[places] += rarity * frequency * (K1 + 1) / (frequency + norm[places])
        return [int(place) for place in np.argsort(-scores, kind="stable")[:k] if scores[place] > 0]


def records(passages: Sequence[Passage]) -> list[dict[str, str]]:
    """Return flat passages as records: each is a chunk under its document, without sections and links."""
    return [{"title": passage.document, "text": passage.text} for passage in passages]
