"""Jobs that add and remove documents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trivium.common.progress import StageProgress
from trivium.engine import Engine
from trivium.errors import ConfigurationError, NothingReadError
from trivium.graph.schema import unescape
from trivium.index.load_report import IngestReport
from trivium.metadata import parse_object
from trivium.server.job_table import Change
from trivium.server.jobs import JobError
from trivium.server.uploads import LANGUAGE, METADATA
from trivium.types import MetadataValue

_MAX_LISTED = 100


def perform(
    engine: Engine, change: Change, files: Mapping[str, str], progress: StageProgress
) -> dict[str, Any]:
    """Make a change and return its report. ``files`` maps the paths of uploaded files to their names. Repeating a
    change has no further effect. Raises JobError and the errors of the engine.
    """
    if not all(Path(path).is_file() for path in files):
        raise JobError("lost", "the uploaded documents are no longer there: send them again", {})
    if change.kind == "add":
        return _add(engine, files, progress)
    assert change.uri is not None
    # It may have been removed by an earlier job, or by this one before the server was stopped.
    gone = change.uri not in engine.store.find_pages([change.uri])
    return {"removed": [] if gone else engine.remove([unescape(change.uri)])}


def _add(engine: Engine, files: Mapping[str, str], progress: StageProgress) -> dict[str, Any]:
    language = _said(files, LANGUAGE)
    try:
        report = engine.build(
            list(files),
            progress=progress,
            names=files,
            isolated=True,
            meta=_metadata(files),
            language=language,
        )
    except ConfigurationError as error:
        if language is None:
            raise
        raise JobError("language", str(error), {}) from error  # the embedder does not support the language
    except NothingReadError as error:  # the report contains the reasons
        report = error.report
    report_json = _report_json(report)
    if report.problems and not report.read:
        first = report.problems[0]
        raise JobError("unreadable", f"{first.location}: {first.reason}", report_json)
    return report_json


def _metadata(files: Mapping[str, str]) -> dict[str, MetadataValue | None] | None:
    """Return the metadata sent with the documents."""
    said = _said(files, METADATA)
    return None if said is None else parse_object(said)


def _said(files: Mapping[str, str], name: str) -> str | None:
    for path in files:
        found = Path(path).with_name(name)
        return found.read_text("utf-8") if found.exists() else None
    return None


def _report_json(report: IngestReport) -> dict[str, Any]:
    """Convert the report of a load to the JSON of a job."""
    return {
        "added": report.added,
        "replaced": report.replaced,
        "unchanged": report.unchanged,
        "relinked": report.relinked,
        "skipped": report.skipped[:_MAX_LISTED],
        "duplicates": len(report.duplicates),
        "hints": report.hints,
        "problems": [
            {"location": problem.location, "reason": problem.reason}
            for problem in report.problems[:_MAX_LISTED]
        ],
        "problems_left_out": max(0, len(report.problems) - _MAX_LISTED) + report.unlisted,
        "incomplete": [
            {"location": part.location, "reason": part.reason} for part in report.incomplete[:_MAX_LISTED]
        ],
    }
