"""In continuous integration nothing may be missing: a test that would skip for want of a component fails there."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

from tests.neo4j_servers import neo4j_5, neo4j_2026

__all__ = ["neo4j_5", "neo4j_2026"]


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
