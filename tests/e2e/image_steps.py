"""The steps of the Dockerfile without Docker: in a folder that stands for the root of the image's file system.

``/opt``, ``/data``, ``/src`` and ``/wheels`` of the Dockerfile are folders below it; the base image is some Python of
this machine. Mounts need nothing, as all stages share the folder. Only the instructions that the file has are known.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
_PLACES = re.compile(r"(?<![\w./-])/(opt|data|src|wheels)\b")
_SILENT = frozenset({"FROM", "COPY", "WORKDIR", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK"})


@dataclass
class Stage:
    """A stage: what it begins with, and its instructions as (name, text), continued lines joined."""

    base: str
    instructions: list[tuple[str, str]] = field(default_factory=list)

    def last(self, name: str) -> str:
        """The text of the last instruction of this name. Raises LookupError if there is none."""
        return [text for each, text in self.instructions if each == name][-1]

    def runs(self) -> list[str]:
        """The commands, without their mounts."""
        return [re.sub(r"^(--\S+\s+)+", "", text) for name, text in self.instructions if name == "RUN"]

    def variables(self, name: str) -> dict[str, str]:
        """Those that the instructions ``ENV`` or ``ARG`` set."""
        words = [word for each, text in self.instructions if each == name for word in text.split()]
        return {key: value for key, _, value in (word.partition("=") for word in words)}

    def program(self) -> list[str]:
        """What a container runs. Raises ValueError for the shell form, whose shell would get the signals."""
        return [*json.loads(self.last("ENTRYPOINT")), *json.loads(self.last("CMD"))]

    def health(self) -> list[str]:
        """The command that asks whether a container is well."""
        return list(json.loads(self.last("HEALTHCHECK").partition("CMD")[2]))


def stages() -> list[Stage]:
    """The stages of the Dockerfile."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text("utf-8"), flags=re.MULTILINE)
    found: list[Stage] = []
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        name, _, rest = line.partition(" ")
        if name == "FROM":
            found.append(Stage(rest))
        elif found:
            found[-1].instructions.append((name, rest.strip()))
    return found


def copy_context(target: Path) -> None:
    """What ``COPY . .`` copies, by .dockerignore: a list of what is not left out, then what of that is."""
    lines = [
        line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line and line[0] != "#"
    ]
    assert lines[0] == "*"
    for line in lines[1:]:
        if line.startswith("!"):
            source = ROOT / line[1:]
            (target / line[1:]).parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target / line[1:])
            else:
                shutil.copy(source, target / line[1:])
        else:
            for path in list(target.glob(line)):
                shutil.rmtree(path)


@dataclass
class Image:
    """What the steps have made in ``root``."""

    root: Path
    stage: Stage

    @property
    def user(self) -> int | None:
        """The user of its containers, where this process may become another one and that one can run Python."""
        return int(self.stage.last("USER").partition(":")[0]) if os.geteuid() == 0 and _for_all() else None

    def here(self, text: str) -> str:
        """A text with the places of the image as those of this machine."""
        return _PLACES.sub(rf"{self.root}/\1", text)

    def environment(self, **more: str) -> dict[str, str]:
        """The variables of a container, and no others. Besides its own programs it finds those that any image of
        Debian has; compilers are not among them."""
        given = {name: self.here(value) for name, value in self.stage.variables("ENV").items()}
        given["PATH"] = given["PATH"].replace("$PATH", str(self.root / "commands"))
        return {**given, "TMPDIR": str(self.root / "tmp"), **more}


def make_image(root: Path) -> Image:
    """Run every step of the Dockerfile in an empty folder. Raises AssertionError with what a step said if it fails."""
    build, last = stages()
    image = Image(root, last)
    for name in ("opt", "src", "wheels", "tmp", "commands"):
        (root / name).mkdir()
    (root / "tmp").chmod(0o1777)
    python = _python()
    (root / "commands" / "python").symlink_to(python)
    for name in ("sh", "mkdir", "chown", "echo"):
        # Nobody but root may give files away.
        program = shutil.which("true" if name == "chown" and os.geteuid() else name)
        assert program is not None, name
        (root / "commands" / name).symlink_to(program)
    copy_context(root / "src")
    shutil.copy(ROOT / "requirements-release.txt", root / "wheels" / "requirements.txt")
    arguments = {**build.variables("ARG"), **last.variables("ARG")}
    # With this machine's settings of pip, and its compiler in place of that of the package index.
    packages = {
        name: value for name, value in os.environ.items() if name.startswith(("PIP_", "HOME", "SSL_"))
    }
    for text in build.runs():
        _run(f'"{python}" -m {text}', image, {**os.environ, **arguments})
    for text in last.runs():
        _run(text, image, image.environment(**packages, **arguments))
    return image


def _run(command: str, image: Image, environment: Mapping[str, str]) -> None:
    done = subprocess.run(
        ["/bin/sh", "-euc", image.here(command)],
        cwd=image.root / "src",
        env=dict(environment),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def _for_all() -> bool:
    """Whether every user can run the Python of the image."""
    place = Path(_python()).resolve()
    return all(folder.stat().st_mode & 0o001 for folder in (place, *place.parents))


def _python() -> str:
    """This interpreter's, or that of the system where others may not run it."""
    own = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    if all(folder.stat().st_mode & 0o001 for folder in own.parents):
        return str(own)
    other = Path("/usr/bin/python3")
    asked = "import sys, ensurepip; sys.exit(sys.version_info < (3, 11))"
    fits = other.is_file() and not subprocess.run([other, "-c", asked], capture_output=True).returncode
    return str(other if fits else own)
