"""The names of rerankers, without what computes them."""

from __future__ import annotations

PLUGINS = "trivium.rerankers"
"""The entry points of rerankers: functions called with the name and the settings."""
FREE = ("bm25", "weighted")
"""Families that cost nothing and load nothing, so that anybody may name them."""
NAMES = "bm25, weighted:WEIGHT, cross-encoder:FOLDER|NAME, llm-pointwise:MODEL, llm-listwise:MODEL"
"""What a reranker may be called, for messages."""
FAMILIES = (*FREE, "cross-encoder", "llm-pointwise", "llm-listwise")
"""What names of the package begin with."""
PREFIX = "rerank:"
"""Before the name of a reranker where a retriever is named."""
