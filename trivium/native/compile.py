"""Compile the loops to a library. Needs nothing but the standard library and a C compiler: the build of the package runs
this file by itself (see ``hatch_build.py``), and a checkout that was not built compiles at its first use."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

SOURCES = sorted([*Path(__file__).parent.glob("*.c"), *Path(__file__).parent.glob("*.h")])
FOLDER = Path(__file__).parent / "compiled"
"""Of the libraries. Not beside the modules: by its name a library could be a module of Python's."""
_ON_WINDOWS = sys.platform == "win32"
_FLAGS = ("-std=c11", "-O3", "-shared", "-fvisibility=hidden", "-fno-math-errno", "-fno-sanitize=all")
_OF_SYSTEM = () if _ON_WINDOWS else ("-fPIC",)
_SAME_EVERYWHERE = "-ffp-contract=off"
"""No multiplying and adding in one step, which some processors do: the same numbers on all."""
LEVELS = (2, 3, 4) if platform.machine().lower() in ("x86_64", "amd64") else (0,)
"""Levels of instructions of the x86-64 architecture, the lowest first: each has a library of its own. NumPy needs 2."""


def library_name(level: int) -> str:
    """The file of the library for a level of instructions, made for this system from the sources, and with the flags, as
    they are."""
    made_of = b"".join(file.read_bytes() for file in [*SOURCES, Path(__file__)])
    system = f"{sysconfig.get_platform()} {platform.machine()} {platform.libc_ver()[0]}"
    digest = sha256(made_of + system.encode()).hexdigest()[:8]
    return f"loops-{level}-{digest}{'.dll' if _ON_WINDOWS else '.so'}"


def compiler() -> list[str] | None:
    """The command of a C compiler that works: that of ``CC``, the system's, or the one in the package ziglang."""
    return next((command for command in _compilers() if _works(command)), None)


def _compilers() -> Iterator[list[str]]:
    for name in (os.environ.get("CC", ""), "cc", "gcc", "clang"):
        if name and (found := shutil.which(name.split()[0])) is not None:
            yield [found, *name.split()[1:]]
    if importlib.util.find_spec("ziglang"):
        yield [sys.executable, "-m", "ziglang", "cc"]


def _works(command: list[str]) -> bool:
    """Whether a compiler makes a library, as some that are only half installed do not."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "one.c"
        source.write_text(
            "#include <math.h>\n#include <stdint.h>\nint64_t one(double x) { return (int64_t)floor(x); }\n"
        )
        try:
            _run(command, [source], Path(folder) / "one.out", LEVELS[-1])
        except (OSError, subprocess.CalledProcessError):
            return False
        return True


def _run(command: list[str], sources: list[Path], target: Path, level: int) -> None:
    flags = [*_FLAGS, *_OF_SYSTEM, _SAME_EVERYWHERE]
    if level:
        is_zig = any("zig" in Path(word).name for word in command)
        flags.append(f"-march=x86_64_v{level}" if is_zig else f"-march=x86-64-v{level}")
    libraries = () if _ON_WINDOWS else ("-lm",)
    subprocess.run(
        [*command, *flags, *map(str, sources), "-o", str(target), *libraries],
        capture_output=True,
        text=True,
        check=True,
    )


def compile_library(folder: Path, level: int) -> Path:
    """Compile the loops into a folder and return the library. Several processes may do so at once. Raises OSError where
    there is no compiler, or the folder cannot be written, and CalledProcessError with its output if it fails."""
    command = compiler()
    if command is None:
        raise OSError(
            "there is no C compiler: install one (Debian: apt install gcc libc6-dev), or `pip install ziglang`"
        )
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / library_name(level)
    with tempfile.TemporaryDirectory(dir=folder) as beside:
        unfinished = Path(beside) / target.name
        _run(command, [file for file in SOURCES if file.suffix == ".c"], unfinished, level)
        try:
            unfinished.replace(target)
        except OSError:  # on Windows, where another process has loaded it meanwhile
            if not target.is_file():
                raise
    return target


if __name__ == "__main__":
    for each in LEVELS:
        print(compile_library(FOLDER, each))
