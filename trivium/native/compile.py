"""Compile the loops to a library. Needs nothing but the standard library and a C compiler: the build of the package runs
this file by itself (see ``hatch_build.py``), and a checkout that was not built compiles at its first use."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import uuid
from hashlib import sha256
from pathlib import Path

SOURCES = sorted([*Path(__file__).parent.glob("*.c"), *Path(__file__).parent.glob("*.h")])
FOLDER = Path(__file__).parent / "compiled"
"""Of the libraries. Not beside the modules: by its name a library could be a module of Python's."""
_FLAGS = (
    "-std=c11",
    "-O3",
    "-s",
    "-shared",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-math-errno",
    "-fno-sanitize=all",
)
_SAME_EVERYWHERE = "-ffp-contract=off"
"""No multiplying and adding in one step, which some processors do: the same numbers on all."""
LEVELS = (2, 3, 4) if platform.machine().lower() in ("x86_64", "amd64") else (0,)
"""Levels of instructions of the x86-64 architecture, the lowest first: each has a library of its own. NumPy needs 2."""


def library_name(level: int) -> str:
    """The file of the library for a level of instructions, made from the sources, and with the flags, as they are."""
    digest = sha256(b"".join(file.read_bytes() for file in [*SOURCES, Path(__file__)])).hexdigest()[:8]
    return f"loops-{level}-{digest}{'.dll' if sys.platform == 'win32' else '.so'}"


def compiler() -> list[str] | None:
    """The command of a C compiler: that of ``CC``, the system's, or the one in the package ziglang; None for none."""
    for name in (os.environ.get("CC", ""), "cc", "gcc", "clang"):
        if name and (found := shutil.which(name.split()[0])) is not None:
            return [found, *name.split()[1:]]
    return [sys.executable, "-m", "ziglang", "cc"] if importlib.util.find_spec("ziglang") else None


def compile_library(folder: Path, level: int) -> Path:
    """Compile the loops into a folder and return the library. Several processes may do so at once. Raises OSError where
    there is no compiler, and CalledProcessError with its output if it fails."""
    command = compiler()
    if command is None:
        raise OSError(
            "there is no C compiler: install one (Debian: apt install gcc), or `pip install ziglang`"
        )
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / library_name(level)
    unfinished = target.with_name(f"{uuid.uuid4().hex[:16]}-{target.name}")
    flags = [*_FLAGS, _SAME_EVERYWHERE, *([f"-march=x86-64-v{level}"] if level else [])]
    if command[-1] == "cc" and "ziglang" in command:
        flags = [flag.replace("x86-64-v", "x86_64_v") for flag in flags]
    try:
        subprocess.run(
            [
                *command,
                *flags,
                *(str(file) for file in SOURCES if file.suffix == ".c"),
                "-o",
                str(unfinished),
                "-lm",
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    return target


if __name__ == "__main__":
    for each in LEVELS:
        print(compile_library(FOLDER, each))
