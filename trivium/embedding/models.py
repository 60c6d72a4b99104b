"""Which model files are on this machine, and how they get there.

A model that is installed lies in ``<home>/models/<name>-<version>``. It is assembled and verified in a folder
beside it and moved there in one step: an interrupted or damaged download leaves nothing behind.
"""

from __future__ import annotations

import hashlib
import logging
import tempfile
from dataclasses import dataclass
from pathlib import Path

from trivium.common.progress import Progress
from trivium.embedding.downloads import SourceError, fetch, find_in_packages
from trivium.embedding.manifest import ModelSpec, Source, manifest
from trivium.errors import ConfigurationError, EmbeddingError, ModelNotInstalledError
from trivium.settings import load_settings

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The files of a model on this machine."""

    model: Path
    tokenizer: Path


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """One line of the list of models. ``size`` is in bytes; ``sources`` are tried in this order."""

    name: str
    description: str
    licence: str
    size: int
    sources: tuple[str, ...]
    installed: bool


def locate(name: str, home: Path | None = None) -> ModelFiles:
    """The files of a model. Raises ModelNotInstalledError (missing, or not of the pinned size) with the
    command that installs it, ConfigurationError when there is no such model."""
    files = _find(name, home)
    if files is None:
        spec = _spec(name)
        raise ModelNotInstalledError(
            f"the model {name} ({spec.description}, {spec.size / 1e6:.0f} MB) is not installed: "
            f"run  trivium models install {name}"
        )
    return files


def installed(name: str, home: Path | None = None) -> bool:
    """Whether the files of a model are there, of the right size."""
    return _find(name, home) is not None


def available(home: Path | None = None) -> list[ModelStatus]:
    """The known models, the recommended one first."""
    return [
        ModelStatus(
            name=name,
            description=spec.description,
            licence=spec.licence,
            size=spec.size,
            sources=tuple(f"{source.kind}: {source.name}" for source in spec.sources),
            installed=installed(name, home),
        )
        for name, spec in manifest().items()
    ]


def install(name: str, progress: Progress | None = None, home: Path | None = None) -> Path:
    """Fetch a model unless it is there intact, and return the folder that holds its weights.

    ``progress`` is called with (bytes done, bytes in all). Sources are tried in order; files whose checksum
    is not the pinned one are thrown away. Raises EmbeddingError naming what went wrong with each source."""
    spec = _spec(name)
    present = _find(name, home)
    faults = []
    if present is not None:
        fault = _damage(present, spec)
        if fault is None:
            return present.model.parent
        faults.append(f"the installed {fault}")
    for source in spec.sources:
        try:
            return _install_from(source, name, spec, home, progress)
        except SourceError as error:
            _log.info("%s: %s", source.kind, error)
            faults.append(f"{source.kind}: {error}")
    raise EmbeddingError(f"the model {name} could not be installed. " + ". ".join(faults))


def _install_from(
    source: Source, name: str, spec: ModelSpec, home: Path | None, progress: Progress | None
) -> Path:
    target = _folder(name, home)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".install-") as scratch:
            downloaded = Path(scratch, "fresh")
            downloaded.mkdir()
            fetch(source, spec, downloaded, progress or (lambda _done, _total: None))
            fault = _damage(ModelFiles(downloaded / "model.onnx", downloaded / "tokenizer.json"), spec)
            if fault is not None:
                raise SourceError(fault)
            _move(downloaded, target, spec, Path(scratch, "old"))
    except OSError as error:
        raise EmbeddingError(f"the model {name} cannot be written to {target}: {error}") from error
    return target


def _move(downloaded: Path, target: Path, spec: ModelSpec, backup: Path) -> None:
    """Put the verified folder in its place, which may hold a damaged model, or an intact one that another
    process has just installed: that one stays, since somebody may be reading it."""
    try:
        if target.exists() and not _intact(target, spec):
            target.replace(backup)
        downloaded.rename(target)
    except OSError:
        if not _intact(target, spec):
            raise


def _intact(folder: Path, spec: ModelSpec) -> bool:
    try:
        return _damage(ModelFiles(folder / "model.onnx", folder / "tokenizer.json"), spec) is None
    except FileNotFoundError:
        return False


def _find(name: str, home: Path | None) -> ModelFiles | None:
    spec = _spec(name)
    folder = _folder(name, home)
    candidates = [{file: folder / file for file in spec.files}]
    candidates += [find_in_packages(source) for source in spec.sources if source.kind == "python"]
    for paths in candidates:
        if all(
            file in paths and _size(paths[file]) == expected.size for file, expected in spec.files.items()
        ):
            return ModelFiles(paths["model.onnx"], paths["tokenizer.json"])
    return None


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _damage(files: ModelFiles, spec: ModelSpec) -> str | None:
    """What is wrong with the files, None when their checksums are the pinned ones."""
    for path in (files.model, files.tokenizer):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != spec.files[path.name].sha256:
            return f"{path.name} has sha256 {digest}, expected {spec.files[path.name].sha256}"
    return None


def _folder(name: str, home: Path | None) -> Path:
    return (load_settings().home if home is None else home) / "models" / f"{name}-{_spec(name).version}"


def _spec(name: str) -> ModelSpec:
    spec = manifest().get(name)
    if spec is None:
        raise ConfigurationError(f"unknown model {name!r}: there are {', '.join(manifest())}")
    return spec
