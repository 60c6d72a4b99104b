"""Fusions by name."""

from __future__ import annotations

from pathlib import Path

from trivium.errors import FusionError
from trivium.fusion.artefact import DESCRIPTION, fusion_of
from trivium.fusion.base import Fusion
from trivium.fusion.convex import load
from trivium.fusion.rrf import ReciprocalRank

FUSIONS = ("default", "convex", "rrf")


def make_fusion(name: str, embedder: str) -> Fusion:
    """The fusion of that name for a store filled by ``embedder``, or the trained one in the folder of that name.

    ``default`` is the one search uses when nothing is named: the tuned convex combination.
    Raises FusionError for an unknown name.
    """
    if name in ("default", "convex"):
        return load(embedder)
    if name == "rrf":
        return ReciprocalRank()
    if (Path(name) / DESCRIPTION).is_file():
        return fusion_of(Path(name), embedder)
    raise FusionError(
        f"unknown fusion {name!r}: expected one of {', '.join(FUSIONS)}, or a folder with a trained one"
    )
