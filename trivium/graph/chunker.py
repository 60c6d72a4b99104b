"""What a store remembers of the chunker that cut its pages."""

from __future__ import annotations

from trivium.errors import ChunkerMismatchError

BLOCKS = "blocks"
"""The chunker of stores that remember none."""


def check_chunker(stored: str | None, wanted: str) -> None:
    """Raise ChunkerMismatchError where a store's pages (None: it has none) were cut by another chunker."""
    if stored is not None and stored != wanted:
        raise ChunkerMismatchError(
            f"the pages of the store were cut by the chunker {stored}, not by {wanted}: leave the chunker out, or build"
            " another store"
        )
