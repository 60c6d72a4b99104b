"""Verifies the model files that a store is searched with against known checksums."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from trivium.embedding.manifest import manifest
from trivium.embedding.models import locate
from trivium.errors import FusionError, ModelNotInstalledError
from trivium.fusion.registry import shipped
from trivium.graph.findings import Finding, Severity

_MODEL = "model file"
_WEIGHTS = "trivium/fusion/"


def check_models(embedder: str) -> tuple[int, list[Finding]]:
    """Return the number of files checked, and findings on the files of the named embedder and of the bundled fusions.
    Files of third-party embedders are not known.
    """
    files = [*_of_embedder(embedder), *_of_package()]
    wrong = [str(path) for path, sha256 in files if _sha256(path) != sha256]
    found = []
    if wrong:
        found.append(
            Finding(
                _MODEL,
                Severity.DAMAGE,
                "files of models are missing, or not those that were published",
                tuple(wrong),
                f"delete them and run  trivium models install {embedder},  or install the package again",
            )
        )
    try:
        shipped(embedder)
    except FusionError as error:
        found.append(Finding(_MODEL, Severity.DAMAGE, str(error), (), "install the package again"))
    return len(files), found


def _of_embedder(name: str) -> Iterator[tuple[Path, str]]:
    spec = manifest().get(name)
    if spec is None:
        return
    try:
        files = locate(name)
    except ModelNotInstalledError:
        return  # the report also says that vectors are not compared
    for path in (files.model, files.tokenizer):
        yield path, spec.files[path.name].sha256


def _of_package() -> Iterator[tuple[Path, str]]:
    """Yield the bundled weights if the package was installed from a wheel, whose file list contains their checksums."""
    try:
        listed = metadata.files("trivium") or []
    except metadata.PackageNotFoundError:
        return
    for file in listed:
        if str(file).startswith(_WEIGHTS) and file.hash is not None and file.hash.mode == "sha256":
            yield Path(str(file.locate())), _hex(file.hash.value)


def _hex(value: str) -> str:
    """Convert a checksum from a wheel's unpadded base64 to hexadecimal."""
    return urlsafe_b64decode(value + "=" * (-len(value) % 4)).hex()


def _sha256(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
