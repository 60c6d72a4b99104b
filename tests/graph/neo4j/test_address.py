"""What names a database of a Neo4j server, and what does not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from trivium.errors import ConfigurationError
from trivium.graph.neo4j.address import Address, parse_address


@pytest.fixture(autouse=True)
def login(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Settings that hold a user and a password, and nothing else."""
    for name in list(os.environ):
        if name.startswith(("TRIVIUM_", "NEO4J_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("NEO4J_USER", "ada")
    monkeypatch.setenv("NEO4J_PASSWORD", "engine no 1")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("given", "uri", "database"),
    [
        ("bolt://localhost:7687", "bolt://localhost:7687", None),
        ("neo4j+s://graph.example.org/wiki", "neo4j+s://graph.example.org", "wiki"),
        ("bolt://[::1]:7687/", "bolt://[::1]:7687", None),
    ],
)
def test_an_address_is_a_server_and_perhaps_a_database(given: str, uri: str, database: str | None) -> None:
    assert parse_address(given) == Address(uri, database, "ada", "engine no 1")


@pytest.mark.parametrize(
    "given",
    [
        "bolt://[::1",
        "bolt://localhost:76a7",
        "bolt://localhost:65536",
        "bolt://localhost:-1",
        "bolt://",
        "http://localhost:7474",
        "bolt://localhost/one/two",
        "bolt://localhost?database=one",
    ],
)
def test_anything_else_is_refused_with_what_came_and_what_was_expected(given: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_address(given)
    assert repr(given) in str(caught.value)
    assert "bolt://HOST[:PORT][/DATABASE]" in str(caught.value)


@pytest.mark.parametrize("given", ["bolt://ada:secret@localhost", "bolt://ada:secret@localhost:76a7"])
def test_a_password_in_an_address_is_refused_and_not_repeated(given: str) -> None:
    with pytest.raises(ConfigurationError, match="NEO4J_PASSWORD") as caught:
        parse_address(given)
    assert "secret" not in str(caught.value)
