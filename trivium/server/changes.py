"""The jobs that add, replace and remove documents."""

from __future__ import annotations

from collections.abc import Mapping
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
from trivium.server.job_table import Change
from trivium.server.jobs import JobError
from trivium.text import normalise_title

_MAX_LISTED = 100


def perform(
    engine: Engine, change: Change, files: Mapping[str, str], progress: StageProgress
) -> dict[str, Any]:
    """Make a change; ``files``: what was uploaded for it, by path with their names. Made again, it changes nothing more.
    Returns the report; raises JobError, and what the engine raises."""
    if not all(Path(path).is_file() for path in files):
        raise JobError("lost", "the uploaded documents are no longer there: send them again", {})
    if change.kind == "add":
        return _add(engine, files, progress)
    assert change.uri is not None
    if change.kind == "replace":
        return _replace(engine, files, change.uri, progress)
    # It may have been removed by a job before this one, or by this one before the server was stopped.
    gone = change.uri not in engine.store.find_pages([change.uri])
    return {"removed": [] if gone else engine.remove([unescape(change.uri)])}


def _add(engine: Engine, files: Mapping[str, str], progress: StageProgress) -> dict[str, Any]:
    report = engine.build(list(files), progress=progress, names=files)
    report_json = _report_json(report)
    if report.problems and not (report.added or report.replaced or report.unchanged or report.skipped):
        first = report.problems[0]
        raise JobError("unreadable", f"{first.location}: {first.reason}", report_json)
    return report_json


def _replace(engine: Engine, files: Mapping[str, str], uri: str, progress: StageProgress) -> dict[str, Any]:
    (path,) = files
    _check_title(engine, path, uri)
    report = engine.build([path], progress=progress, names=files)
    report_json = _report_json(report)
    if report.skipped:
        raise JobError("older", "the collection has a later revision of it: delete that first", report_json)
    return report_json


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
