"""The command line."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from . import commands
from .bulk import import_folder
from .commands import Report
from .errors import ToolError
from .home import Home
from .java import default_version
from .prepare import HEAP, PAGE_CACHE, Asked
from .versions import CURRENT, LTS, VERSIONS, Version

NOT_RUNNING = 3
"""Exit status of ``status`` when no server runs, as for the init scripts of Linux."""

_EPILOG = """\
examples:
  tools/neo4j/server start                      fetch, set up, start; print address and password
  tools/neo4j/server start --json > neo4j.json  the same for programs
  tools/neo4j/server start --version 2026.08.1  the current release (needs Java 21 or later)
  tools/neo4j/server start --heap 4g --page-cache 4g
  tools/neo4j/server status                     exit status 0 when one runs, 3 when none does
  tools/neo4j/server stop
  tools/neo4j/server import ./bulk              first load, from files for neo4j-admin (replaces everything)
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit status."""
    options = parse(arguments)
    try:
        return _run(options)
    except ToolError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {error.strerror or error}: {error.filename or 'no file named'}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options; ends the process with exit status 2 for those that make no sense."""
    parser = argparse.ArgumentParser(
        prog="tools/neo4j/server",
        description="A real Neo4j without Docker, from Maven Central: one server a home folder, on loopback.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--version",
        choices=sorted(VERSIONS),
        help=f"of Neo4j (default: {LTS.name}, or {CURRENT.name} where no Java fits that)",
    )
    common.add_argument(
        "--home", type=Path, metavar="DIR", help="where the server keeps everything (default: one a version)"
    )
    common.add_argument("--json", action="store_true", help="print one JSON document")
    common.add_argument(
        "--timeout",
        type=_seconds,
        default=180.0,
        metavar="SECONDS",
        help="to start or stop in (default: 180)",
    )
    serving = argparse.ArgumentParser(add_help=False)
    serving.add_argument(
        "--heap", type=_size, metavar="SIZE", help=f"of Java, as 512m or 4g (default: {HEAP})"
    )
    serving.add_argument(
        "--page-cache", type=_size, metavar="SIZE", help=f"for the data (default: {PAGE_CACHE})"
    )
    serving.add_argument(
        "--bolt-port", type=_port, metavar="PORT", help="default: 7687 if free, else a free one"
    )
    serving.add_argument(
        "--http-port", type=_port, metavar="PORT", help="default: 7474 if free, else a free one"
    )
    serving.add_argument("--read-only", action="store_true", default=None, help="refuse all writes")

    def command(name: str, text: str, *parents: argparse.ArgumentParser) -> argparse.ArgumentParser:
        return subparsers.add_parser(
            name, help=text, description=text, parents=[common, *parents], allow_abbrev=False
        )

    command(
        "start",
        "Start a server in the background, or find the one that runs, and wait until it answers.",
        serving,
    )
    command("console", "Run a server in the foreground; Ctrl-C stops it.", serving)
    command("stop", "Stop the server.")
    command("status", "Say whether the server runs and how to reach it.")
    loading = command("import", "Replace the data of a stopped server by that of a folder of bulk files.")
    loading.add_argument(
        "folder", type=Path, metavar="FOLDER", help="with import.json, and the files it names"
    )
    loading.add_argument(
        "--heap", type=_size, default=HEAP, metavar="SIZE", help=f"of Java (default: {HEAP})"
    )
    loading.add_argument(
        "--off-heap",
        type=_size,
        default="2g",
        metavar="SIZE",
        help="memory besides, for node ids (default: 2g)",
    )
    return parser.parse_args(arguments)


def default_home(version: Version) -> Path:
    """Where a version keeps its data when nothing is said: below the user's data folder."""
    base = Path(os.environ.get("XDG_DATA_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".local/share") / "trivium" / "neo4j" / version.name


def choose(options: argparse.Namespace) -> tuple[Home, Version]:
    """The home and version a command is about.

    What is not said: the version of the home named; to see or stop a server, the one that runs; else the default.
    Raises ToolError for a home of a version that is not known.
    """
    named = VERSIONS.get(options.version or "")
    if options.home is not None:
        home = Home(options.home.resolve())
        return home, named or _version_kept(home) or default_version()
    if named is None and options.command in ("stop", "status"):
        for version in VERSIONS.values():
            home = Home(default_home(version))
            if commands.running(home):
                return home, version
    version = named or default_version()
    return Home(default_home(version)), version


def _version_kept(home: Home) -> Version | None:
    """The version of a home, None when it has none yet."""
    state = home.state()
    if state is None:
        return None
    if state.version not in VERSIONS:
        raise ToolError(
            f"{home.path} holds data of Neo4j {state.version}, which this tool does not know; it knows"
            f" {' and '.join(VERSIONS)}: give another --home, or use the tool that made this one"
        )
    return VERSIONS[state.version]


def _run(options: argparse.Namespace) -> int:
    home, version = choose(options)
    if options.command == "status":
        return _status(home, version, options.json)
    if options.command == "stop":
        stopped = commands.stop(home, timeout=options.timeout)
        found = f"stopped Neo4j {stopped.version}" if stopped else f"no server runs in {home.path}"
        print(json.dumps({"stopped": stopped is not None, "home": str(home.path)}) if options.json else found)
        return 0
    if options.command == "import":
        summary = import_folder(
            home,
            version,
            options.folder,
            heap=options.heap,
            off_heap=options.off_heap,
            timeout=options.timeout,
        )
        print(json.dumps(asdict(summary)) if options.json else summary.text())
        return 0
    asked = Asked(
        bolt_port=options.bolt_port,
        http_port=options.http_port,
        heap=options.heap,
        page_cache=options.page_cache,
        read_only=options.read_only,
    )
    if options.command == "console":
        commands.console(home, version, asked)
    _print(commands.start(home, version, asked, timeout=options.timeout), options.json)
    return 0


def _status(home: Home, version: Version, as_json: bool) -> int:
    found = commands.status(home)
    if found is None:
        nothing = {"running": False, "version": version.name, "home": str(home.path)}
        print(json.dumps(nothing) if as_json else f"no server runs in {home.path}")
        return NOT_RUNNING
    _print(found, as_json)
    return 0


def _print(found: Report, as_json: bool) -> None:
    if as_json:
        print(json.dumps({**asdict(found), "running": True}, indent=1))
        return
    print(
        f"Neo4j {found.version} {'answers' if found.ready else 'is starting, or does not answer,'} on {found.bolt}"
        f" (process {found.pid})\n"
        f"  Browser   {found.http}/browser/\n"
        f"  user      {found.user}\n"
        f"  password  {found.password}\n"
        f"  home      {found.home}"
    )


def _size(text: str) -> str:
    if not re.fullmatch(r"[1-9]\d*[kmgKMG]", text):
        raise argparse.ArgumentTypeError(f"expected a size such as 512m or 4g, got {text!r}")
    return text.lower()


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"expected a port from 1 to 65535, got {text!r}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"expected seconds above 0, got {text!r}")
    return seconds
