"""Creates fusions by name."""

from __future__ import annotations

import logging
from collections.abc import Collection
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from trivium.errors import FusionError
from trivium.fusion.artefact import DESCRIPTION, Artefact, fusion_of, load
from trivium.fusion.convex import load as load_convex
from trivium.fusion.fusion_names import DEFAULT, FUSIONS, NETWORK, PLUGINS
from trivium.fusion.network import NetworkFusion
from trivium.fusion.rrf import ReciprocalRank
from trivium.fusion.score_table import Fusion
from trivium.plugins import create_plugin, list_plugins

_log = logging.getLogger(__name__)

WITH_NAMES = "-names"
"""Ends the names of the networks of stores in which names in texts are entities."""


def make_fusion(name: str, embedder: str, decision: str | None = None, *, names: bool = False) -> Fusion:
    """Create the fusion of that name for a store with ``embedder``, or load the trained one from the folder of that
    name. ``names``: names in the store's texts are entities, for which another network ships.

    - ``default``: the fusion used when none is named. It is the one decided for the store (``decision``, the name of
      another fusion or a folder); else the network shipped for the embedder, if there is one and its gate admits it;
      else the tuned convex combination.
    - ``network``: the shipped network, regardless of its gate.
    - ``convex``, ``rrf``.

    Other names are looked up among installed packages (entry point group ``trivium.fusions``; each entry is a
    function of the embedder's name). Reads files, so cache the result. Raises FusionError for an unknown name, for an
    embedder without a shipped network, and for a trained fusion that does not match.
    """
    if name == DEFAULT:
        return _default(embedder, names) if decision is None else _decided(decision, embedder, names)
    if name == NETWORK:
        artefact = shipped(embedder, names)
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
    known = ", ".join([*FUSIONS, *list_plugins(PLUGINS)])
    raise FusionError(f"unknown fusion {name!r}: expected one of {known}, or a folder with a trained one")


def suits(fusion: Fusion, retrievers: Collection[str]) -> bool:
    """Whether the retrievers asked include all those a fusion was fitted on. A trained network depends on how its
    retrievers agree, and has never seen inputs without some of them.
    """
    return not isinstance(fusion, NetworkFusion) or set(fusion.layout.retrievers) <= set(retrievers)


def artefacts() -> Traversable:
    """Return the folder of the shipped networks, with a subfolder per embedder and one for stores with names."""
    return files("trivium.fusion") / "artefacts"


def shipped(embedder: str, names: bool = False) -> Artefact | None:
    """Return the network shipped for an embedder, for stores in which names in texts are entities if ``names``, or
    None.
    """
    folder, wanted = artefacts(), shipped_name(embedder, names)
    # Compare with existing names instead of joining a path: a custom embedder's name may contain anything.
    found = [entry for entry in folder.iterdir() if entry.name == wanted] if folder.is_dir() else []
    return load(found[0]) if found else None


def shipped_name(embedder: str, names: bool) -> str:
    """Return the name of the network that ships, or would, for an embedder."""
    return embedder + names * WITH_NAMES


def shipped_for() -> list[tuple[str, bool]]:
    """Return the embedders with a shipped network, and whether it is for stores with names."""
    found = sorted(entry.name for entry in artefacts().iterdir() if entry.is_dir())
    return [(name.removesuffix(WITH_NAMES), name.endswith(WITH_NAMES)) for name in found]


def _default(embedder: str, names: bool) -> Fusion:
    artefact = shipped(embedder, names)
    if artefact is None or not artefact.active:
        return load_convex(embedder)
    return artefact.fusion()


def _decided(decision: str, embedder: str, names: bool) -> Fusion:
    try:
        if (Path(decision) / DESCRIPTION).is_file():
            return fusion_of(Path(decision), embedder, activated=True)
        return make_fusion(decision, embedder, names=names)
    except FusionError as error:
        # The folder is missing or from before an update. The store must remain searchable.
        _log.warning(
            "the fusion that was activated for this store cannot be used (%s); searching with the convex combination:"
            " decide again with  trivium evaluate QUESTIONS --store STORE --activate",
            error,
        )
        return load_convex(embedder)
