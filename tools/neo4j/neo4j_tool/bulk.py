"""First loads: a folder of files for ``neo4j-admin database import full`` becomes the database."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from .commands import at_work, running
from .errors import ToolError
from .files import essence, say
from .home import Home
from .jars import ensure_jars
from .java import find_java
from .prepare import Asked, check_version, settle
from .process import admin_command, environment, give_up
from .versions import Version

MANIFEST = "import.json"
DATABASE = "neo4j"
_OURS = ("--overwrite-destination", "--report-file", "--max-off-heap-memory", "--additional-config", "--help")
_LEFT = "what it left is no database, and the data before it may be gone: import again"
_COUNT = re.compile(r"^\s*(\d+) (nodes|relationships|properties)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Summary:
    """What an import made in which home, and how long it took from start to end of the command."""

    nodes: int
    relationships: int
    properties: int
    seconds: float
    home: str

    def text(self) -> str:
        """The summary in words."""
        return (
            f"imported {self.nodes:,} nodes, {self.relationships:,} relationships and {self.properties:,} properties"
            f" in {self.seconds:.1f} s\n"
            f"  home      {self.home}"
        )


def import_folder(
    home: Home, version: Version, folder: Path, *, heap: str, off_heap: str, timeout: float
) -> Summary:
    """Replace the database of a stopped server by the files of a folder. Raises ToolError.

    A home without a version has this one from then on, whatever comes of the import.
    ``heap`` and ``off_heap`` bound its memory, ``timeout`` the seconds to wait for another command. Progress goes
    to stderr.
    """
    arguments = read_manifest(folder)
    with at_work(home, timeout):
        state = running(home)
        if state is not None:
            raise ToolError(
                f"Neo4j {state.version} is running in {home.path} (process {state.pid}), and an import replaces its"
                " files: stop it first, with  tools/neo4j/server stop --home " + str(home.path)
            )
        check_version(home, version)
        java = find_java(version)
        lib = ensure_jars(version, java)
        report = home.logs / "import.report"
        report.unlink(missing_ok=True)
        command = admin_command(
            java,
            lib,
            heap,
            *(
                "database",
                "import",
                "full",
                "--overwrite-destination",
                f"--report-file={report}",
                "--verbose",
            ),
            f"--max-off-heap-memory={off_heap}",
            *arguments,
            "--",
            DATABASE,
        )
        if home.state() is None:
            home.save(settle(home, version, Asked()))
        began = time.monotonic()
        try:
            status, said = _stream(command, home, folder)
        except KeyboardInterrupt:
            say(f"neo4j-admin was stopped while it imported into {home.path}; {_LEFT}")
            raise
        if status != 0:
            raise ToolError(_failure(folder, status, said, report))
        return summary(said, home, time.monotonic() - began)


def read_manifest(folder: Path) -> list[str]:
    """The arguments that ``import.json`` in a folder gives. Raises ToolError for anything else than these.

    Names of files in them are relative to the folder, and come back with ``./`` in front.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise ToolError(f"{path} is missing: it names the files to import") from None
    except ValueError as error:
        raise ToolError(f"{path} is not JSON: {error}") from error
    arguments = manifest.get("arguments") if isinstance(manifest, dict) and len(manifest) == 1 else None
    if not isinstance(arguments, list) or not all(isinstance(one, str) for one in arguments):
        raise ToolError(f'{path}: expected {{"arguments": ["--nodes=...", ...]}} and nothing else')
    for argument in arguments:
        if not argument.startswith("--") or argument == "--" or argument.split("=")[0] in _OURS:
            raise ToolError(
                f"{path}: {argument!r} is not an option of neo4j-admin database import that may be given"
            )
    return [_below(argument) for argument in arguments]


def _below(argument: str) -> str:
    """An argument with ``./`` before the relative names of files: the command runs in their folder.

    Not the whole path, as neo4j-admin reads names as regular expressions and splits them at commas.
    """
    option, _, value = argument.partition("=")
    if option not in ("--nodes", "--relationships"):
        return argument
    label, equals, files = value.rpartition("=")
    names = [
        name if Path(name).is_absolute() else f"./{name.removeprefix('./')}" for name in files.split(",")
    ]
    return f"{option}={label}{equals}{','.join(names)}"


def summary(said: str, home: Home, seconds: float) -> Summary:
    """What neo4j-admin said it imported."""
    counts = {name: int(number) for number, name in _COUNT.findall(said)}
    return Summary(
        nodes=counts.get("nodes", 0),
        relationships=counts.get("relationships", 0),
        properties=counts.get("properties", 0),
        seconds=round(seconds, 3),
        home=str(home.path),
    )


def _stream(command: list[str], home: Home, folder: Path) -> tuple[int, str]:
    """Run neo4j-admin in the folder and pass on what it says as it says it; its exit status and its words.

    It ends with this command, by Ctrl-C for one.
    """
    said = bytearray()
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdout is not None  # as asked with PIPE
        try:
            while piece := os.read(process.stdout.fileno(), 1 << 16):
                said += piece
                sys.stderr.write(piece.decode("utf-8", "replace"))
                sys.stderr.flush()
        except BaseException:
            give_up(process)
            raise
    return process.returncode, said.decode("utf-8", "replace")


def _failure(folder: Path, status: int, said: str, report: Path) -> str:
    reported = report.read_text("utf-8", "replace").splitlines()[:10] if report.exists() else []
    return "\n".join(
        [
            f"neo4j-admin could not import {folder} (exit status {status}); {_LEFT}",
            *([f"{report} begins with:", *reported] if reported else []),
            "neo4j-admin ended with:",
            *essence(said, 12),
        ]
    )
