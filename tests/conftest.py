"""In continuous integration nothing may be missing: a test that would skip for want of a component fails there.

Several processes (``pytest -n 2 --dist loadgroup``) get whole files each, and one of them every test of the shared Neo4j
servers: a second pair of servers would cost a minute, and each needs its first queries to become fast.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest
from xdist.scheduler import LoadGroupScheduling

from tests.neo4j_servers import neo4j_5, neo4j_2026

__all__ = ["neo4j_5", "neo4j_2026"]

SHARED_SERVERS = "neo4j"
"""The group of tests that ask one of the shared servers."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn skips into failures under CI=true, those for want of the evaluation data aside: it is not ours to bring."""
    report = yield
    reason = str(report.longrepr)
    if os.environ.get("CI") == "true" and report.skipped and "evaluation data" not in reason:
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing may be missing: {reason}"
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what asks a shared server, by its fixture or by a parameter that names one."""
    for item in items:
        needed = [*getattr(item, "fixturenames", ())]
        if (call := getattr(item, "callspec", None)) is not None:
            needed += [value for value in call.params.values() if isinstance(value, str)]
        if any(name.startswith(("neo4j_5", "neo4j_2026", "neo4j-")) for name in needed):
            item.add_marker(pytest.mark.xdist_group(SHARED_SERVERS))


class FilesAndGroups(LoadGroupScheduling):
    """Groups, and whole files where a test is in none."""

    def _split_scope(self, nodeid: str) -> str:
        scope: str = super()._split_scope(nodeid)
        return scope.split("::", 1)[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FilesAndGroups | None:
    """How tests are handed to processes; None: as the command line says."""
    return FilesAndGroups(config, log) if config.getvalue("dist") == "loadgroup" else None
