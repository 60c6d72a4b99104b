"""The names of fusions, importable without their implementations."""

from __future__ import annotations

DEFAULT = "default"
NETWORK = "network"
CONVEX = "convex"
FUSIONS = (DEFAULT, NETWORK, CONVEX, "rrf")
PLUGINS = "trivium.fusions"
"""Entry point group of fusions in installed packages."""
