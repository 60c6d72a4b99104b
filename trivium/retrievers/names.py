"""The names of retrievers, without what computes them."""

from __future__ import annotations

RETRIEVERS = ("vector", "page", "section", "entity", "path", "lexical", "diffusion", "walk")
"""Names of the usual retrievers, in the order they are shown and stored."""

OPTIONAL = ("image",)
"""Names of those that are asked only where they are named: not every store has what they need."""

PLUGINS = "trivium.retrievers"
"""The entry points of retrievers that other packages bring."""
