"""Turns databases of stores into those that earlier versions made."""

from __future__ import annotations

import re
from importlib.resources import files


def without_changes() -> list[str]:
    """Statements that take from a database what version 6 of the schema brought, all of which is in changes.sql."""
    script = files("trivium.graph.embedded").joinpath("changes.sql").read_text("utf-8")
    made = re.findall(r"^CREATE (TABLE|TRIGGER|INDEX) (\w+)", script, flags=re.M)
    assert len(made) > 10
    dropped = [f"DROP {kind} {name}" for kind, name in sorted(made, key=lambda what: what[0] == "TABLE")]
    return [*dropped, "DELETE FROM meta WHERE key = 'changes_since'"]
