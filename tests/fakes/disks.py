"""File systems of a test's own: small ones, and such as can be made read-only."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest


class NoDiskError(Exception):
    """No file system can be mounted here; the message says why."""


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[None]:
    """A file system of a few megabytes in a folder. Skips the test where none can be mounted."""
    with ExitStack() as stack:
        try:
            stack.enter_context(mounted_disk(folder, megabytes))
        except NoDiskError as error:
            pytest.skip(str(error))
        yield


@contextmanager
def mounted_disk(folder: Path, megabytes: int) -> Iterator[None]:
    """The same, which raises NoDiskError."""
    folder.mkdir()
    mounted = _mount("-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder)
    if mounted.returncode != 0:
        raise NoDiskError(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def make_read_only(folder: Path) -> None:
    """From now on nothing can be written to the file system in a folder."""
    mounted = _mount("-o", "remount,ro", folder)
    assert mounted.returncode == 0, mounted.stderr.decode()


def _mount(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["mount", *arguments], capture_output=True, check=False)
