"""Turns databases of stores into those that earlier versions made."""

from __future__ import annotations

import re
from importlib.resources import files


def _dropped(script: str) -> list[str]:
    """Statements that take from a database what a script has made. Tables go last, with their indexes."""
    text = files("trivium.graph.embedded").joinpath(script).read_text("utf-8")
    made = re.findall(r"^CREATE (?:VIRTUAL )?(TABLE|TRIGGER|INDEX|VIEW) (\w+)", text, flags=re.M)
    return [f"DROP {kind} {name}" for kind, name in sorted(made, key=lambda what: what[0] == "TABLE")]


def without_words() -> list[str]:
    """Statements that take from a database what version 9 of the schema brought, all of which is in words.sql."""
    dropped = _dropped("words.sql")
    assert len(dropped) == 5
    return dropped


def without_counters() -> list[str]:
    """The same and what version 8 brought, all of which is in counters.sql."""
    dropped = _dropped("counters.sql")
    assert len(dropped) == 11
    return [*without_words(), *dropped, "CREATE INDEX relation_source ON relation (source_id)"]


def without_questions() -> list[str]:
    """The same and what version 7 brought, all of which is in questions.sql."""
    dropped = _dropped("questions.sql")
    assert len(dropped) == 5
    # What refers to another table goes before it.
    ordered = sorted(dropped, key=lambda statement: (statement.startswith("DROP TABLE"), statement))
    return [*without_counters(), *ordered]


def without_changes() -> list[str]:
    """The same and what version 6 brought, all of which is in changes.sql."""
    dropped = _dropped("changes.sql")
    assert len(dropped) > 10
    return [*without_questions(), *dropped, "DELETE FROM meta WHERE key = 'changes_since'"]
