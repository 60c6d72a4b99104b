"""Sentence vectors as a property of a chunk: text, because neo4j-admin makes no empty list, and none is an answer."""

from __future__ import annotations

from base64 import b64decode, b64encode

from trivium.graph.store import Codes


def encoded(codes: Codes) -> str:
    """Vectors (m x d) as text: their bytes, one sentence after another, in base64. Empty where m is 0.

    >>> import numpy as np
    >>> encoded(np.array([[127, -128]], dtype=np.int8))
    'f4A='
    """
    return b64encode(codes.tobytes()).decode()


def decoded(text: str) -> bytes:
    """The bytes of what :func:`encoded` made.

    >>> decoded("f4A=")
    b'\\x7f\\x80'
    """
    return b64decode(text)
