"""The walk at the size of the full crawl: forward push against power iteration in SciPy.

    python benchmarks/walk.py

A synthetic graph of 168,000 chunks and 202,000 entities with 800,000 links, citations drawn by a power law as
in an encyclopaedia: few entities are cited everywhere, most once. Prints milliseconds a question, the ratio
to twelve power iterations, and how many of the best 20 chunks the two agree on.
"""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from trivium.retrievers.push import push

CHUNKS, ENTITIES, PAGES, CITATIONS = 168_000, 202_000, 5_444, 632_000
DAMPING = 0.5
QUESTIONS = 100
ITERATIONS = 12
BEST = 20

Floats = NDArray[np.float64]


def encyclopaedia(rng: np.random.Generator) -> sp.csr_array:
    """Symmetric CSR: each chunk joined with its page and with the entities it cites."""
    pages = np.sort(rng.integers(0, PAGES, CHUNKS))
    popularity = 1.0 / np.arange(1, ENTITIES + 1) ** 0.9
    cited = rng.choice(rng.permutation(ENTITIES), CITATIONS, p=popularity / popularity.sum())
    chunks = np.concatenate([np.arange(CHUNKS), rng.integers(0, CHUNKS, CITATIONS)])
    entities = CHUNKS + np.concatenate([pages, cited])
    links = sp.coo_array((np.ones(chunks.size), (chunks, entities)), shape=(CHUNKS + ENTITIES,) * 2).tocsr()
    return sp.csr_array((links + links.T) > 0).astype(np.float64)


def seeds(graph: sp.csr_array, rng: np.random.Generator) -> tuple[NDArray[np.int64], Floats]:
    """20 chunks of a few pages and 3 entities they cite, as a question would find them."""
    first = rng.integers(0, CHUNKS - 200, 4)
    chunks = np.unique(np.concatenate([start + rng.integers(0, 200, 5) for start in first]))
    cited = np.unique(np.concatenate([graph.indices[graph.indptr[c] : graph.indptr[c + 1]] for c in chunks]))
    entities = rng.choice(cited, 3, replace=False)
    masses = np.concatenate([rng.dirichlet(np.ones(chunks.size)) / 2, np.full(3, 1 / 6)])
    return np.concatenate([chunks, entities]).astype(np.int64), masses


def power(step: sp.csr_array, nodes: NDArray[np.int64], masses: Floats) -> Floats:
    start = np.zeros(step.shape[0])
    start[nodes] = masses
    mass = start
    for _ in range(ITERATIONS):
        mass = (1 - DAMPING) * start + DAMPING * (step @ mass)
    return mass


def main() -> None:
    rng = np.random.default_rng(370)
    graph = encyclopaedia(rng)
    degree = np.asarray(graph.sum(axis=1)).ravel()
    step = sp.csr_array(graph @ sp.diags_array(1 / np.maximum(degree, 1)))
    indptr, indices = graph.indptr.astype(np.int64), graph.indices.astype(np.int32)
    questions = [seeds(graph, rng) for _ in range(QUESTIONS)]
    push(indptr, indices, *questions[0])  # load the machine code
    print(f"{graph.shape[0]:,} nodes, {graph.nnz // 2:,} links, damping {DAMPING}")

    begun = time.perf_counter()
    exact = [power(step, *question) for question in questions[:10]]
    peer = (time.perf_counter() - begun) / len(exact)
    print(f"SciPy, {ITERATIONS} power iterations  {peer * 1e3:7.2f} ms     1.0x")
    for eps in (1e-5, 1e-6, 1e-7):
        times = []
        for nodes, masses in questions:
            begun = time.perf_counter()
            push(indptr, indices, nodes, masses, DAMPING, eps)
            times.append(time.perf_counter() - begun)
        own = float(np.median(times))
        agreed = np.mean(
            [
                agreement(push(indptr, indices, *q, DAMPING, eps), e)
                for q, e in zip(questions, exact, strict=False)
            ]
        )
        print(
            f"push, eps {eps:.0e}           {own * 1e3:7.2f} ms {peer / own:7.1f}x"
            f"   slowest {max(times) * 1e3:.2f} ms   same best {BEST}: {agreed:.1%}"
        )


def agreement(mass: Floats, exact: Floats) -> float:
    """Share of the best chunks that are the same."""
    ours, theirs = (set(np.argsort(-each[:CHUNKS], kind="stable")[:BEST].tolist()) for each in (mass, exact))
    return len(ours & theirs) / BEST


if __name__ == "__main__":
    main()
