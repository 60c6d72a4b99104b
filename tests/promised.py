"""What programs of users rely on (docs/stability.md): read from the package as it is, and kept with each release.

``python -m tests.promised`` writes ``tests/promised.json``; a release does so (CONTRIBUTING.md).
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import typer

import trivium
from trivium.cli.app import app
from trivium.graph.schema import SCHEMA_VERSION
from trivium.serialization import HitFields, answer_json

FILE = Path(__file__).with_suffix(".json")


def present() -> dict[str, list[str]]:
    """The names of each kind, sorted."""
    methods = inspect.getmembers(trivium.Engine, inspect.isroutine)
    answer = trivium.Answer("q", "q", "", "absent", (), (), ())
    commands: Any = typer.main.get_command(app)
    kinds = {
        "names": trivium.__all__,
        "methods of Engine": [name for name, _ in methods if not name.startswith("_")],
        "fields of a hit": HitFields.__annotations__,
        "fields of an answer": answer_json(answer),
        "commands": commands.commands,
        "schema version": [str(SCHEMA_VERSION)],
    }
    return {kind: sorted(names) for kind, names in kinds.items()}


if __name__ == "__main__":
    FILE.write_text(json.dumps(present(), indent=1) + "\n", "utf-8")
