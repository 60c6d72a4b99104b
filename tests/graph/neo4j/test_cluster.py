"""What a store asks which member of a cluster, and what it does when one goes away, lags or is not the leader any more.

The cluster is one real server behind several addresses (:mod:`tests.graph.neo4j.cluster`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.contract.graphs import embed_pending, graph, unit
from tests.graph.neo4j.cluster import Asked, Cluster, Member, Refusal, cluster
from tests.graph.neo4j.stores import credentials
from tests.neo4j_servers import Server, log_in
from tests.neo4j_wipe import wipe
from trivium.cli.app import app
from trivium.errors import StoreBusyError, StoreError
from trivium.graph.neo4j import Neo4jStore, connection
from trivium.graph.schema import Label


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """How long a store tries again what may pass."""
    monkeypatch.setattr(connection, "_CONNECT_SECONDS", 2.0)


@pytest.fixture
def members(neo4j_2026: Server) -> Iterator[Cluster]:
    """A leader and two secondaries; the database is empty."""
    wipe(neo4j_2026)
    with cluster(neo4j_2026.bolt) as made:
        yield made


@pytest.fixture
def store(members: Cluster, neo4j_2026: Server) -> Iterator[Neo4jStore]:
    """A store of one page, reached through the router."""
    with credentials(neo4j_2026), Neo4jStore.create(members.address) as made:
        made.write([graph("A", [("a", ["B"])])])
        embed_pending(made)
        yield made


def _nearest(store: Neo4jStore) -> list[str]:
    store._cache.forget_state()
    return [near.uri for near in store.nearest([Label.CHUNK], unit("q"), 9)]


def _reads(members: list[Member]) -> list[Asked]:
    return [asked for member in members for asked in member.asked]


def test_secondaries_are_read_and_the_leader_is_written(members: Cluster, store: Neo4jStore) -> None:
    """Everything that was written went to the leader, everything read to secondaries, nothing to the router."""
    _nearest(store)
    store.delete(["A"])
    assert not any(asked.reads for asked in members.leader.asked)
    assert all(asked.reads for asked in _reads(members.secondaries))
    assert any(b"DELETE" in asked.query for asked in members.leader.asked)
    assert _reads(members.secondaries)
    assert members.router.asked == []


def test_a_read_waits_for_what_was_written(members: Cluster, store: Neo4jStore) -> None:
    """Secondaries are told up to where they must have come: reads carry the bookmark of the last write."""
    members.forget()
    store.write([graph("C", [("c", ["D"])])])
    embed_pending(store)
    assert sorted(_nearest(store)) == ["A#chunk-1", "C#chunk-1"]
    reads = _reads(members.secondaries)
    assert reads
    assert b"bookmarks" in reads[-1].query


def test_a_secondary_that_goes_away_is_not_missed(members: Cluster, store: Neo4jStore) -> None:
    """Questions go to the other one."""
    gone, left = members.secondaries
    assert _nearest(store) == ["A#chunk-1"]
    members.readers = [left]
    gone.stop()
    members.forget()
    for _ in range(4):
        assert _nearest(store) == ["A#chunk-1"]
    assert left.asked


def test_a_write_follows_the_leader(members: Cluster, store: Neo4jStore) -> None:
    """Who is not the leader any more says so; the write is repeated where it can be done, and done once."""
    old, new = members.leader, members.member()

    def refuse(asked: Asked) -> Refusal | None:
        members.writers = [new]
        return "Neo.ClientError.Cluster.NotALeader", "This instance is no longer the leader"

    old.refuse = refuse
    members.forget()
    store.write([graph("C", [("c", ["D"])])])
    assert [page.uri for page in store.pages()] == ["A", "C"]
    assert old.asked
    assert any(not asked.reads for asked in new.asked)


def test_secondaries_that_lag_behind_are_busy(members: Cluster, store: Neo4jStore) -> None:
    """One that has not come as far as the last write in its time says so; it is asked again before the store gives up,
    with an error that says to try again."""
    refusal = (
        "Neo.TransientError.Transaction.BookmarkTimeout",
        "Database 'neo4j' not up to the requested version",
    )
    lagging = members.secondaries
    for member in lagging:
        member.refuse = lambda _: refusal
    members.forget()
    with pytest.raises(StoreBusyError, match="not up to the requested version"):
        _nearest(store)
    assert len(_reads(lagging)) > 1
    for member in lagging:
        member.refuse = lambda _: None
    assert _nearest(store) == ["A#chunk-1"]


def test_a_cluster_without_a_leader_is_read(members: Cluster, store: Neo4jStore) -> None:
    """Questions are answered; a change is refused with a reason, and nothing is lost."""
    _nearest(store)  # which makes the indexes
    members.writers = []
    members.leader.stop()
    assert _nearest(store) == ["A#chunk-1"]
    with pytest.raises(StoreError, match="takes writes now"):
        store.write([graph("C", [("c", ["D"])])])
    assert [page.uri for page in store.pages()] == ["A"]


def test_commands_take_the_address_of_a_cluster(
    members: Cluster, neo4j_2026: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Build, search and remove, as with one server."""
    log_in(monkeypatch, neo4j_2026)
    page = tmp_path / "Bustard.md"
    page.write_text("# Bustard\n\nThe bustard is a large bird of dry grassland and steppe.\n", "utf-8")
    for arguments in (
        ["build", str(page)],
        ["search", "which bird lives on the steppe", "--json"],
        ["remove", "Bustard"],
    ):
        done = CliRunner().invoke(app, [*arguments, "--store", members.address])
        assert done.exit_code == 0, done.output
        if arguments[0] == "search":
            assert json.loads(done.stdout)["hits"][0]["page"] == "Bustard"
    assert _reads(members.secondaries)
    assert not any(asked.reads for asked in members.leader.asked)
