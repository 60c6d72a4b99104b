"""Compares Trivium's folder store with embedded libraries on the same vectors, chunks and questions.

    pip install lancedb qdrant-client faiss-cpu bm25s PyStemmer
    python benchmarks/local_peers.py squad_questions.jsonl qed_questions.jsonl --store joint-store

The systems are LanceDB (its vector index and its full-text index, fused by its RRF reranker), Qdrant in local mode
(dense and sparse vectors, with its own fusion), and FAISS with bm25s (fused by reciprocal ranks). Each indexes the text
of every chunk under its headings, as Trivium's own full-text index does, and the vectors of the store. All embed the
question with the same model, and the time includes it. Every question is sent to every system, in shuffled order,
before the next question. Prints the build time and size of each system, then one table per question file. ``--only``
selects systems: Qdrant's local mode compares all vectors in Python and is slow for large stores.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import compress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from peers_race import (
    System,
    add_folds,
    default_search,
    judge,
    race,
    ranking,
    sample,
    table,
    to_json,
    warm_up,
)
from rich.console import Console

import trivium
from experiments import command
from trivium.datasets.questions import read_questions
from trivium.evaluation.evaluator import Evaluator
from trivium.evaluation.report import Ranking
from trivium.graph.records import Vectors
from trivium.graph.schema import Label, headings_of

K = 10
DEPTH = 100
"""Depth of the two lists before they are fused, where a library leaves it to its user."""
RRF = 60
"""The constant of reciprocal rank fusion, as published."""
WARM_UP = 20
BATCH = 10_000
INDEXED_FROM = 50_000
"""Number of vectors from which LanceDB and FAISS use an approximate index; below it, an exhaustive search is faster."""
PARTITIONED_FROM = 1_000_000
"""Number of vectors from which LanceDB's index is the one that it makes by default (IVF_PQ). Its graph (HNSW_SQ) of two
million vectors was not finished after 80 minutes on two cores.
"""
console = Console(soft_wrap=True, highlight=False)


@dataclass(frozen=True, slots=True)
class Corpus:
    """Chunks: ``uris``, ``texts`` under their headings, and unit ``vectors`` (n x d)."""

    uris: Sequence[str]
    texts: Sequence[str]
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class Made:
    """A system that is ready to search. ``ask`` takes the text of a question and its vector."""

    name: str
    ask: Callable[[str, Vectors], Ranking]


def main() -> None:
    """Run the benchmark and print the results."""
    parser = command.Parser(__doc__, takes="minutes; Qdrant's local mode longer")
    parser.add_argument("questions", nargs="+", type=command.existing, help="Question files (JSON Lines).")
    parser.add_argument("--store", type=command.store, required=True, help="Folder of a store with vectors.")
    parser.add_argument(
        "--limit", type=int, default=300, help="Maximum number of questions per file (default 300)."
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="Seed of the sample and of the order (default 0)."
    )
    parser.add_argument(
        "--only", action="append", choices=list(MAKERS), help="Measure only this peer; may be repeated."
    )
    add_folds(parser)
    parser.add_argument("--json", type=command.output, help="Also write the figures to this file.")
    given = parser.parse_args()
    parser.need(sorted({package for name in given.only or MAKERS for package in PACKAGES[name]}))
    with TemporaryDirectory(prefix="trivium-peers-") as folder:
        compare(given, Path(folder))


def compare(given: argparse.Namespace, folder: Path) -> None:
    """Build the peers, ask the questions of every file, print its table, and write its figures."""
    with trivium.Engine.open(given.store, remembered_questions=0) as engine:
        corpus = read(engine)
        console.print(
            f"{len(corpus.uris):,} chunks, {engine.embedder.identity.name}; {os.cpu_count()} cores, load average"
            f" {os.getloadavg()[0]:.1f} before the start"
        )
        made = []
        for name in given.only or MAKERS:
            begun = time.perf_counter()
            made.append(MAKERS[name](corpus, folder / name))
            size = sum(path.stat().st_size for path in (folder / name).rglob("*") if path.is_file())
            console.print(
                f"{name}: made in {time.perf_counter() - begun:.1f} s, {size / 2**20:.0f} MB on disk"
            )
        systems = [
            System(*default_search(engine, K, given.folds, given.questions)),
            System("Trivium, convex", lambda text: ranking(engine.search(text, K, fusion="convex"))),
            System("Trivium, vector", lambda text: ranking(engine.search(text, K, ["vector"]))),
            *(System(each.name, _embedding_first(engine, each.ask)) for each in made),
            System("(embedding the question)", _embedding_first(engine, lambda *_: ()), judged=False),
        ]
        sets = []
        for file in given.questions:
            traced = Evaluator(engine.searcher).trace(read_questions(file))
            known = traced.questions
            asked = sample(known or read_questions(file), given.limit, given.seed)
            texts = [question.text for question in asked]
            warm_up(systems, texts[:WARM_UP])
            answers = race(systems, texts, given.seed)
            if not known:
                console.print(f"\n{file.stem}: no question has its gold in this store; ms of {len(asked)}")
                for name, own in answers.items():
                    console.print(
                        f"{name}: median {own.milliseconds(0.5):.1f}, p95 {own.milliseconds(0.95):.1f}"
                    )
                continue
            title = f"{file.stem}: {len(asked)} of {len(known)} traced questions"
            outcome = judge(title, systems, asked, traced, answers)
            console.print(f"\n{title}\n\n{table(outcome)}", markup=False)
            sets.append(to_json(outcome))
            if given.json is not None:
                figures = {"k": K, "seed": given.seed, "sets": sets}
                given.json.write_text(json.dumps(figures, indent=2) + "\n")


def read(engine: trivium.Engine) -> Corpus:
    """Return all chunks of a store that have a vector."""
    uris = list(engine.store.chunk_uris())
    texts: list[str] = []
    vectors = np.empty((len(uris), engine.embedder.identity.dimension), dtype=np.float32)
    for begin in range(0, len(uris), BATCH):
        some = uris[begin : begin + BATCH]
        vectors[begin : begin + len(some)] = engine.store.vectors(Label.CHUNK, some)
        texts.extend(
            "\n".join([*headings_of(record.section), record.text]) for record in engine.store.fetch(some)
        )
    known = ~np.isnan(vectors[:, 0])
    if known.all():  # millions of vectors are not to be in memory twice
        return Corpus(uris, texts, vectors)
    return Corpus(list(compress(uris, known)), list(compress(texts, known)), vectors[known])


def _embedding_first(
    engine: trivium.Engine, ask: Callable[[str, Vectors], Ranking]
) -> Callable[[str], Ranking]:
    return lambda text: ask(text, engine.embedder.embed_query(text))


def make_lancedb(corpus: Corpus, folder: Path, k: int = K) -> Made:
    """Create a table with a vector index and a full-text index, searched by a hybrid query with the default reranker for
    ``k`` chunks.
    """
    os.environ.setdefault("LANCE_LOG", "error")  # otherwise it warns of its own defaults, twice per question
    import lancedb
    import pyarrow as pa
    from lancedb.rerankers import RRFReranker

    shutil.rmtree(folder, ignore_errors=True)
    schema = pa.schema(
        [
            ("uri", pa.string()),
            ("text", pa.string()),
            ("vector", pa.list_(pa.float32(), corpus.vectors.shape[1])),
        ]
    )
    made = lancedb.connect(str(folder)).create_table("chunks", schema=schema)
    for begin in range(0, len(corpus.uris), BATCH):
        some = slice(begin, begin + BATCH)
        made.add(
            pa.table(
                {
                    "uri": corpus.uris[some],
                    "text": corpus.texts[some],
                    "vector": pa.FixedSizeListArray.from_arrays(
                        pa.array(corpus.vectors[some].ravel()), corpus.vectors.shape[1]
                    ),
                },
                schema=schema,
            )
        )
    made.create_index("text", config=lancedb.index.FTS(stem=True, remove_stop_words=True))
    if len(corpus.uris) >= INDEXED_FROM:
        partitioned = len(corpus.uris) >= PARTITIONED_FROM
        kind = lancedb.index.IvfPq if partitioned else lancedb.index.HnswSq
        made.create_index("vector", config=kind(distance_type="cosine"))
    reranker = RRFReranker()

    def ask(text: str, vector: Vectors) -> Ranking:
        words = text.replace('"', " ")  # otherwise text in quotation marks is a phrase query
        query = made.search(query_type="hybrid", vector_column_name="vector").vector(vector).text(words)
        rows = query.distance_type("cosine").rerank(reranker).limit(k).select(["uri"]).to_list()
        return [(row["uri"], float(row["_relevance_score"])) for row in rows]

    return Made(f"LanceDB {version('lancedb')}, hybrid", ask)


def qdrant_collection(corpus: Corpus, folder: Path | None) -> tuple[Any, Words]:
    """Create a local collection, ``chunks``, in a folder or in memory, with ``dense`` vectors and sparse term vectors,
    ``words`` (with its IDF modifier). Return its client and what makes sparse vectors of questions.
    """
    from qdrant_client import QdrantClient, models

    words = Words(corpus.texts)
    client = QdrantClient(":memory:") if folder is None else QdrantClient(path=str(folder))
    client.create_collection(
        "chunks",
        vectors_config={
            "dense": models.VectorParams(size=corpus.vectors.shape[1], distance=models.Distance.COSINE)
        },
        sparse_vectors_config={"words": models.SparseVectorParams(modifier=models.Modifier.IDF)},
    )
    for begin in range(0, len(corpus.uris), 1000):
        client.upsert(
            "chunks",
            [
                models.PointStruct(
                    id=row,
                    payload={"uri": corpus.uris[row]},
                    vector={
                        "dense": corpus.vectors[row].tolist(),
                        "words": models.SparseVector(
                            indices=list(weights), values=[float(weight) for weight in weights.values()]
                        ),
                    },
                )
                for row in range(begin, min(begin + 1000, len(corpus.uris)))
                for weights in [words.weights(row)]
            ],
        )
    return client, words


def make_qdrant(corpus: Corpus, folder: Path) -> Made:
    """Create a local collection that fuses by RRF."""
    from qdrant_client import models

    client, words = qdrant_collection(corpus, folder)

    def ask(text: str, vector: Vectors) -> Ranking:
        terms = words.of(text)
        found = client.query_points(
            "chunks",
            prefetch=[
                models.Prefetch(query=vector.tolist(), using="dense", limit=DEPTH),
                models.Prefetch(
                    query=models.SparseVector(indices=terms, values=[1.0] * len(terms)),
                    using="words",
                    limit=DEPTH,
                ),
            ],
            query=models.FusionQuery(fusion=models.Fusion.RRF),
            limit=K,
        )
        return [(str((point.payload or {})["uri"]), point.score) for point in found.points]

    return Made(f"Qdrant {version('qdrant-client')} local, hybrid", ask)


def make_faiss(corpus: Corpus, folder: Path) -> Made:
    """Create a FAISS index (HNSW for large stores, else exact) and a bm25s index, fused by reciprocal ranks."""
    import bm25s
    import faiss
    import Stemmer

    folder.mkdir(parents=True)
    dimension = corpus.vectors.shape[1]
    if len(corpus.uris) >= INDEXED_FROM:
        index = faiss.IndexHNSWFlat(dimension, 32, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efSearch = 256  # as USearch has in Trivium
    else:
        index = faiss.IndexFlatIP(dimension)
    index.add(corpus.vectors)
    faiss.write_index(index, str(folder / "vectors.faiss"))
    stemmer = Stemmer.Stemmer("english")
    words = bm25s.BM25()
    words.index(
        bm25s.tokenize(list(corpus.texts), stopwords="en", stemmer=stemmer, show_progress=False),
        show_progress=False,
    )
    words.save(str(folder / "bm25"))

    def ask(text: str, vector: Vectors) -> Ranking:
        near = index.search(vector[np.newaxis], DEPTH)[1][0]
        terms = bm25s.tokenize(text, stopwords="en", stemmer=stemmer, show_progress=False, return_ids=False)
        said = words.retrieve(terms, k=DEPTH, show_progress=False)[0][0]
        scores: dict[int, float] = {}
        for ranked in (near, said):
            for rank, row in enumerate(ranked.tolist(), start=1):
                scores[row] = scores.get(row, 0.0) + 1 / (RRF + rank)
        best = sorted(scores, key=lambda row: -scores[row])[:K]
        return [(corpus.uris[row], scores[row]) for row in best]

    return Made(f"FAISS {version('faiss-cpu')} + bm25s {version('bm25s')}", ask)


class Words:
    """Sparse vectors of stems: the BM25 term weights of texts without the inverse document frequency."""

    K1, B = 1.2, 0.75

    def __init__(self, texts: Sequence[str]) -> None:
        import bm25s
        import Stemmer

        self._stemmer = Stemmer.Stemmer("english")
        self._tokenise = bm25s.tokenize
        found = self._tokenise(list(texts), stopwords="en", stemmer=self._stemmer, show_progress=False)
        self._ids, self._numbers = found.ids, found.vocab
        self._mean = sum(map(len, self._ids)) / max(1, len(self._ids))

    def weights(self, row: int) -> dict[int, float]:
        """Return the weight of each stem of one of the texts."""
        ids = self._ids[row]
        norm = self.K1 * (1 - self.B + self.B * len(ids) / self._mean)
        return {stem: (count := ids.count(stem)) * (self.K1 + 1) / (count + norm) for stem in set(ids)}

    def of(self, text: str) -> list[int]:
        """Return the ids of the stems of a question that occur in some text."""
        (stems,) = self._tokenise(
            text, stopwords="en", stemmer=self._stemmer, show_progress=False, return_ids=False
        )
        return sorted({self._numbers[stem] for stem in stems if stem in self._numbers})


MAKERS: dict[str, Callable[[Corpus, Path], Made]] = {
    "lancedb": make_lancedb,
    "qdrant": make_qdrant,
    "faiss": make_faiss,
}
PACKAGES = {
    "lancedb": ("lancedb",),
    "qdrant": ("qdrant-client", "bm25s"),
    "faiss": ("faiss-cpu", "bm25s"),
}


if __name__ == "__main__":
    command.run(main)
