"""Recognises embedders that support English only."""

from __future__ import annotations

import re

from trivium.embedding.manifest import manifest

MANY_LANGUAGES = "fastembed:sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
"""The embedder of many languages that messages recommend."""
_MANY = re.compile(
    r"multilingual|\bm3\b|\be5-mistral|\bxlm|labse|gte-multilingual|arctic-embed-[^/]{0,20}-v2|[-/]bge-m3",
    re.I,
)
_ENGLISH = re.compile(
    r"[-_.]en(?:[-_.]|$)|all-minilm|all-mpnet|nomic-embed-text-v1|snowflake-arctic-embed|mxbai-embed-large|gte-(?:base|large)"
    r"$|clip-vit",
    re.I,
)


def english_only(name: str) -> bool:
    """Whether the embedder of that name is known to support English only: the built-in ones, and models of fastembed
    and of servers whose names say so. Unknown embedders are assumed to be multilingual.

    >>> english_only("bge-small"), english_only("fastembed:intfloat/multilingual-e5-large")
    (True, False)
    """
    if name in manifest():
        return True
    family, _, model = name.partition(":")
    return (
        family in ("fastembed", "tei") and _MANY.search(model) is None and _ENGLISH.search(model) is not None
    )
