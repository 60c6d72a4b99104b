"""Stores of an earlier schema version: upgraded in place when written to, read as they are otherwise."""

from __future__ import annotations

import re
import sqlite3
from importlib.resources import files
from pathlib import Path

import pytest

from tests.contract.graphs import embed_pending, graph
from tests.contract.state import state_of
from tests.fakes.earlier_stores import without_changes, without_questions
from trivium.errors import StoreBusyError, StoreError, StoreFormatError
from trivium.graph.embedded import EmbeddedStore, connection, schema_versions
from trivium.graph.model import QuestionNode
from trivium.graph.schema import SCHEMA_VERSION

PAGE = graph(
    "Mars", [("red planet", ["Sun"])], {"Moons": [("two", ["Phobos"])]}, relations=[("orbits", "Sol")]
)


ADDED = (
    "entity_type",
    "sentences",
    "page_sum",
    "vector_sum",
    "sentences_sum",
    "page_facts",
    "chunk_pages",
    "thumbnail",
    "picture_vector",
    "section_anchor",
    "citation_anchor",
)
"""Tables of versions 2 to 5."""
SUMS = ADDED[2:]


def _schema(database: sqlite3.Connection) -> list[tuple[str, str]]:
    rows = database.execute(
        "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name"
    )
    return rows.fetchall()


def _open(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / "graph.db", isolation_level=None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An embedded store as version 1 made it: without what later versions added to the schema."""
    folder = tmp_path / "store"
    with EmbeddedStore.create(folder) as store:
        store.write([PAGE])
        embed_pending(store)
        store.refresh()
    database = _open(folder)
    database.executescript(";".join(without_changes()))
    database.executescript("".join(f"DROP TABLE {name};" for name in ADDED) + "PRAGMA user_version = 1;")
    script, removed = re.subn(
        rf"CREATE TABLE (?:{'|'.join(ADDED)}) .*?;",
        "",
        files("trivium.graph.embedded").joinpath("schema.sql").read_text(),
        flags=re.S,
    )
    first = sqlite3.connect(":memory:")
    first.executescript(script)
    assert removed == len(ADDED)
    assert _schema(database) == _schema(first)
    first.close()
    database.close()
    return folder


def _version(folder: Path) -> int:
    database = _open(folder)
    try:
        return schema_versions.schema_version(database)
    finally:
        database.close()


def test_opening_for_writing_upgrades_and_keeps_everything(folder: Path, tmp_path: Path) -> None:
    """The schema is that of a new store; no vector is missing, no index stale."""
    indexes = sorted(path.name for path in (folder / "index").iterdir())
    with EmbeddedStore.open(folder) as store:
        assert store.info().schema_version == SCHEMA_VERSION
        assert list(store.pending_texts()) == []
        assert list(store.page_graphs()) == [PAGE]
        store.refresh()
        assert sorted(path.name for path in (folder / "index").iterdir()) == indexes
        assert store.set_types({"Sun": "star"}) == 1
        assert list(store.pending_texts()) == ["Sun (star)"]
    EmbeddedStore.create(tmp_path / "new").close()
    upgraded, new = _open(folder), _open(tmp_path / "new")
    assert _schema(upgraded) == _schema(new)
    upgraded.close()
    new.close()
    with EmbeddedStore.open(folder) as store:
        assert store.types() == {"Sun": "star"}


def test_opening_for_reading_answers_like_the_upgraded_store_and_changes_nothing(folder: Path) -> None:
    """Every read, with no types; a write is refused, and the version stays what it was."""
    with EmbeddedStore.open(folder, read_only=True) as store:
        assert store.info().schema_version == 1
        before = state_of(store)
        assert store.types() == {}
        with pytest.raises(StoreError, match="reading only"):
            store.set_types({"Sun": "star"})
    assert _version(folder) == 1
    with EmbeddedStore.open(folder) as store:
        assert state_of(store) == before


def test_a_read_only_store_of_this_version_shows_its_types(folder: Path) -> None:
    """Nothing stands in for a table that is there."""
    with EmbeddedStore.open(folder) as store:
        store.set_types({"Sun": "star"})
    with EmbeddedStore.open(folder, read_only=True) as store:
        assert store.types() == {"Sun": "star"}


def test_a_store_of_version_2_waits_for_its_sentences(folder: Path) -> None:
    """Its types are kept; one that cannot be written to is read without sentences."""
    with EmbeddedStore.open(folder) as store:
        store.set_types({"Sun": "star"})
    database = _open(folder)
    dropped = "".join(f"DROP TABLE {name};" for name in ("sentences", *SUMS))
    database.executescript(";".join(without_changes()) + f";{dropped} PRAGMA user_version = 2;")
    database.close()
    with EmbeddedStore.open(folder, read_only=True) as store:
        assert store.sentence_vectors(store.chunk_uris()).starts.tolist() == [0, 0, 0]
    with EmbeddedStore.open(folder) as store:
        assert store.types() == {"Sun": "star"}
        assert [passage.text for passage in store.pending_sentences()] == ["red planet", "two"]
        embed_pending(store)
        assert list(store.pending_sentences()) == []
        assert store.sentence_vectors(store.chunk_uris()).starts.tolist() == [0, 2, 2]


def test_a_store_of_version_6_has_no_questions_and_gets_some(folder: Path, tmp_path: Path) -> None:
    """One that cannot be written to is read without."""
    asked = QuestionNode("nq-1", "what is red", ("Mars",), ("Mars#chunk-1",))
    EmbeddedStore.open(folder).close()
    database = _open(folder)
    database.executescript(";".join([*without_questions(), "PRAGMA user_version = 6"]))
    database.close()
    with EmbeddedStore.open(folder, read_only=True) as store:
        assert list(store.page_graphs()) == [PAGE]
        assert "Question" not in store.info().nodes
    assert _version(folder) == 6
    with EmbeddedStore.open(folder) as store:
        assert store.put_questions({"Mars": [asked]}) == 1
        assert next(store.page_graphs()).questions == (asked,)
        assert {finding.kind for finding in store.checker().check()} == {"not summed"}  # vectors of version 1
    EmbeddedStore.create(tmp_path / "new").close()
    upgraded, new = _open(folder), _open(tmp_path / "new")
    assert _schema(upgraded) == _schema(new)
    upgraded.close()
    new.close()


def test_an_upgrade_waits_for_its_turn_or_changes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process is writing."""
    monkeypatch.setattr(connection, "BUSY_SECONDS", 0.05)
    other = _open(folder)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusyError):
        EmbeddedStore.open(folder)
    other.execute("ROLLBACK")
    other.close()
    assert _version(folder) == 1
    EmbeddedStore.open(folder).close()
    assert _version(folder) == SCHEMA_VERSION


