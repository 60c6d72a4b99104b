"""The names of fusions, without what computes them."""

from __future__ import annotations

DEFAULT = "default"
NETWORK = "network"
FUSIONS = (DEFAULT, NETWORK, "convex", "rrf")
PLUGINS = "trivium.fusions"
"""The entry points of fusions."""
