"""Graphs among the passages of one list: who resembles whom, and who speaks of the same things.

Every graph is a symmetric matrix (n x n) of numbers in [0, 1] with a zero diagonal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np

from trivium.common.arrays import Floats
from trivium.graph.records import Vectors
from trivium.graph.schema import Label, headings_of
from trivium.retrievers.base import Query
from trivium.retrievers.tfidf import smooth_idf

Relations = Literal["similarity", "links", "both"]
"""Which passages are joined: those that resemble each other; those that cite the same entities or are of one page; the
mean of the two."""

Similarity = Literal["cosine", "centred", "words"]
"""What resembles means: the cosine of the embeddings; the same after the mean of the list is taken from each of them, so
that what all of them have in common does not count; the cosine of their words, weighted by TF-IDF."""

_NOTHING = 1e-9
"""A vector as short as that is what rounding left of none."""


def passage_graph(query: Query, uris: Sequence[str], relations: Relations, similarity: Similarity) -> Floats:
    """The weights of the edges among passages of a question's store."""
    if relations == "links":
        return _links(query, uris)
    alike = _similarities(query, uris, similarity)
    return alike if relations == "similarity" else (alike + _links(query, uris)) / 2


def similarity_graph(vectors: Vectors | Floats, neighbours: int | None = None) -> Floats:
    """Edges max(0, cosine) between unit vectors (n x d), the ``neighbours`` strongest of each (:func:`strongest`)."""
    return strongest(_cosines(np.nan_to_num(np.asarray(vectors, dtype=np.float64))), neighbours)


def centred(vectors: Vectors | Floats) -> Floats:
    """Vectors (n x d) without their mean, at length 1 again; a row of zeros for one without a vector (NaN), or that is
    the mean.

    >>> centred(np.array([[1.0, 1.0], [1.0, -1.0], [np.nan, np.nan]])).tolist()
    [[0.0, 1.0], [0.0, -1.0], [0.0, 0.0]]
    """
    rows = np.asarray(vectors, dtype=np.float64)
    known = ~np.isnan(rows).any(axis=1)
    moved = np.zeros_like(rows)
    if known.any():
        moved[known] = rows[known] - rows[known].mean(axis=0)
    return _unit(moved)


def shared(sets: Sequence[Sequence[int]]) -> Floats:
    """How much sets of things (of numbers) share: the size of the intersection by the geometric mean of both sizes.

    >>> shared([[1, 2], [2], []]).round(4).tolist()
    [[0.0, 0.7071, 0.0], [0.7071, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    columns = {thing: column for column, thing in enumerate(sorted({thing for one in sets for thing in one}))}
    member = np.zeros((len(sets), len(columns)))
    for row, things in enumerate(sets):
        member[row, [columns[thing] for thing in things]] = 1.0
    return _cosines(_unit(member))


def word_vectors(texts: Sequence[Sequence[str]], inverse: dict[str, float]) -> Floats:
    """TF-IDF vectors (n x t), at length 1, of texts as lists of terms; ``inverse``: inverse document frequencies."""
    columns = {term: column for column, term in enumerate(inverse)}
    counted = np.zeros((len(texts), len(columns)))
    for row, terms in enumerate(texts):
        for term, count in Counter(terms).items():
            counted[row, columns[term]] = count * inverse[term]
    return _unit(counted)


def strongest(weights: Floats, neighbours: int | None, threshold: float = 0.0) -> Floats:
    """A graph with fewer edges: those below ``threshold`` are left out, and with ``neighbours`` = k an edge stays if it
    is among the k strongest of one of its ends (ties by row)."""
    if threshold > 0:
        weights = np.where(weights >= threshold, weights, 0.0)
    if neighbours is None or neighbours >= len(weights) - 1:
        return weights
    best = np.argsort(-weights, axis=1, kind="stable")[:, :neighbours]
    kept = np.zeros(weights.shape, dtype=bool)
    np.put_along_axis(kept, best, True, axis=1)
    return np.where(kept | kept.T, weights, 0.0)


def _similarities(query: Query, uris: Sequence[str], similarity: Similarity) -> Floats:
    if similarity == "words":
        return _cosines(_words(query, uris))
    vectors = query.store.vectors(Label.CHUNK, uris)
    if similarity == "centred":
        return _cosines(centred(vectors))
    return similarity_graph(vectors)


def _words(query: Query, uris: Sequence[str]) -> Floats:
    texts = [
        query.analyzer.terms(" ".join([*headings_of(record.section), record.text]))
        for record in query.store.fetch(uris)
    ]
    terms = sorted({term for text in texts for term in text})
    found = query.store.term_statistics(terms)
    inverse = smooth_idf(found.chunks, found.document_frequency)
    return word_vectors(texts, dict(zip(terms, inverse.tolist(), strict=True)))


def _links(query: Query, uris: Sequence[str]) -> Floats:
    graph = query.adjacency
    rows = query.chunk_rows(uris)
    return shared(
        [
            graph.indices[graph.indptr[row] : graph.indptr[row + 1]].tolist() if row >= 0 else []
            for row in rows
        ]
    )


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Floats = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > _NOTHING)
    return scaled


def _cosines(unit: Floats) -> Floats:
    """max(0, product) of each two rows."""
    from trivium.common.product import product  # loads numba, see trivium.common.compiled

    weights: Floats = np.maximum(product(unit, unit.T), 0.0)
    np.fill_diagonal(weights, 0.0)
    return weights
