"""The library that runs the models reports nothing to its makers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CODE = """
from trivium.embedding.registry import open_embedder
embedder = open_embedder("minilm")
embedder.embed_query("moons of Mars")
embedder.close()
"""


def test_loading_the_model_leaves_no_id_of_the_session_or_the_device(tmp_path: Path) -> None:
    """It writes one of each before it reports anything; what it sends comes seconds later."""
    places = {name: str(tmp_path / name) for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME")}
    for place in places.values():
        Path(place).mkdir()
    given = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    subprocess.run([sys.executable, "-c", CODE], env={**given, **places}, check=True, timeout=120)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
