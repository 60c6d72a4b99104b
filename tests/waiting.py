"""Waiting for what another thread or process does."""

from __future__ import annotations

import time
from typing import Any


def until(true: Any, seconds: float = 60.0) -> None:
    """Wait until a condition holds. Raises AssertionError if it does not in time."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)
