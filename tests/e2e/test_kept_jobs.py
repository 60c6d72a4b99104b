"""Changes that a server has accepted are made, however it ends: killed at once, killed in the middle, told to stop."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.e2e.test_server import ready, serve
from tests.server.world import as_file, build_store
from tests.waiting import until
from trivium.engine import Engine

DOCUMENTS = 8
CHANGES = 100


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return build_store(tmp_path)


@contextmanager
def write_locked(store: Path) -> Iterator[None]:
    """Another process writes to the store: no change can be made meanwhile."""
    with closing(sqlite3.connect(store / "graph.db", isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield


def jobs(address: str) -> list[dict[str, Any]]:
    answer = requests.get(f"{address}jobs", params={"limit": 1000}, timeout=60)
    found: list[dict[str, Any]] = answer.json()["jobs"]
    return found[::-1]


@pytest.mark.slow
def test_a_hundred_accepted_changes_are_made_though_the_server_is_killed_at_once_and_again(
    store: Path,
) -> None:
    accepted = []
    with serve(store) as (running, address):
        ready(address)
        with write_locked(store), requests.Session() as client:
            for number in range(CHANGES):
                if number < DOCUMENTS:
                    files = as_file({"title": f"Crater {number}", "text": "A crater of Phobos."})
                    answer = client.post(f"{address}documents", files=files, timeout=60)
                else:
                    answer = client.delete(f"{address}documents/Mars", timeout=60)
                assert answer.status_code == 202
                accepted.append(answer.json()["id"])
            running.kill()
            running.wait(60)
    with serve(store) as (running, address):
        ready(address)
        until(lambda: [job["state"] for job in jobs(address)].count("done") >= 2)
        until(lambda: any(job["state"] == "running" for job in jobs(address)))
        running.kill()
        running.wait(60)
    with serve(store) as (_, address):
        ready(address)
        until(lambda: jobs(address)[-1]["state"] == "done")
        done = jobs(address)
        assert [job["id"] for job in done] == accepted
        assert {job["state"] for job in done} == {"done"}
        assert sorted(done, key=lambda job: job["finished"]) == done, "in the order they were accepted"
        assert [job["report"]["removed"] for job in done[DOCUMENTS:]].count(["Mars"]) <= 1
        listed = requests.get(f"{address}documents", timeout=60).json()["documents"]
        assert {page["uri"] for page in listed} == {
            *(f"Crater {number}" for number in range(DOCUMENTS)),
            "Asaph Hall",
            "Deimos",
            "Phobos",
        }
        until(lambda: not list((store / "jobs" / "uploads").iterdir()))


_ENDLESS = """
import sys, time
from pathlib import Path
from trivium.server import app
from trivium.server.run_server import run
from trivium.server.settings import ServerSettings

def work(engine, change, files, progress):
    Path(sys.argv[2]).touch()
    time.sleep(600)

app.perform = work
settings = ServerSettings(port=0, shutdown_timeout=0.5)
run(app.create_app(sys.argv[1], settings), settings, lambda address: print(address, flush=True))
"""


@pytest.mark.parametrize("signals", [1, 2])
def test_a_change_that_does_not_stop_keeps_no_server_from_ending(tmp_path: Path, signals: int) -> None:
    """A second signal does not even wait for the stated time. The change is not lost."""
    store = tmp_path / "store"
    Engine.create(store, "minilm").close()
    begun = tmp_path / "begun"
    running = subprocess.Popen(
        [sys.executable, "-c", _ENDLESS, str(store), str(begun)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert running.stdout is not None
        address = running.stdout.readline().strip()
        files = as_file({"title": "Mars", "text": "A planet."})
        accepted = requests.post(f"{address}documents", files=files, timeout=60)
        assert accepted.status_code == 202
        until(begun.exists)
        told = time.monotonic()
        running.send_signal(signal.SIGTERM)
        if signals == 2:
            time.sleep(0.2)
            running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 0
        assert time.monotonic() - told < (10 if signals == 1 else 2)
    finally:
        running.kill()
        running.communicate()
    with closing(sqlite3.connect(store / "jobs" / "jobs.db")) as table:
        assert table.execute("SELECT kind, state FROM job").fetchall() in (
            [("add", "queued")],
            [("add", "running")],
        )


_KILLS = """
import os, signal, sys
from pathlib import Path
from trivium.server.job_table import Change
from trivium.server.jobs import Jobs
from trivium.server.jobs_folder import Spool

class Collection:
    def change(self, work):
        return work(None)

def work(engine, change, files, progress):
    if change.id == "bad":
        os.kill(os.getpid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGTERM)

folder = Path(sys.argv[1])
jobs = Jobs(Collection(), Spool(folder, folder / "jobs"), work, 100, lambda job: None)
jobs.open()
for name in sys.argv[2:]:
    jobs.submit(Change(name, "add", names=("a",)))
jobs.start()
signal.pause()
"""


def test_a_change_that_kills_the_server_each_time_is_given_up_and_the_next_one_is_made(
    python: Path, tmp_path: Path
) -> None:
    def run(*submitted: str) -> int:
        command = [python, "-c", _KILLS, tmp_path, *submitted]
        return subprocess.run(command, check=False, env=os.environ, timeout=60).returncode

    assert run("bad", "good") == -signal.SIGKILL
    assert run() == -signal.SIGKILL
    assert run() == -signal.SIGKILL
    assert run() == -signal.SIGTERM, "the next one is begun"
    with closing(sqlite3.connect(tmp_path / "jobs" / "jobs.db")) as table:
        found = table.execute("SELECT id, state, code FROM job ORDER BY number").fetchall()
    assert found == [("bad", "failed", "crashed"), ("good", "running", None)]
