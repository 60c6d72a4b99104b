"""What a user would take instead of Trivium, over the same vectors and texts: each ranks the 100 best chunks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from trivium.evaluation.report import Ranking
from trivium.graph.records import Vectors

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from local_peers import Corpus, Made, make_lancedb, qdrant_collection

K = 100
PACKAGES = ("bm25s", "PyStemmer", "qdrant-client", "lancedb")
"""What these systems need besides Trivium."""
UNTIMED = "Qdrant"
"""Systems whose names begin so have no times."""


def versions() -> dict[str, str]:
    """Return the versions of the needed packages."""
    return {name: version(name) for name in PACKAGES}


def make(corpus: Corpus, folder: Path) -> list[Made]:
    """Build every system, those with files in a ``folder``."""
    return [
        Made("bge-small alone", lambda _, vector: _best(corpus, corpus.vectors @ vector)),
        _bm25s(corpus),
        *_qdrant(corpus),
        Made("LanceDB, hybrid", make_lancedb(corpus, folder / "lancedb", K).ask),
        _graphrag(corpus),
    ]


def _best(corpus: Corpus, scores: Vectors) -> Ranking:
    rows = np.argsort(-scores, kind="stable")[:K]
    return [(corpus.uris[row], float(scores[row])) for row in rows.tolist()]


def _bm25s(corpus: Corpus) -> Made:
    """The package as its documentation begins: English stop words and stemmer, Lucene's variant, k1 1.5, b 0.75."""
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    index = bm25s.BM25()
    index.index(_tokens(corpus.texts, "en", stemmer), show_progress=False)

    def ask(text: str, _: Vectors) -> Ranking:
        rows, scores = index.retrieve(
            _tokens([text], "en", stemmer), k=min(K, len(corpus.uris)), show_progress=False
        )
        return [
            (corpus.uris[row], score)
            for row, score in zip(rows[0].tolist(), scores[0].tolist(), strict=True)
            if score > 0
        ]

    return Made("bm25s", ask)


def _qdrant(corpus: Corpus) -> list[Made]:
    """Qdrant's local mode, which is its Python client without a server: it compares all vectors, so that nothing near is
    missed and times say nothing of the server (:data:`UNTIMED`). Its two lists are asked for once, and fused by its own
    functions as its queries do: RRF (with its constant, 2) and DBSF.
    """
    from qdrant_client import models
    from qdrant_client.hybrid.fusion import distribution_based_score_fusion, reciprocal_rank_fusion

    client, words = qdrant_collection(corpus, None)

    @lru_cache(maxsize=1)
    def lists(text: str, vector: bytes) -> list[Any]:
        terms = words.of(text)
        queries = {
            "dense": np.frombuffer(vector, dtype=np.float32).tolist(),
            "words": models.SparseVector(indices=terms, values=[1.0] * len(terms)),
        }
        return [
            client.query_points("chunks", query=query, using=using, limit=K).points
            for using, query in queries.items()
        ]

    def fused(fusion: Callable[..., Any]) -> Callable[[str, Vectors], Ranking]:
        def ask(text: str, vector: Vectors) -> Ranking:
            points = fusion(deepcopy(lists(text, vector.astype(np.float32).tobytes())), limit=K)
            return [(str(point.payload["uri"]), point.score) for point in points]

        return ask

    return [
        Made("Qdrant, RRF", fused(reciprocal_rank_fusion)),
        Made("Qdrant, DBSF", fused(distribution_based_score_fusion)),
    ]


def _graphrag(corpus: Corpus) -> Made:
    """The fusion of neo4j-graphrag's HybridRetriever (its default ranker, ``naive``), reproduced from its Cypher query: a
    node has the larger of its scores in the vector index and in the full-text index, each divided by the largest of its
    list. The server's part is played by an exact search with its form of the cosine, (1 + cos) / 2, and by BM25 as
    Lucene has it (k1 1.2, b 0.75), over lower-case words without stemming or stop words, as its default analyzer reads.
    """
    import bm25s

    index = bm25s.BM25(k1=1.2, b=0.75, method="lucene")
    index.index(_tokens(corpus.texts, None, None), show_progress=False)

    def ask(text: str, vector: Vectors) -> Ranking:
        near = (1 + corpus.vectors @ vector) / 2
        nearest = np.argsort(-near, kind="stable")[:K]
        rows, words = index.retrieve(
            _tokens([text], None, None), k=min(K, len(corpus.uris)), show_progress=False
        )
        scores = {int(row): float(near[row] / near[nearest[0]]) for row in nearest}
        top = float(words[0][0])
        for row, score in zip(rows[0].tolist(), words[0].tolist(), strict=True):
            if score > 0:
                scores[row] = max(scores.get(row, 0.0), score / top)
        best = sorted(scores, key=lambda row: -scores[row])[:K]
        return [(corpus.uris[row], scores[row]) for row in best]

    return Made("neo4j-graphrag, reproduced", ask)


def _tokens(texts: Sequence[str], stopwords: str | None, stemmer: object) -> object:
    import bm25s

    return bm25s.tokenize(list(texts), stopwords=stopwords, stemmer=stemmer, show_progress=False)
