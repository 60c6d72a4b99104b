"""Opens a model for several texts of the same number of tokens per call, if that does not change their vectors."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trivium.embedding.batches import FEWEST
from trivium.embedding.device import CPU
from trivium.embedding.onnx_batch_graph import batch_graph

PROBE = (
    "The rings of Saturn consist of countless small particles, from grains to boulders, that orbit the planet in a thin"
    " disc; they are made almost wholly of water ice, with a trace of rock, and reflect so much light that a telescope"
    " of 1610 showed them."
)
"""Text whose parts must have the same vectors in batches as one by one."""
_LENGTHS = (3, 7, 20, 33)

_log = logging.getLogger(__name__)


def open_batch_session(
    onnxruntime: Any,
    options: Any,
    model: Path,
    probe: Sequence[int],
    alone: Callable[[Sequence[int]], Any],
    together: Callable[[Any, Sequence[Sequence[int]]], Any],
) -> Any | None:
    """Return a session of the rewritten model, or None if there is none, or if its vectors differ: another version of
    onnxruntime, or another processor, may compute some operations in another order.

    ``probe`` is a tokenised text, ``alone`` computes the vectors of a text's tokens (1, tokens, d), and ``together``
    those of several texts with the new session (tokens, n, d). ``options`` are changed.
    """
    rewritten = batch_graph(model.read_bytes())
    if rewritten is None:
        return None
    # These plan memory for the many small steps between two products. With them loading takes three times as long, and
    # texts take the same time and memory.
    options.enable_mem_reuse = False
    options.enable_mem_pattern = False
    try:
        session = onnxruntime.InferenceSession(rewritten, options, providers=CPU.providers)
        same = all(_is_same(session, rows, alone, together) for rows in _parts(probe))
    except Exception as error:  # onnxruntime's exceptions have no common base class
        _log.info("%s is run on one text per call: %s", model, error)
        return None
    if not same:
        _log.info("%s is run on one text per call: its vectors would differ in batches", model)
    return session if same else None


def _parts(probe: Sequence[int]) -> list[list[list[int]]]:
    """Batches of parts of a tokenised text, between its special tokens."""
    first, *inner, last = probe
    return [
        [[first, *inner[start : start + length - 2], last] for start in range(FEWEST)] for length in _LENGTHS
    ]


def _is_same(
    session: Any,
    rows: Sequence[Sequence[int]],
    alone: Callable[[Sequence[int]], Any],
    together: Callable[[Any, Sequence[Sequence[int]]], Any],
) -> bool:
    one_by_one = np.concatenate([alone(row) for row in rows])
    return np.array_equal(together(session, rows).swapaxes(0, 1), one_by_one)
