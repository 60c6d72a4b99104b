"""The embedder that is always there, loaded once a process of tests: verifying its files and making it ready takes a
quarter of a second, and tests open hundreds of engines."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from trivium.embedding.device import CPU
from trivium.embedding.model_files import locate
from trivium.embedding.onnx import OnnxEmbedder

BUNDLED = "minilm"
load = OnnxEmbedder._load
"""What it does otherwise."""


@contextmanager
def loaded_once() -> Iterator[None]:
    """While this lasts: what runs the model from where it is usually found, on the processor, is made once."""
    usual, lock, kept = locate(BUNDLED), threading.Lock(), []

    def load_once(self: OnnxEmbedder) -> tuple[Any, Any]:
        if self._files != usual or self._device != CPU:
            return load(self)
        with lock:
            if not kept:
                kept.append(load(self))
        return kept[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OnnxEmbedder, "_load", load_once)
        yield
