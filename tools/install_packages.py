"""Install packages with uv, which takes seconds where pip takes minutes, or with pip where uv cannot: run by the Makefile
with the environment's Python, so that it uses the standard library only.

    .venv/bin/python tools/install_packages.py -c constraints.txt -e '.[serve]'

uv is that of the environment or of the machine, else it is installed first. It is told what pip was configured with;
where that names further indexes beside the first, pip does the work: the two choose differently between indexes.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from ast import literal_eval
from collections.abc import Iterator, Sequence
from pathlib import Path

_UV_FLAGS = {
    "index-url": "--default-index",
    "find-links": "--find-links",
    "trusted-host": "--allow-insecure-host",
}
"""Settings of pip that say where packages come from, and what they are called by uv."""
_PIP_ALONE = ("extra-index-url", "no-index", "proxy")


def install(arguments: Sequence[str]) -> int:
    """Install what pip would with these arguments; its exit code. What goes wrong is on stderr, and nothing else: the
    packages are a hundred lines."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    listed = subprocess.run([*pip, "config", "list"], capture_output=True, text=True, check=False).stdout
    flags = uv_flags(listed)
    if flags is not None and (uv := _uv([*pip, "install", "--quiet"])) is not None:
        command = [uv, "pip", "install", "--quiet", "--python", sys.executable, *flags, *arguments]
        if subprocess.run(command, check=False).returncode == 0:
            return 0
        print("uv could not install this (see above); pip tries, which takes longer", file=sys.stderr)
    return subprocess.run([*pip, "install", "--quiet", *arguments], check=False).returncode


def uv_flags(listed: str) -> list[str] | None:
    """What ``pip config list`` says as options of uv; None where only pip knows what is meant.

    >>> uv_flags("global.index-url='https://packages.example/simple'")
    ['--default-index', 'https://packages.example/simple']
    """
    flags = []
    for name, value in _settings(listed):
        if name in _PIP_ALONE:
            return None
        if name in _UV_FLAGS:
            flags += [part for each in value.split() for part in (_UV_FLAGS[name], each)]
    return flags


def _settings(listed: str) -> Iterator[tuple[str, str]]:
    for line in listed.splitlines():
        name, equals, value = line.partition("=")
        section, _, name = name.rpartition(".")
        if equals and section in ("global", "install", ":env:"):
            yield name, str(literal_eval(value))


def _uv(pip_install: Sequence[str]) -> str | None:
    """A uv that can be run; None where none can be had."""
    beside = Path(sys.executable).parent
    found = shutil.which("uv", path=beside) or shutil.which("uv")
    if found is not None:
        return found
    constraints = Path(__file__).parents[1] / "constraints.txt"
    subprocess.run([*pip_install, "-c", constraints, "uv"], capture_output=True, check=False)
    return shutil.which("uv", path=beside)


if __name__ == "__main__":
    sys.exit(install(sys.argv[1:]))
