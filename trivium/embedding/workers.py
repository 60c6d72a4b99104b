"""Embeds texts in as many threads as there are cores.

Inference releases the GIL, so threads that share one model scale like processes without copying the weights (two
cores: 45 -> 91 texts/s with threads, 85 with processes).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from trivium.common.second_core import available_cores
from trivium.embedding.embedder import Vectors

RUN = 8
"""Texts per task. Short tasks keep workers from idling at the end of a call."""


def embed_each(
    embed_one: Callable[[str], Vectors],
    texts: Sequence[str],
    dimension: int,
    progress: Callable[[int], None] | None = None,
    workers: int | None = None,
) -> Vectors:
    """Apply a function of one text to many and return vectors (n, d) in their order; see :func:`embed_groups`."""

    def embed_run(places: Sequence[int]) -> list[Vectors]:
        return [embed_one(texts[place]) for place in places]

    runs = (range(start, min(start + RUN, len(texts))) for start in range(0, len(texts), RUN))
    return embed_groups(embed_run, runs, len(texts), dimension, progress, workers)


def embed_groups(
    embed_group: Callable[[Sequence[int]], Sequence[Vectors] | Vectors],
    groups: Iterable[Sequence[int]],
    count: int,
    dimension: int,
    progress: Callable[[int], None] | None = None,
    workers: int | None = None,
) -> Vectors:
    """Apply a function of the places of some texts to groups of the places 0 to ``count`` - 1, and return vectors
    (count, d) in the order of the places. Groups are taken one by one while the first ones are embedded.

    ``progress`` is called in the calling thread with the number of texts just completed. ``workers`` None means one
    per core. On an error or interrupt, pending groups are cancelled and running ones awaited.
    """
    result = np.empty((count, dimension), dtype=np.float32)

    def collect(group: Sequence[int], vectors: Sequence[Vectors] | Vectors) -> None:
        for place, vector in zip(group, vectors, strict=True):
            result[place] = vector
        if progress is not None:
            progress(len(group))

    threads = min(available_cores() if workers is None else workers, -(-count // RUN))
    if threads < 2:
        for group in groups:
            collect(group, embed_group(group))
        return result
    # A pool per call costs microseconds, and nothing survives a fork or an interrupt.
    with ThreadPoolExecutor(threads, thread_name_prefix="embed") as pool:
        begun: list[tuple[Sequence[int], Future[Sequence[Vectors] | Vectors]]] = []
        try:
            begun.extend((group, pool.submit(embed_group, group)) for group in groups)
            for group, future in begun:
                collect(group, future.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return result
