"""In continuous integration nothing may be missing: a test that would skip for want of a component fails there.

Several processes (``pytest -n 3 --dist loadfile``) get whole files each. All tests of one shared Neo4j server run in one
of them: a second server of a version would cost half a minute, and each needs its first queries to become fast.
"""

from __future__ import annotations

import gc
import os
import re
import secrets
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

from tests.bundled_model import loaded_once
from tests.neo4j_servers import neo4j_5, neo4j_2026
from tests.preloaded import preloaded_python

__all__ = ["neo4j_5", "neo4j_2026"]

# Ray reads them when it is imported, which whichever test comes first does: its clusters are for these tests alone.
os.environ.setdefault("RAY_AUTH_MODE", "token")
os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))

ASKS_SHARED_SERVERS = re.compile(
    r"tests/graph/neo4j/|tests/browser/test_neo4j_"
    r"|tests/e2e/test_(neo4j_faults|neo4j_hostile|neo4j_server|neo4j_two_servers|explore_(guide|names)|your_own_data)\.py"
    r"|.*\[neo4j"
)
"""Of the ids of tests: those that ask one of the shared servers."""

OLDER = re.compile(r".*[\[-]neo4j[-_]5|tests/e2e/test_neo4j_server\.py")
"""Those of them that ask the older of the two servers; no test asks both. Where the version cannot matter a test asks the
newer one: each needs its first queries to become fast."""

TRAINS = re.compile(r"tests/(training/|experiments/test_thesis(_fuser)?\.py|e2e/test_training\.py)")
"""Those that train networks: TensorFlow takes seconds to import, and should be in one process only."""

READS_SAMPLE = re.compile(
    r"tests/(browser/test_neo4j_|e2e/test_(explore_guide|your_own_data)\.py|graph/neo4j/test_plans\.py)"
    r"|tests/graph/neo4j/test_memory\.py::test_(a_search_asks|keyword_search)_"
)
"""Those of them that only read the sample in a server. They come one after another: the others empty the database, and
to fill it takes ten seconds."""


@pytest.fixture(scope="session", autouse=True)
def _loaded_once() -> Iterator[None]:
    """Load the bundled embedder once."""
    with loaded_once():
        yield


@pytest.fixture(scope="session")
def python() -> Iterator[Path]:
    """An interpreter that has imported the package already."""
    with preloaded_python() as command:
        yield command


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn skips into failures under CI=true, but those for want of the evaluation data, which are not ours to bring, and
    of a package that is not made for this Python.
    """
    report = yield
    reason = str(report.longrepr)
    excused = "evaluation data" in reason or "for this Python" in reason
    if os.environ.get("CI") == "true" and report.skipped and not excused:
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing may be missing: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Without looking for garbage: what is imported here stays, and need not be looked through ever again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests that read the sample in a server one after another; see that the patterns know which
    server each test asks."""
    reading = [item for item in items if READS_SAMPLE.match(item.nodeid)]
    if reading:
        first = items.index(reading[0])
        items[first:] = reading + [item for item in items[first:] if not READS_SAMPLE.match(item.nodeid)]
    for item in items:
        for server in {"neo4j_5", "neo4j_2026"}.intersection(getattr(item, "fixturenames", ())):
            if shared_server(item.nodeid) != server:
                raise pytest.UsageError(f"{item.nodeid} asks {server}: {__name__} does not know that")


def shared_server(nodeid: str) -> str | None:
    """The shared server that a test asks; None if it asks none."""
    if not ASKS_SHARED_SERVERS.match(nodeid):
        return None
    return "neo4j_5" if OLDER.match(nodeid) else "neo4j_2026"


class FilesAndServers(LoadFileScheduling):
    """Hands out whole files; all tests of a shared server count as one file, and so do all that train."""

    def _split_scope(self, nodeid: str) -> str:
        if server := shared_server(nodeid):
            return server
        if TRAINS.match(nodeid):
            return "training"
        scope: str = super()._split_scope(nodeid)
        return scope


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FilesAndServers | None:
    """How tests are handed to processes; None: as xdist does it."""
    return FilesAndServers(config, log) if config.getvalue("dist") == "loadfile" else None
