"""What a user would take instead of Trivium, over the same vectors and texts: each ranks the 100 best chunks."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from trivium.evaluation.report import Ranking
from trivium.graph.records import Vectors

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from local_peers import Corpus, Made, make_lancedb, qdrant_fusions

K = 100
PACKAGES = ("bm25s", "PyStemmer", "qdrant-client", "lancedb")
"""What these systems need besides Trivium."""


def missing() -> list[str]:
    """Return the needed packages that are not installed."""
    absent = []
    for name in PACKAGES:
        try:
            version(name)
        except PackageNotFoundError:
            absent.append(name)
    return absent


def make(corpus: Corpus, folder: Path) -> list[Made]:
    """Build every system, those with files in a ``folder``."""
    return [
        Made("bge-small alone", lambda _, vector: _best(corpus, corpus.vectors @ vector)),
        _bm25s(corpus),
        *qdrant_fusions(corpus, folder / "qdrant", ["rrf", "dbsf"], K),
        make_lancedb(corpus, folder / "lancedb", K),
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

    return Made(f"bm25s {version('bm25s')}", ask)


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

    return Made("neo4j-graphrag hybrid, reproduced", ask)


def _tokens(texts: Sequence[str], stopwords: str | None, stemmer: object) -> object:
    import bm25s

    return bm25s.tokenize(list(texts), stopwords=stopwords, stemmer=stemmer, show_progress=False)
