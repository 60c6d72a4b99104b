"""The names of rerankers, importable without their implementations."""

from __future__ import annotations

PLUGINS = "trivium.rerankers"
"""Entry point group of rerankers: functions called with the name and the settings."""
FREE = ("bm25", "tfidf", "diffusion", "weighted")
"""Rerankers that load and cost nothing, so that any client may request them."""
NAMES = (
    "bm25, tfidf, diffusion, weighted:WEIGHT, small, cross-encoder:FOLDER|NAME,"
    " llm-pointwise:MODEL, llm-listwise:MODEL"
)
"""The forms of reranker names, for messages."""
FAMILIES = (*FREE, "small", "cross-encoder", "llm-pointwise", "llm-listwise")
"""The built-in families of reranker names."""
PREFIX = "rerank:"
"""Prefix of a reranker's name used as a retriever."""
