"""Links of several graphs as those of one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trivium.common.compiled import compiled
from trivium.graph.arrays import Csr, Rows


def joined_links(starts: Rows, counts: Rows, cited: NDArray[np.int32], entities: int) -> Csr:
    """Return the links of a graph in both directions, neighbours ascending. Chunk i has links to ``counts[i]`` entities,
    ascending and distinct, from ``starts[i]`` on in ``cited``. There are ``entities``, with the rows after all chunks.

    >>> links = joined_links(np.array([1, 0]), np.array([2, 1]), np.array([1, 0, 1], dtype=np.int32), 2)
    >>> links.indptr.tolist(), links.indices.tolist()
    ([0, 2, 3, 4, 6], [2, 3, 3, 0, 0, 1])
    """
    indptr = np.zeros(len(starts) + entities + 1, dtype=np.int64)
    indices = np.empty(2 * len(cited), dtype=np.int32)
    _fill(starts, counts, cited, entities, indptr, indices)
    return Csr(indptr, indices)


@compiled
def _fill(
    starts: Rows,
    counts: Rows,
    cited: NDArray[np.int32],
    entities: int,
    indptr: Rows,
    indices: NDArray[np.int32],
) -> None:
    chunks = len(starts)
    for chunk in range(chunks):
        indptr[chunk + 1] = counts[chunk]
    for entity in cited:
        indptr[chunks + entity + 1] += 1
    for node in range(chunks + entities):
        indptr[node + 1] += indptr[node]
    filled = indptr[chunks : chunks + entities].copy()
    # Chunks are taken in their order, so that those that cite an entity are in it, too.
    for chunk in range(chunks):
        place = indptr[chunk]
        for link in range(starts[chunk], starts[chunk] + counts[chunk]):
            entity = cited[link]
            indices[place] = chunks + entity
            place += 1
            indices[filled[entity]] = chunk
            filled[entity] += 1
