"""Which embedders know English only."""

from __future__ import annotations

import re

from trivium.embedding.manifest import manifest

_SPECTER = "specter"
_MANY = re.compile(
    r"multilingual|\bm3\b|\be5-mistral|\bxlm|labse|gte-multilingual|arctic-embed-.*-v2|[-/]bge-m3", re.I
)
_ENGLISH = re.compile(
    r"[-_.]en(?:[-_.]|$)|all-minilm|all-mpnet|nomic-embed-text-v1|snowflake-arctic-embed|mxbai-embed-large|gte-(?:base|large)"
    r"$|clip-vit",
    re.I,
)


def english_only(name: str) -> bool:
    """Whether the embedder of that name is known to be for English alone: those that come with the package, and models of
    fastembed and of servers that say so. Of others nobody knows; they are taken at their word.

    >>> english_only("bge-small"), english_only("fastembed:intfloat/multilingual-e5-large")
    (True, False)
    """
    if name in manifest() or name == _SPECTER:
        return True
    family, _, model = name.partition(":")
    return (
        family in ("fastembed", "tei") and _MANY.search(model) is None and _ENGLISH.search(model) is not None
    )
