"""Batching: for GPUs, which need many texts per call, texts of similar length together, padded to the longest; for CPUs
short texts of the same length, which share the cost of a call.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from trivium.common.idle_cores import available_cores
from trivium.embedding.embedder import Vectors

BATCH_TOKENS = 16_384
"""Tokens per call, including padding: about 1 GB of activations in a model with 384 dimensions."""

BATCHED_SLICE = 4096
"""Texts that are sorted by length together: some hundred thousand tokens, which is many batches."""

SHORT = 40
"""Tokens up to which texts of one length are embedded together on a CPU: beyond, a call has enough to do with one."""
FEWEST, MOST = 3, 32
"""How many of them in a call: two take as long as one by one, and more than 32 would keep other workers idle."""
_TOKENS = 256
"""Tokens in a call: with more, activations leave the processor's caches, and take memory in each worker."""
EQUAL_SLICE = 512
"""Texts that are looked through for equal lengths."""

Ids = NDArray[np.int64]


def batches(lengths: Sequence[int], tokens: int = BATCH_TOKENS) -> Iterator[list[int]]:
    """Group texts of these lengths, longest first, so that a padded group has at most ``tokens`` tokens (a longer
    text forms its own group). Yields indices.

    >>> list(batches([3, 9, 8, 2], tokens=18))
    [[1, 2], [0, 3]]
    """
    group: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        if group and (len(group) + 1) * lengths[group[0]] > tokens:
            yield group
            group = []
        group.append(place)
    if group:
        yield group


def equal_lengths(lengths: Iterable[int | None], run: int = 8) -> Iterator[list[int]]:
    """Group the places of texts of these lengths: groups of one length for one call each, and runs of at
    most ``run`` others, to be embedded one by one. None is a text that is known to be long. A group is yielded as soon
    as it is full.

    >>> list(equal_lengths([3, 90, 3, 5, 3, 3]))
    [[0, 2, 4, 5], [1, 3]]
    """
    waiting: defaultdict[int, list[int]] = defaultdict(list)
    others: list[int] = []
    for place, length in enumerate(lengths):
        if length is None or length > SHORT:
            group, full = others, run
        else:
            group, full = waiting[length], min(MOST, _TOKENS // length)
        group.append(place)
        if len(group) == full:
            yield list(group)
            group.clear()
    for group in waiting.values():
        if len(group) >= FEWEST:
            yield group
        else:
            others += group
    yield from (others[start : start + run] for start in range(0, len(others), run))


def is_batch(rows: Sequence[Sequence[int] | None]) -> bool:
    """Whether tokenised texts, None for long ones, are to be embedded in one call."""
    lengths = {SHORT + 1 if row is None else len(row) for row in rows}
    return len(rows) >= FEWEST and len(lengths) == 1 and max(lengths) <= SHORT


def padded(rows: Sequence[Sequence[int]]) -> tuple[Ids, Ids]:
    """Return tokens as a padded matrix (n, longest), and its mask."""
    ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, tokens in enumerate(rows):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    return ids, mask


def embed_batches(
    embed: Callable[[Ids, Ids], Vectors],
    rows: Sequence[Sequence[int]],
    dimension: int,
    progress: Callable[[int], None] | None = None,
) -> Vectors:
    """Embed tokenised texts and return vectors (n, d) in their order. ``embed`` maps the tokens of a batch and their
    mask to vectors. ``progress`` is called with the number of texts just completed.
    """
    result = np.empty((len(rows), dimension), dtype=np.float32)
    for group in batches([len(row) for row in rows]):
        result[group] = embed(*padded([rows[place] for place in group]))
        if progress is not None:
            progress(len(group))
    return result


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