def test_an_upgrade_that_fails_halfway_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its first steps are undone with it."""
    monkeypatch.setattr(schema_versions, "_ADDED", (*schema_versions._ADDED, (2, "page (there is one)")))
    with pytest.raises(StoreError, match="already exists"):
        EmbeddedStore.open(folder)
    database = _open(folder)
    assert schema_versions.schema_version(database) == 1
    assert "entity_type" not in dict(_schema(database))
    database.close()


def test_an_upgrade_another_process_made_first_is_left_alone(folder: Path) -> None:
    """Also one to a version this program does not know."""
    EmbeddedStore.open(folder).close()
    database = _open(folder)
    schema_versions.upgrade(database)
    database.execute("PRAGMA user_version = 99")
    schema_versions.upgrade(database)
    assert schema_versions.schema_version(database) == 99
    database.close()


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("version", [0, SCHEMA_VERSION + 1])
def test_versions_this_program_does_not_know_are_refused(folder: Path, version: int, read_only: bool) -> None:
    """They are named, and stay."""
    database = _open(folder)
    database.execute(f"PRAGMA user_version = {version}")
    database.close()
    with pytest.raises(
        StoreFormatError, match=f"schema version {version}, this program reads versions 1 to {SCHEMA_VERSION}"
    ):
        EmbeddedStore.open(folder, read_only=read_only)
    assert _version(folder) == version
