"""The jobs that add, replace and remove documents."""

from __future__ import annotations

from typing import Any

from trivium.common.progress import StageProgress
from trivium.engine import Engine
from trivium.graph.model import PageGraph
from trivium.graph.schema import unescape
from trivium.index.load import IngestReport
from trivium.server.jobs import JobError, Work
from trivium.server.uploads import Upload

_MAX_LISTED = 100


def adding(upload: Upload) -> Work:
    """Load the documents of an upload."""

    def work(engine: Engine, progress: StageProgress) -> dict[str, Any]:
        report = engine.build(upload.paths, progress=progress, names=upload.names, isolated=True)
        report_json = _report_json(report)
        if report.problems and not (report.added or report.replaced or report.unchanged or report.skipped):
            first = report.problems[0]
            raise JobError("unreadable", f"{first.location}: {first.reason}", report_json)
        return report_json

    return work


def replacing(upload: Upload, uri: str) -> Work:
    """Load the one document of an upload in the place of the page ``uri``."""

    def work(engine: Engine, progress: StageProgress) -> dict[str, Any]:
        def check(page: PageGraph) -> None:
            _check_title(engine, page.uri, uri)

        report = engine.build(upload.paths, progress=progress, names=upload.names, isolated=True, check=check)
        report_json = _report_json(report)
        if report.problems:
            raise JobError("unreadable", report.problems[0].reason, {})
        if report.skipped:
            raise JobError(
                "older", "the collection has a later revision of it: delete that first", report_json
            )
        return report_json

    return work


def deleting(uri: str) -> Work:
    """Remove a page."""

    def work(engine: Engine, _: StageProgress) -> dict[str, Any]:
        return {"removed": engine.remove([unescape(uri)])}

    return work


def _check_title(engine: Engine, own: str, uri: str) -> None:
    """Raises JobError unless a page of the name ``own`` is the page ``uri``."""
    if own != uri and engine.store.resolve([own]).get(own) != uri:
        raise JobError(
            "other_title",
            f"expected a page called {unescape(uri)!r}, got one that calls itself {unescape(own)!r}: add it instead",
            {},
        )


def _report_json(report: IngestReport) -> dict[str, Any]:
    """The report of a load as the JSON of a job."""
    return {
        "added": report.added,
        "replaced": report.replaced,
        "unchanged": report.unchanged,
        "relinked": report.relinked,
        "skipped": report.skipped[:_MAX_LISTED],
        "duplicates": len(report.duplicates),
        "problems": [
            {"location": problem.location, "reason": problem.reason}
            for problem in report.problems[:_MAX_LISTED]
        ],
        "problems_left_out": max(0, len(report.problems) - _MAX_LISTED) + report.unlisted,
    }
