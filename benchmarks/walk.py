"""Compares the walk at the size of a full crawl: forward push against power iteration in SciPy.

    python benchmarks/walk.py
    python benchmarks/walk.py --scale 10

A synthetic graph of 168,000 chunks and 202,000 entities with 800,000 links; citations follow a power law as in an
encyclopaedia: few entities are cited everywhere, most once. Prints milliseconds per question, the ratio to twelve power
iterations, the overlap of the best 20 chunks, and the memory of the graph. ``--scale`` multiplies all sizes.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from experiments import command
from trivium.retrievers.pagerank import settled

if TYPE_CHECKING:
    import scipy.sparse as sp

SIZES = {"chunks": 168_000, "entities": 202_000, "pages": 5_444, "citations": 632_000}
SCRATCH = 8 + 8 + 4 + 4
"""Scratch bytes per node of each walking thread: mass, residual, the queue, the touched nodes."""
DAMPING = 0.5
QUESTIONS = 100
ITERATIONS = 12
BEST = 20

Floats = NDArray[np.float64]


def encyclopaedia(rng: np.random.Generator, scale: int) -> sp.csr_array:
    """Return a symmetric CSR matrix that joins each chunk with its page and the entities it cites. Chunks come first."""
    import scipy.sparse as sp

    chunk_count, entity_count, page_count, citations = (count * scale for count in SIZES.values())
    pages = np.sort(rng.integers(0, page_count, chunk_count))
    popularity = 1.0 / np.arange(1, entity_count + 1) ** 0.9
    cited = rng.choice(rng.permutation(entity_count), citations, p=popularity / popularity.sum())
    chunks = np.concatenate([np.arange(chunk_count), rng.integers(0, chunk_count, citations)])
    entities = chunk_count + np.concatenate([pages, cited])
    nodes = chunk_count + entity_count
    links = sp.coo_array((np.ones(chunks.size), (chunks, entities)), shape=(nodes, nodes)).tocsr()
    return sp.csr_array((links + links.T) > 0).astype(np.float64)


def seeds(graph: sp.csr_array, chunks: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], Floats]:
    """Return 20 chunks of a few pages and 3 entities they cite as seeds, with weights, as for a question."""
    first = rng.integers(0, chunks - 200, 4)
    near = np.unique(np.concatenate([start + rng.integers(0, 200, 5) for start in first]))
    cited = np.unique(np.concatenate([graph.indices[graph.indptr[c] : graph.indptr[c + 1]] for c in near]))
    entities = rng.choice(cited, 3, replace=False)
    masses = np.concatenate([rng.dirichlet(np.ones(near.size)) / 2, np.full(3, 1 / 6)])
    return np.concatenate([near, entities]).astype(np.int64), masses


def power(step: sp.csr_array, nodes: NDArray[np.int64], masses: Floats) -> Floats:
    start = np.zeros(step.shape[0])
    start[nodes] = masses
    mass = start
    for _ in range(ITERATIONS):
        mass = (1 - DAMPING) * start + DAMPING * (step @ mass)
    return mass


def main() -> None:
    parser = command.Parser(__doc__, takes="seconds; with --scale 10 a minute", packages=("scipy",))
    parser.add_argument("--scale", type=int, default=1)
    scale = parser.parse_args().scale
    import scipy.sparse as sp

    chunks = SIZES["chunks"] * scale
    rng = np.random.default_rng(370)
    graph = encyclopaedia(rng, scale)
    degree = np.asarray(graph.sum(axis=1)).ravel()
    step = sp.csr_array(graph @ sp.diags_array(1 / np.maximum(degree, 1)))
    indptr, indices = graph.indptr.astype(np.int64), graph.indices.astype(np.int32)
    own_chunks = np.zeros((graph.shape[0], 2), dtype=np.int64)
    questions = [seeds(graph, chunks, rng) for _ in range(QUESTIONS)]
    settled(indptr, indices, *questions[0])  # compiles or loads the machine code
    print(f"{graph.shape[0]:,} nodes, {graph.nnz // 2:,} links, damping {DAMPING}")

    begun = time.perf_counter()
    exact = [power(step, *question) for question in questions[:10]]
    peer = (time.perf_counter() - begun) / len(exact)
    print(f"SciPy, {ITERATIONS} power iterations  {peer * 1e3:7.2f} ms     1.0x")
    for eps in (1e-5, 1e-6, 1e-7):
        times = []
        for nodes, masses in questions:
            begun = time.perf_counter()
            settled(indptr, indices, nodes, masses, DAMPING, eps, own_chunks)
            times.append(time.perf_counter() - begun)
        own = float(np.median(times))
        agreed = np.mean(
            [
                agreement(*settled(indptr, indices, *q, DAMPING, eps), e, chunks)
                for q, e in zip(questions, exact, strict=False)
            ]
        )
        print(
            f"push, eps {eps:.0e}           {own * 1e3:7.2f} ms {peer / own:7.1f}x"
            f"   slowest {max(times) * 1e3:.2f} ms   same best {BEST}: {agreed:.1%}"
        )
    arrays = indptr.nbytes + indices.nbytes + own_chunks.nbytes
    print(
        f"memory: {arrays / 2**20:,.0f} MB for the graph, {SCRATCH * graph.shape[0] / 2**20:,.0f} MB for each thread"
        f" that walks; {arrays / chunks:.0f} and {SCRATCH * graph.shape[0] / chunks:.0f} bytes a chunk"
    )


def agreement(nodes: NDArray[np.int64], masses: Floats, exact: Floats, chunks: int) -> float:
    """Return the overlap of the best nodes among the first ``chunks``, in [0, 1]."""
    mass = np.zeros_like(exact)
    mass[nodes] = masses
    ours, theirs = (set(np.argsort(-each[:chunks], kind="stable")[:BEST].tolist()) for each in (mass, exact))
    return len(ours & theirs) / BEST


if __name__ == "__main__":
    command.run(main)
