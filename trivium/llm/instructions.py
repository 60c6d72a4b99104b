"""Instructions of one's own for a language model, from a text file."""

from __future__ import annotations

from pathlib import Path

from trivium.errors import ConfigurationError

MOST_BYTES = 1 << 16


def read_instructions(path: Path | None) -> str | None:
    """Return the text of a file, None where none is named. Raises ConfigurationError if it cannot be read, is empty, no
    UTF-8 or above 64 KiB.
    """
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        text = data.decode("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "other bytes"
        raise ConfigurationError(f"expected instructions as UTF-8 text in {path}, got: {why}") from error
    if not text or len(data) > MOST_BYTES:
        size = f"more than {MOST_BYTES >> 10} KiB" if text else "an empty file"
        raise ConfigurationError(
            f"expected instructions of at most {MOST_BYTES >> 10} KiB in {path}, got {size}"
        )
    return text
