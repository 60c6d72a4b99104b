"""Compares personalised PageRank over 50 chunks in closed form with NetworkX on the same graph.

    python benchmarks/diffusion_vs_networkx.py

Prints the speed-up of the closed form, given the same weights (the construction of the NetworkX graph is not timed),
and the largest difference between the results.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from experiments import command
from trivium.retrievers.diffusion import similarity_graph
from trivium.retrievers.pagerank import pagerank_dense

CHUNKS = 50
DIMENSION = 384
DAMPING = 0.85


def best_of(function: Callable[[], object], repeats: int, calls: int) -> float:
    """Return the seconds per call, the best of several repeats."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(calls):
            function()
        times.append((time.perf_counter() - start) / calls)
    return min(times)


def main() -> None:
    command.Parser(__doc__, takes="seconds", packages=("networkx",)).parse_args()
    import networkx as nx

    rng = np.random.default_rng(50)
    topic = rng.normal(size=DIMENSION)
    vectors = rng.normal(size=(CHUNKS, DIMENSION)) + topic  # chunks found for one question are similar
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    weights = similarity_graph(vectors.astype(np.float32))
    seeds = np.maximum(0.0, vectors @ (topic / np.linalg.norm(topic)))

    graph = nx.from_numpy_array(weights)
    personalization = dict(enumerate(seeds.tolist()))
    theirs = nx.pagerank(graph, DAMPING, personalization, max_iter=1000, tol=1e-12)
    apart = max(abs(theirs[node] - rank) for node, rank in enumerate(pagerank_dense(weights, seeds, DAMPING)))

    peer = best_of(lambda: nx.pagerank(graph, DAMPING, personalization), 20, 5)
    print(f"networkx.pagerank   {peer * 1e6:8.0f} us   1.0x")
    for method in ("solve", "power"):
        own = best_of(lambda method=method: pagerank_dense(weights, seeds, DAMPING, method), 20, 200)  # type: ignore[misc]
        print(f"trivium {method:10} {own * 1e6:9.0f} us {peer / own:5.1f}x")
    print(f"largest difference  {apart:.1e}")


if __name__ == "__main__":
    command.run(main)
