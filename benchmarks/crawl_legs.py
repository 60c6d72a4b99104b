"""Times the lexical retriever and the walk on a large store, with or without embeddings.

    trivium build UNPACKED/pages --store crawl --no-embed
    python benchmarks/crawl_legs.py --store crawl --questions ../shared/data/wiki/squad_questions.jsonl

The lexical retriever is timed as a whole, the walk including its entity lookup but without its seed chunks, which are
the 20 best of the lexical retriever.
"""

from __future__ import annotations

import time

import numpy as np

from experiments import command
from trivium.datasets.questions import read_questions
from trivium.graph.sqlite import EmbeddedStore
from trivium.retrievers.lexical import LexicalRetriever
from trivium.retrievers.pagerank import settled
from trivium.retrievers.query import Query
from trivium.retrievers.walk import WalkSettings
from trivium.search.candidates import DEPTH


def main() -> None:
    """Run the benchmark and print milliseconds."""
    parser = command.Parser(__doc__, takes="seconds, after the store is open")
    parser.add_argument("--store", type=command.store, required=True)
    parser.add_argument("--questions", type=command.existing, required=True)
    parser.add_argument("--sample", type=int, default=200)
    given = parser.parse_args()
    questions = read_questions(given.questions)
    texts = [q.text for q in questions[:: max(1, len(questions) // given.sample)]][: given.sample]
    with EmbeddedStore.open(given.store) as store:
        graph = store.adjacency()
        print(
            f"{len(graph.chunks):,} chunks, {len(graph.entities):,} entities, {len(graph.indices) // 2:,} links"
        )
        lexical, walk = [], []
        for text in texts:
            query = Query(text, np.zeros(1, dtype=np.float32), store)
            started = time.perf_counter()
            found = LexicalRetriever().retrieve(query, DEPTH)
            lexical.append(time.perf_counter() - started)
            walk.append(_walk(store, query, [graph.chunk_rows[c.uri] for c in found[:20]]))
    for name, seconds in (("lexical", lexical[5:]), ("walk", walk[5:])):
        print(
            f"{name:<8} median {1000 * np.median(seconds):.2f} ms, p90 {1000 * np.quantile(seconds, 0.9):.2f} ms"
        )


def _walk(store: EmbeddedStore, query: Query, chunks: list[int]) -> float:
    settings = WalkSettings()
    started = time.perf_counter()
    graph = store.adjacency()
    named = [graph.entity_rows[uri] for uri in query.named_entities if uri in graph.entity_rows]
    nodes = np.array([*chunks, *(len(graph.chunks) + row for row in named)], dtype=np.int64)
    if len(nodes) == 0:
        return 0.0
    settled(
        graph.indptr,
        graph.indices,
        nodes,
        np.full(len(nodes), 1 / len(nodes)),
        settings.damping,
        settings.eps,
    )
    return time.perf_counter() - started


if __name__ == "__main__":
    command.run(main)
