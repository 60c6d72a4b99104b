"""Fusions by name."""

from __future__ import annotations

from trivium.errors import FusionError
from trivium.fusion.base import Fusion
from trivium.fusion.convex import load
from trivium.fusion.rrf import ReciprocalRank

FUSIONS = ("default", "convex", "rrf")


def make_fusion(name: str, embedder: str) -> Fusion:
    """The fusion of that name for a store filled by ``embedder``.

    ``default`` is the one search uses when nothing is named: the tuned convex combination.
    Raises FusionError for an unknown name.
    """
    if name in ("default", "convex"):
        return load(embedder)
    if name == "rrf":
        return ReciprocalRank()
    raise FusionError(f"unknown fusion {name!r}: expected one of {', '.join(FUSIONS)}")
