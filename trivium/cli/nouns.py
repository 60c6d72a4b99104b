"""Numbers with their nouns."""

from __future__ import annotations


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Format a number with its noun, in the plural when needed, which has an s unless it is given.

    >>> count(1, "store"), count(1200, "store"), count(0, "copy", "copies")
    ('1 store', '1,200 stores', '0 copies')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
