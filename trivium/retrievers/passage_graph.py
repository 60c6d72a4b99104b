"""Graphs among the passages of a list: by similarity, or by shared links.

Every graph is a symmetric matrix (n, n) with weights in [0, 1] and a zero diagonal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np

from trivium.common.arrays import Floats, product
from trivium.graph.records import Vectors
from trivium.graph.schema import Label, headings_as_text
from trivium.retrievers.lexical import smooth_idf
from trivium.retrievers.query import Query

Relations = Literal["similarity", "links", "both"]
"""Which passages are joined: similar ones; ones that cite the same entities or belong to the same page; or the mean
of both weights.
"""

Similarity = Literal["cosine", "centred", "words"]
"""How similarity is measured: the cosine of the embeddings; the same after subtracting the mean of the list, so that
what all passages have in common does not count; or the cosine of their TF-IDF vectors.
"""

_NOTHING = 1e-9
"""Vectors no longer than this are rounding errors and treated as zero."""


def passage_graph(query: Query, uris: Sequence[str], relations: Relations, similarity: Similarity) -> Floats:
    """Return the edge weights (n, n) among passages of a question's store."""
    if relations == "links":
        return _links(query, uris)
    alike = _similarities(query, uris, similarity)
    return alike if relations == "similarity" else (alike + _links(query, uris)) / 2


def similarity_graph(vectors: Vectors | Floats, neighbours: int | None = None) -> Floats:
    """Return edges max(0, cosine) between unit vectors (n, d), keeping the ``neighbours`` strongest per vector
    (:func:`strongest`).
    """
    rows = np.asarray(vectors, dtype=np.float64)
    return strongest(_cosines(np.where(np.isnan(rows), 0.0, rows)), neighbours)


def centred(vectors: Vectors | Floats) -> Floats:
    """Subtract the mean from vectors (n, d) and normalise them. Rows without a vector (NaN), or equal to the mean,
    become zeros.

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
    """Return the overlap (n, n) of sets of numbers: the size of the intersection divided by the geometric mean of
    both sizes.

    >>> shared([[1, 2], [2], []]).round(4).tolist()
    [[0.0, 0.7071, 0.0], [0.7071, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    columns = {thing: column for column, thing in enumerate(sorted({thing for one in sets for thing in one}))}
    member = np.zeros((len(sets), len(columns)))
    for row, things in enumerate(sets):
        member[row, [columns[thing] for thing in things]] = 1.0
    return _cosines(_unit(member))


def word_vectors(texts: Sequence[Sequence[str]], inverse: dict[str, float]) -> Floats:
    """Return normalised TF-IDF vectors (n, t) of texts given as lists of terms. ``inverse`` maps terms to inverse
    document frequencies.
    """
    columns = {term: column for column, term in enumerate(inverse)}
    counted = np.zeros((len(texts), len(columns)))
    for row, terms in enumerate(texts):
        for term, count in Counter(terms).items():
            counted[row, columns[term]] = count * inverse[term]
    return _unit(counted)


def strongest(weights: Floats, neighbours: int | None, threshold: float = 0.0) -> Floats:
    """Return a sparser graph: edges below ``threshold`` are dropped, and with ``neighbours`` = k an edge is kept if
    it is among the k strongest of either end (ties by row).
    """
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
        query.analyzer.terms(" ".join([*headings_as_text(record.section), record.body]))
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
    """Return max(0, dot product) of every pair of rows, with a zero diagonal."""
    weights: Floats = np.maximum(product(unit, unit.T), 0.0)
    np.fill_diagonal(weights, 0.0)
    return weights
