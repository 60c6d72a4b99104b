"""What goes wrong with a server that answers, through the command line: clear errors, and nothing is lost."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from neo4j import GraphDatabase

from tests.contract.graphs import IDENTITY, embed_pending, graph
from tests.e2e.conftest import Run
from tests.neo4j_servers import Server, count_pages, log_in
from tests.neo4j_wipe import wipe
from trivium.engine import Engine
from trivium.errors import EmbedderMismatchError, StoreError
from trivium.graph.neo4j import Neo4jStore
from trivium.types import EmbedderIdentity

PAGES = 600
"""Of the load that is interrupted after two transactions: six."""


def test_an_interrupted_load_goes_on(
    trivium: Run, records: Path, tmp_path: Path, neo4j_2026: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C: code 130, whole transactions stay."""
    wipe(neo4j_2026)
    log_in(monkeypatch, neo4j_2026)
    some = tmp_path / "some.jsonl"
    some.write_text("".join(records.read_text("utf-8").splitlines(keepends=True)[:PAGES]), "utf-8")
    load = subprocess.Popen(
        [sys.executable, "-m", "trivium", "build", some, "--store", neo4j_2026.bolt, "--no-embed"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while count_pages(neo4j_2026) < 200 and load.poll() is None:
        time.sleep(0.05)
    load.send_signal(signal.SIGINT)
    _, said = load.communicate(timeout=120)
    assert (load.returncode, "interrupted" in said) == (130, True), said
    kept = count_pages(neo4j_2026)
    assert kept % 100 == 0 and 100 <= kept < PAGES
    done = trivium("build", some, "--store", neo4j_2026.bolt, "--no-embed", "--json")
    assert (done.json["pages"]["added"], done.json["nodes"]["Page"]) == (PAGES - kept, PAGES)


def test_no_server_wrong_password_and_wrong_database_are_said(
    trivium: Run, neo4j_2026: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 1 and one line that says what to do; the password is never shown."""
    log_in(monkeypatch, neo4j_2026)
    away = trivium("search", "Mars", "--store", "bolt://127.0.0.1:1")
    assert away.code == 1 and "no Neo4j server answers at bolt://127.0.0.1:1" in away.err
    elsewhere = trivium("stats", "--store", f"{neo4j_2026.bolt}/nowhere")
    assert elsewhere.code == 1 and "no database 'nowhere'" in elsewhere.err
    monkeypatch.setenv("NEO4J_PASSWORD", "not-the-password")
    refused = trivium("stats", "--store", neo4j_2026.bolt)
    assert refused.code == 1 and "NEO4J_PASSWORD" in refused.err and "not-the-password" not in refused.err
    for result in (away, elsewhere, refused):
        assert "Traceback" not in result.err


def test_an_empty_and_a_foreign_database_are_no_store_and_become_one_by_a_build(
    trivium: Run, neo4j_2026: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What others keep there is left alone."""
    wipe(neo4j_2026)
    log_in(monkeypatch, neo4j_2026)
    empty = trivium("search", "Mars", "--store", neo4j_2026.bolt)
    assert empty.code == 1 and "trivium build" in empty.err
    with GraphDatabase.driver(neo4j_2026.bolt, auth=neo4j_2026.auth) as driver:
        driver.execute_query("CREATE (:Customer {name: 'Ada'})", database_="neo4j")
    foreign = trivium("search", "Mars", "--store", neo4j_2026.bolt)
    assert foreign.code == 1 and "trivium build" in foreign.err and "Traceback" not in foreign.err
    page = tmp_path / "mars.txt"
    page.write_text("Mars is red.\n")
    assert trivium("build", page, "--store", neo4j_2026.bolt, "--no-embed").code == 0
    with GraphDatabase.driver(neo4j_2026.bolt, auth=neo4j_2026.auth) as driver:
        rows = driver.execute_query("MATCH (n:Customer) RETURN labels(n), n.name", database_="neo4j").records
    assert [list(row) for row in rows] == [[["Customer"], "Ada"]]


def test_another_embedder_and_other_dimensions_are_refused(
    neo4j_2026: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By name when it is named, by size when vectors come."""
    wipe(neo4j_2026)
    log_in(monkeypatch, neo4j_2026)
    with Neo4jStore.create(neo4j_2026.bolt) as store:
        store.write([graph("Mars", [("red", ["Sun"])])])
        embed_pending(store)
        with pytest.raises(EmbedderMismatchError, match=r"8 dimensions.*16 dimensions"):
            store.set_embedder(EmbedderIdentity("other", "1", 16))
        with pytest.raises(StoreError, match=r"\(1, 8\)"):
            store.put_vectors(["Mars"], np.ones((1, 16), dtype=np.float32))
        assert store.embedder == IDENTITY
    with pytest.raises(EmbedderMismatchError, match="filled by toy"):
        Engine.open(neo4j_2026.bolt, embedder="minilm")
