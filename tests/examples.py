"""How many examples of Hypothesis a test tries where each costs a good part of a second."""

from __future__ import annotations

import os

VARIABLE = "TRIVIUM_TEST_EXAMPLES"


def examples(count: int) -> int:
    """That many with every change, and as many times more as the variable says: ``make test-slow`` says 8."""
    return count * int(os.environ.get(VARIABLE, "1"))
