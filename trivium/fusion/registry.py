"""Fusions by name."""

from __future__ import annotations

import logging
from collections.abc import Collection
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from trivium.errors import FusionError
from trivium.fusion.artefact import DESCRIPTION, Artefact, fusion_of, load
from trivium.fusion.base import Fusion
from trivium.fusion.convex import load as load_convex
from trivium.fusion.names import DEFAULT, FUSIONS, NETWORK, PLUGINS
from trivium.fusion.network import NetworkFusion
from trivium.fusion.rrf import ReciprocalRank
from trivium.plugins import create_plugin, list_plugins

_log = logging.getLogger(__name__)


def make_fusion(name: str, embedder: str, decision: str | None = None) -> Fusion:
    """The fusion of that name for a store filled by ``embedder``, or the trained one in the folder of that name.

    ``default`` is the one search uses when nothing is named. Where it was decided for the store (``decision``, the name
    of another fusion or a folder), it is that one; else the trained network that ships for the embedder, if there is
    one and its gate lets it; else the tuned convex combination. ``network`` is the shipped network whatever its gate
    says. Other names are those that installed packages declare (entry points of the group ``trivium.fusions``: a
    function called with the name of the embedder). Reads files: keep what it returns.
    Raises FusionError for an unknown name, where no network ships for the
    embedder, and for a trained fusion that does not fit.
    """
    if name == DEFAULT:
        return _default(embedder) if decision is None else _decided(decision, embedder)
    if name == NETWORK:
        artefact = shipped(embedder)
        if artefact is None:
            raise FusionError(
                f"no trained network ships for {embedder or 'a store without an embedder'}: train one with"
                "  trivium train  and name its folder"
            )
        return artefact.fusion()
    if name == "convex":
        return load_convex(embedder)
    if name == "rrf":
        return ReciprocalRank()
    if (Path(name) / DESCRIPTION).is_file():
        return fusion_of(Path(name), embedder)
    declared: Fusion | None = create_plugin(PLUGINS, name, embedder)
    if declared is not None:
        return declared
    names = ", ".join([*FUSIONS, *list_plugins(PLUGINS)])
    raise FusionError(f"unknown fusion {name!r}: expected one of {names}, or a folder with a trained one")


def suits(fusion: Fusion, retrievers: Collection[str]) -> bool:
    """Whether all the views a fusion was made for are among the ``retrievers`` asked. A trained network goes by how the
    views agree: without some of them it sees what it never saw in training."""
    return not isinstance(fusion, NetworkFusion) or set(fusion.layout.retrievers) <= set(retrievers)


def artefacts() -> Traversable:
    """The folder of the networks that ship, one folder each by the name of its embedder."""
    return files("trivium.fusion") / "artefacts"


def shipped(embedder: str) -> Artefact | None:
    """The network that ships for an embedder, if one does."""
    folder = artefacts()
    # By the names that are there: an embedder's own may hold anything.
    found = [entry for entry in folder.iterdir() if entry.name == embedder] if folder.is_dir() else []
    return load(found[0]) if found else None


def shipped_for() -> list[str]:
    """The embedders that a network ships for."""
    return sorted(entry.name for entry in artefacts().iterdir() if entry.is_dir())


def _default(embedder: str) -> Fusion:
    artefact = shipped(embedder)
    if artefact is None or not artefact.active:
        return load_convex(embedder)
    return artefact.fusion()


def _decided(decision: str, embedder: str) -> Fusion:
    try:
        if (Path(decision) / DESCRIPTION).is_file():
            return fusion_of(Path(decision), embedder, activated=True)
        return make_fusion(decision, embedder)
    except FusionError as error:
        # The folder is gone, or from before an update. A store must stay searchable.
        _log.warning(
            "the fusion that was activated for this store cannot be used (%s); searching with the convex combination:"
            " decide again with  trivium evaluate QUESTIONS --store STORE --activate",
            error,
        )
        return load_convex(embedder)
