"""A process that builds the indexes and stands still: what the searches that need them do."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import until

QUESTION = "Who discovered the two moons of Mars?"

STOPS = """
import os, signal, sys
from trivium.graph.arrays import snapshot
from trivium.graph.sqlite.store import EmbeddedStore

def stop(*arguments):
    os.kill(os.getpid(), signal.SIGSTOP)

snapshot.build_topology = stop
EmbeddedStore.open(sys.argv[1]).refresh()
"""
"""Builds indexes and stops half-way."""

IMPATIENT = """
import sys
from trivium.graph.sqlite import index_lock
index_lock.WAIT_SECONDS = 0.3
from trivium.cli import main
main(sys.argv[1:])
"""


def search(store: Path, *python: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*python, "search", QUESTION, "--store", str(store)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"},
    )


@pytest.fixture
def store(sample_store: Path, tmp_path: Path) -> Path:
    """The sample without its indexes."""
    copy = Path(shutil.copytree(sample_store, tmp_path / "store"))
    shutil.rmtree(copy / "index")
    return copy


@pytest.fixture
def builder(store: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has begun to build them and is stopped."""
    with subprocess.Popen([sys.executable, "-c", STOPS, str(store)]) as process:
        until(lambda: os.waitpid(process.pid, os.WUNTRACED | os.WNOHANG) != (0, 0))
        yield process
        process.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be stopped there")
def test_a_search_that_waits_for_a_stopped_builder_can_be_interrupted_and_is_bounded(
    store: Path, builder: subprocess.Popen[bytes], python: Path
) -> None:
    """It says for whom it waits. Ctrl-C ends it at once, its patience ends with an error that names the process, and when
    that is killed the search builds the indexes itself."""
    interrupted = search(store, sys.executable, "-m", "trivium")
    bounded, patient = search(store, python, "-c", IMPATIENT), search(store, python, "-m", "trivium")
    try:
        assert interrupted.stderr is not None
        said = interrupted.stderr.readline()
        assert said.startswith(f"waiting for process {builder.pid}, which builds the indexes")
        interrupted.send_signal(signal.SIGINT)
        begun = time.monotonic()
        assert interrupted.wait(timeout=30) == 130
        assert time.monotonic() - begun < 2
        out, errors = bounded.communicate(timeout=30)
        assert (bounded.returncode, out) == (1, "")
        assert f"process {builder.pid} has been building the indexes" in " ".join(errors.split())
        assert patient.poll() is None
        builder.kill()
        out, _ = patient.communicate(timeout=60)
        assert patient.returncode == 0 and "Asaph Hall" in out
    finally:
        for process in (interrupted, bounded, patient):
            process.kill()
            process.communicate()
