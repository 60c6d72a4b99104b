"""Neo4j servers for benchmarks, managed by ``tools/neo4j/server``."""

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
    """Run the tool and return the JSON it prints. Exits if it fails; its error message is on the terminal."""
    done = subprocess.run([sys.executable, TOOL, *arguments, "--json"], stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@contextmanager
def server(home: Path, version: str, *options: str) -> Iterator[str]:
    """Start a server and yield its address; it is stopped at the end. Neo4jStore finds its password by itself."""
    found = run_tool("start", "--home", home, "--version", version, *options)
    os.environ["NEO4J_USER"], os.environ["NEO4J_PASSWORD"] = found["user"], found["password"]
    try:
        yield str(found["bolt"])
    finally:
        run_tool("stop", "--home", home)
