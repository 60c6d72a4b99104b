"""Here it matters how models are loaded."""

from __future__ import annotations

import pytest

from tests.bundled_model import load
from trivium.embedding.onnx import OnnxEmbedder


@pytest.fixture(autouse=True)
def _loaded_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each embedder by itself."""
    monkeypatch.setattr(OnnxEmbedder, "_load", load)
