"""Native libraries that do not get along are loaded in an order in which they do."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("first", ["trivium.graph.sqlite", "onnxruntime", "trivium.engine"])
def test_the_store_and_onnxruntime_can_be_loaded_in_either_order(first: str) -> None:
    """USearch 2.26 followed by onnxruntime 1.31 crashed the process."""
    code = f"import {first}; import onnxruntime; import trivium.graph.sqlite; print('fine')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "fine", done.stderr
