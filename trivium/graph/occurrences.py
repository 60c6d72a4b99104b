"""How often terms occur in texts that stores keep as their terms, one space between two."""

from __future__ import annotations

from collections.abc import Sequence


def spaced(terms: str) -> str:
    """The terms each between spaces of its own, so that neighbours which are the same term are counted apart.

    >>> spaced("red red planet")
    ' red  red  planet '
    """
    return f" {terms.replace(' ', '  ')} "


def occurrences(text: str, terms: Sequence[str]) -> list[int]:
    """How often each of the terms occurs in a :func:`spaced` text, when :func:`spaced` itself. Searching the string
    is twice as fast as taking it to pieces.

    >>> occurrences(spaced("red red planet"), [spaced("red"), spaced("moon")])
    [2, 0]
    """
    return [text.count(term) if term in text else 0 for term in terms]
