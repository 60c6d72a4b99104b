"""One builder at a time, and waiting that ends."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from trivium.errors import StoreBusyError
from trivium.graph.sqlite import index_lock


def build(index: Path, seconds: float, begun: threading.Event, *, goes_on: bool) -> None:
    with index_lock.building(index) as going:
        begun.set()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if goes_on:
                going()
            time.sleep(0.01)


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_builder_is_waited_for_while_it_makes_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, goes_on: bool
) -> None:
    """Three times as long as one that makes none."""
    monkeypatch.setattr(index_lock, "WAIT_SECONDS", 0.25)
    monkeypatch.setattr(index_lock, "_NOTE_SECONDS", 0.02)
    begun = threading.Event()
    builder = threading.Thread(target=build, args=(tmp_path, 0.8, begun), kwargs={"goes_on": goes_on})
    builder.start()
    begun.wait()
    try:
        if goes_on:
            before = time.monotonic()
            with index_lock.building(tmp_path):
                assert time.monotonic() - before > 0.5
        else:
            with (
                pytest.raises(StoreBusyError, match=f"process {os.getpid()} has been building"),
                index_lock.building(tmp_path),
            ):
                pass
    finally:
        builder.join()


INTERRUPTED = """
import os, signal, sqlite3, sys, threading, time
from pathlib import Path
from tests.contract.graphs import graph
from trivium.graph.sqlite import EmbeddedStore

with EmbeddedStore.create(sys.argv[1]) as store:
    other = sqlite3.connect(Path(sys.argv[1], "graph.db"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    begun = time.monotonic()
    try:
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        store.write([graph("Mars")])
    except KeyboardInterrupt:
        assert time.monotonic() - begun < 5
        other.execute("ROLLBACK")
        other.close()
        store.write([graph("Mars")])
        print("fine")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of that kind are not there")
def test_a_write_that_waits_for_another_one_can_be_interrupted(tmp_path: Path) -> None:
    """Long before it would give up. (In a process of its own: this one runs other tests.)"""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, tmp_path / "store"], capture_output=True, text=True, check=False
    )
    assert done.stdout == "fine\n", done.stderr
