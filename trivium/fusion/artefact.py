"""A trained fusion as a folder: ``fusion.json`` describes it, ``network.safetensors`` holds its parameters, and
``SHA256SUMS`` the checksums of both, in the format of ``sha256sum --check``.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as read_numbers
from safetensors.numpy import save as numbers_of

from trivium.errors import FusionError
from trivium.fusion.features import Layout
from trivium.fusion.network import Network, NetworkFusion


@contextmanager
def replaced(folder: Path, own: Collection[str]) -> Iterator[Path]:
    """Yield an empty draft folder, which replaces ``folder`` at the end of the block.

    If the block fails or is interrupted, the draft is removed and the earlier folder is unchanged. Raises FusionError
    like :func:`check_replaceable`, before anything is changed.
    """
    target = Path(os.path.realpath(folder))
    check_replaceable(target, own)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft, earlier = (target.with_name(f".{target.name}.{role}-{os.getpid()}") for role in ("new", "old"))
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    try:
        yield draft
        check_replaceable(target, own)
        if target.is_dir():
            target.rename(earlier)
        try:
            draft.rename(target)
        except BaseException:
            if earlier.is_dir():
                earlier.rename(target)
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        shutil.rmtree(earlier, ignore_errors=True)


def check_replaceable(folder: Path, own: Collection[str]) -> None:
    """Raise FusionError unless the folder is missing, empty, or contains only entries named in ``own``, so that no
    unrelated file is ever removed.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise FusionError(f"expected a folder for the trained fusion, but {folder} is a file")
    others = sorted(path.name for path in folder.iterdir() if path.name not in own)
    if others:
        raise FusionError(
            f"expected a new or empty folder, or one with a trained fusion to replace, but {folder} holds"
            f" {', '.join(others[:3])}{' and more' if len(others) > 3 else ''}: name another folder"
        )


DESCRIPTION = "fusion.json"
NUMBERS = "network.safetensors"
SUMS = "SHA256SUMS"
CARD = "README.md"
REPORT = "report"
FOLDS = "folds"
ENTRIES = (DESCRIPTION, NUMBERS, SUMS, CARD, REPORT, FOLDS)
"""Names that an artefact's folder may contain."""
FORMAT = 3
"""Format version, raised when the meaning of a layout changes. Artefacts of other formats are rejected."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Artefact:
    """A network and its provenance. All fields except the network and layout are plain JSON values.

    - ``embedder``: name of the embedder on whose scores it was trained.
    - ``data``: the training questions; ``settings``: the training settings.
    - ``scores``: results on held-out questions, compared with other fusions.
    - ``calibration``: calibration error of its probabilities.
    - ``gate``: whether it may be the default fusion and why (``active``, ``because`` and the figures, see
      :mod:`trivium.evaluation.default_gate`).
    - ``version``: version of the program that trained it.
    - ``inputs``: settings that its features were computed with, by dotted name.
    """

    network: Network
    layout: Layout
    embedder: str
    data: Mapping[str, Any] = field(default_factory=dict)
    scores: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    calibration: Mapping[str, Any] = field(default_factory=dict)
    gate: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict)

    def fusion(self, name: str = "network") -> NetworkFusion:
        """Create the fusion."""
        competition = float(self.calibration.get("competition", 0.0))
        return NetworkFusion(self.network, self.layout, name, competition, self.inputs)

    @property
    def active(self) -> bool:
        """Whether the gate admits it as the default fusion. False if it was never judged."""
        return self.gate.get("active") is True


def save(artefact: Artefact, folder: Path) -> None:
    """Write an artefact to a folder, which is created when missing. An earlier artefact is replaced only when the new
    one is complete. Raises FusionError when the folder contains anything else.
    """
    with publishing(folder) as draft:
        write(artefact, draft)


def publishing(folder: Path) -> AbstractContextManager[Path]:
    """Return a context manager around a temporary folder for the artefact's files, which replaces ``folder`` at the
    end of the block; see :func:`trivium.fusion.artefact.replaced`.
    """
    return replaced(folder, ENTRIES)


def check_publishable(folder: Path) -> None:
    """Raise FusionError if :func:`publishing` would. Allows checking before training, which takes minutes."""
    check_replaceable(folder, ENTRIES)


def write(artefact: Artefact, folder: Path) -> None:
    """Write the files of an artefact into an existing folder."""
    network = artefact.network
    numbers = {"mean": network.mean, "deviation": network.deviation}
    for place, (weights, bias) in enumerate(network.layers):
        numbers[f"{place}.weights"], numbers[f"{place}.bias"] = weights, bias
    # safetensors' own file writer creates files that only their owner can read.
    (folder / NUMBERS).write_bytes(
        numbers_of({name: np.ascontiguousarray(array, dtype=np.float32) for name, array in numbers.items()})
    )
    description = {
        "format": FORMAT,
        "trivium": artefact.version,
        "embedder": artefact.embedder,
        "gate": artefact.gate,
        "data": artefact.data,
        "settings": artefact.settings,
        "scores": artefact.scores,
        "calibration": artefact.calibration,
        "inputs": artefact.inputs,
        "layout": asdict(artefact.layout),
        "features": [name for name, _ in artefact.layout.columns],
    }
    (folder / DESCRIPTION).write_text(json.dumps(description, indent=2, ensure_ascii=False) + "\n", "utf-8")
    write_sums(folder)


def write_sums(folder: Path) -> None:
    """Write the checksums of an artefact's current files, as :func:`load` requires them."""
    lines = [f"{_sum((folder / name).read_bytes())}  {name}\n" for name in (DESCRIPTION, NUMBERS)]
    (folder / SUMS).write_text("".join(lines), "utf-8")


