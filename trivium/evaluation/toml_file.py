"""TOML files that say what to measure."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from trivium.errors import InputError


def read_toml(path: Path, kind: str, expected: str) -> dict[str, Any]:
    """What a file holds. Raises InputError, which says ``kind`` and ``expected``, and the line of a syntax error."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"{path}: expected a readable {kind} file, got {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: expected TOML {expected}, got {error}") from error
