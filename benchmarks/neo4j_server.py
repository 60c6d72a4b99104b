"""A Neo4j server for a benchmark, run through ``tools/neo4j/server``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TOOL = Path(__file__).parents[1] / "tools" / "neo4j" / "server"


def run_tool(*arguments: str | Path) -> dict[str, Any]:
    """What the tool prints as JSON. Ends the program when it fails; its words are on the terminal then."""
    done = subprocess.run([sys.executable, TOOL, *arguments, "--json"], stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@contextmanager
def server(home: Path, version: str, *options: str) -> Iterator[str]:
    """The address of a server that is stopped at the end; its password is where Neo4jStore looks for it."""
    found = run_tool("start", "--home", home, "--version", version, *options)
    os.environ["NEO4J_USER"], os.environ["NEO4J_PASSWORD"] = found["user"], found["password"]
    try:
        yield str(found["bolt"])
    finally:
        run_tool("stop", "--home", home)
