"""The jobs that add, replace and remove documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trivium.common.progress import StageProgress
from trivium.engine import Engine
from trivium.errors import TriviumError
from trivium.graph.schema import page_uri, unescape
from trivium.index.load import IngestReport
from trivium.parser.sources.base import Item
from trivium.parser.sources.discover import read
from trivium.parser.sources.recognise import recognise
from trivium.server.jobs import JobError, Work
from trivium.server.uploads import Upload
from trivium.text import normalise_title

_MAX_LISTED = 100


def adding(upload: Upload) -> Work:
    """Load the documents of an upload."""

    def work(engine: Engine, progress: StageProgress) -> dict[str, Any]:
        report = engine.build(upload.paths, progress=progress, names=upload.names)
        report_json = _report_json(report)
        if report.problems and not (report.added or report.replaced or report.unchanged or report.skipped):
            first = report.problems[0]
            raise JobError("unreadable", f"{first.location}: {first.reason}", report_json)
        return report_json

    return work


def replacing(upload: Upload, uri: str) -> Work:
    """Load the one document of an upload in the place of the page ``uri``."""

    def work(engine: Engine, progress: StageProgress) -> dict[str, Any]:
        (path,) = upload.paths
        _check_title(engine, path, uri)
        report = engine.build([path], progress=progress, names=upload.names)
        report_json = _report_json(report)
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


def _check_title(engine: Engine, path: str, uri: str) -> None:
    """Raises JobError unless a file is a page of that name; records were given its name when they came."""
    try:
        if recognise(Path(path)) == "records":
            return
        (page,) = read(Item("html", path))
    except TriviumError as error:
        reason = str(error).removeprefix(f"{path}: ")
        raise JobError("unreadable", reason, {}) from error
    own = page_uri(normalise_title(page.title))
    if own != uri and engine.store.resolve([own]).get(own) != uri:
        raise JobError(
            "other_title",
            f"expected a page called {unescape(uri)!r}, got one that calls itself {page.title!r}: add it instead",
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
    }
