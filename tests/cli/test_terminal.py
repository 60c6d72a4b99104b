"""What reaches the terminal."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trivium.cli.terminal import print_json


def test_json_says_nothing_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Control characters and marks of direction are escaped; what is read back is the same."""
    value: dict[str, Any] = {"te\u202ext": "a\u009b31m b\u007f c\u2067d\u200fe\u2028 é ✓ \x1b[0m"}
    print_json(value)
    printed = capsys.readouterr().out
    assert json.loads(printed) == value
    assert {c for c in printed if not c.isprintable()} == {"\n"} and "é ✓" in printed
