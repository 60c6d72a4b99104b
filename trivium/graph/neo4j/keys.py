"""What nodes are found by: names, terms and uris that fit into an index of the server."""

from __future__ import annotations

from trivium.graph.schema import unescape
from trivium.graph.vectors import text_hash
from trivium.text import normalise_name, without_parenthesis

MAX_KEY_BYTES = 8_000
"""Longest string, in bytes of UTF-8, that an index of the server takes (its own limit is 8,167)."""


def fits(key: str) -> bool:
    """Whether an index of the server takes a string."""
    return len(key) * 4 <= MAX_KEY_BYTES or len(key.encode()) <= MAX_KEY_BYTES


def names_of(title: str) -> tuple[str | None, str | None]:
    """Normalised title (of a uri) and the one without its trailing parenthesis; None where it has no letters, does
    not differ, or is too long for anyone to ask for.

    >>> names_of("Mercury (planet)")
    ('mercury planet', 'mercury')
    >>> names_of("Earth's")
    ('earth s', None)
    """
    text = unescape(title)
    name = normalise_name(text)
    short = normalise_name(without_parenthesis(text)) if text.endswith(")") else name
    return _key(name), (_key(short) if short != name else None)


def term_key(term: str) -> str:
    """What a search term is counted under: itself, or its hash where it is longer than any word.

    >>> term_key("moon")
    'moon'
    >>> len(term_key("x" * 10_000))
    32
    """
    return term if fits(term) else text_hash(term)


def _key(name: str) -> str | None:
    return name if name and fits(name) else None
