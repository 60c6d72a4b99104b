"""A trained fusion as a folder: ``fusion.json`` says what it is, ``network.safetensors`` holds the numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from trivium.errors import FusionError
from trivium.fusion.features import Layout
from trivium.fusion.network import Network, NetworkFusion

DESCRIPTION = "fusion.json"
NUMBERS = "network.safetensors"
FORMAT = 2
"""Bumped when what is computed from a layout changes: an artefact of another format is refused."""


@dataclass(frozen=True, slots=True)
class Artefact:
    """A network and where it is from. ``embedder`` is the name of the one whose scores it was trained on; ``data`` says
    on which questions, ``scores`` how it did on those it had not seen."""

    network: Network
    layout: Layout
    embedder: str
    data: Mapping[str, Any] = field(default_factory=dict)
    scores: Mapping[str, Any] = field(default_factory=dict)


def save(artefact: Artefact, folder: Path) -> None:
    """Write an artefact into a folder, which is made when missing; an earlier one there is replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = {"mean": artefact.network.mean, "deviation": artefact.network.deviation}
    for place, (weights, bias) in enumerate(artefact.network.layers):
        numbers[f"{place}.weights"], numbers[f"{place}.bias"] = weights, bias
    save_file(
        {name: np.ascontiguousarray(array, dtype=np.float32) for name, array in numbers.items()},
        folder / NUMBERS,
    )
    description = {
        "format": FORMAT,
        "embedder": artefact.embedder,
        "layout": asdict(artefact.layout),
        "features": [name for name, _ in artefact.layout.columns],
        "data": dict(artefact.data),
        "scores": dict(artefact.scores),
    }
    (folder / DESCRIPTION).write_text(json.dumps(description, indent=2, ensure_ascii=False) + "\n", "utf-8")


def load(folder: Path) -> Artefact:
    """Read an artefact. Raises FusionError where there is none, or one of another format, or a damaged one."""
    if not (folder / DESCRIPTION).is_file():
        raise FusionError(f"there is no trained fusion in {folder}: {DESCRIPTION} is missing")
    try:
        description = json.loads((folder / DESCRIPTION).read_text("utf-8"))
        if description["format"] != FORMAT:
            raise FusionError(
                f"the trained fusion in {folder} has format {description['format']}, this program reads {FORMAT}:"
                " train it again"
            )
        layout = _layout(description["layout"])
        if description["features"] != [name for name, _ in layout.columns]:
            raise FusionError(
                f"the trained fusion in {folder} has other features than this program: train it again"
            )
        numbers = load_file(folder / NUMBERS)
        count = sum(name.endswith(".weights") for name in numbers)
        layers = tuple((numbers[f"{n}.weights"], numbers[f"{n}.bias"]) for n in range(count))
        network = Network(numbers["mean"], numbers["deviation"], layers)
        return Artefact(
            network, layout, str(description["embedder"]), description["data"], description["scores"]
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, SafetensorError) as error:
        raise FusionError(f"the trained fusion in {folder} is damaged: {error!r}") from error


def fusion_of(folder: Path, embedder: str) -> NetworkFusion:
    """The fusion of an artefact for a store filled by ``embedder``. Raises FusionError where they do not fit."""
    artefact = load(folder)
    if artefact.embedder != embedder:
        raise FusionError(
            f"the fusion in {folder} was trained on scores of {artefact.embedder}, the store was filled by"
            f" {embedder or 'nobody'}: train one for it (experiments/fusion)"
        )
    return NetworkFusion(artefact.network, artefact.layout, name=str(folder))


def _layout(values: Mapping[str, Any]) -> Layout:
    lists = ("retrievers", "signals", "logarithmic", "gaps", "question", "blocks")
    return Layout(
        **{name: tuple(values[name]) for name in lists},
        owners=dict(values["owners"]),
        floors=dict(values["floors"]),
    )