def load(folder: Traversable) -> Artefact:
    """Read an artefact. Raises FusionError when it is missing, has another format or differs from its checksums."""
    if not (folder / DESCRIPTION).is_file():
        raise FusionError(f"there is no trained fusion in {folder}: {DESCRIPTION} is missing")
    try:
        text, weights = (folder / DESCRIPTION).read_bytes(), (folder / NUMBERS).read_bytes()
        description = json.loads(text)
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
        _check_sums(folder, {DESCRIPTION: text, NUMBERS: weights})
        numbers = read_numbers(weights)
        count = sum(name.endswith(".weights") for name in numbers)
        layers = tuple((numbers[f"{n}.weights"], numbers[f"{n}.bias"]) for n in range(count))
        return Artefact(
            network=Network(numbers["mean"], numbers["deviation"], layers),
            layout=layout,
            embedder=str(description["embedder"]),
            data=dict(description["data"]),
            scores=dict(description["scores"]),
            settings=dict(description["settings"]),
            calibration=dict(description["calibration"]),
            gate=dict(description["gate"]),
            version=str(description["trivium"]),
            inputs=dict(description.get("inputs", {})),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, SafetensorError) as error:
        raise FusionError(f"the trained fusion in {folder} is damaged: {error!r}") from error


def fusion_of(folder: Path, embedder: str, *, activated: bool = False) -> NetworkFusion:
    """Load the fusion of an artefact for a store with ``embedder``.

    An artefact rejected by its gate is loaded too, with a logged warning unless it was ``activated`` for this store.
    Raises FusionError when embedder and artefact do not match.
    """
    artefact = load(folder)
    if artefact.embedder != embedder:
        raise FusionError(
            f"the fusion in {folder} was trained on scores of {artefact.embedder}, the store was filled by"
            f" {embedder or 'nobody'}: train one for it with  trivium train"
        )
    if not artefact.active and not activated:
        because = artefact.gate.get("because", "it was never judged")
        _log.warning("the fusion in %s is used because it was named; its gate is closed: %s", folder, because)
    return artefact.fusion(str(folder))


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _check_sums(folder: Traversable, contents: Mapping[str, bytes]) -> None:
    if not (folder / SUMS).is_file():
        raise FusionError(
            f"the trained fusion in {folder} has no {SUMS}, as those of earlier versions: train it again, or note there"
            f" what you trust with  sha256sum {DESCRIPTION} {NUMBERS} > {SUMS}"
        )
    lines = [line.split() for line in (folder / SUMS).read_text("utf-8").splitlines()]
    noted = {words[1].removeprefix("*"): words[0] for words in lines if len(words) == 2}
    for name, content in contents.items():
        found = _sum(content)
        if noted.get(name) != found:
            raise FusionError(
                f"{folder / name} is damaged: expected sha256 {noted.get(name)}, got {found}; train the fusion again, or,"
                " if it came with this program, install that again: pip install --force-reinstall --no-deps trivium"
            )


def _layout(values: Mapping[str, Any]) -> Layout:
    lists = ("retrievers", "signals", "logarithmic", "gaps", "question", "blocks")
    return Layout(
        **{name: tuple(values[name]) for name in lists},
        owners=dict(values["owners"]),
        floors=dict(values["floors"]),
        depths=dict(values.get("depths", {})),
    )
