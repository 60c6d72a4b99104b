"""Describes what a load skipped."""

from __future__ import annotations

import os
from collections.abc import Mapping

from trivium.errors import NothingReadError
from trivium.index.report import IngestReport
from trivium.parser.sources.base import Problem
from trivium.parser.sources.recognise import known_formats

_MAX_KINDS = 8
MAX_REASONS = 3
"""Number of problems listed in the error of a load without results."""


def describe_kinds(kinds: Mapping[str, int]) -> str:
    """Describe the number of files by kind, most frequent first.

    >>> describe_kinds({"Makefile": 1, ".zip": 3, ".py": 8})
    '12 files: 8 .py, 3 .zip, Makefile'
    >>> describe_kinds({".py": 1})
    '1 file: 1 .py'
    """
    count = sum(kinds.values())
    ordered = sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))
    parts = [
        name if number == 1 and not name.startswith(".") else f"{number:,} {name}"
        for name, number in ordered[:_MAX_KINDS]
    ]
    others = sum(number for _, number in ordered[_MAX_KINDS:])
    if others:
        parts.append(f"{others:,} others")
    return f"{count:,} {'file' if count == 1 else 'files'}: {', '.join(parts)}"


def location_shown(problem: Problem) -> str:
    """Return the location of a problem as users name it: a file of the working directory without ``./``.

    >>> location_shown(Problem("./bad.jsonl", "")), location_shown(Problem("dump/bad.jsonl", ""))
    ('bad.jsonl', 'dump/bad.jsonl')
    """
    return problem.location.removeprefix(f"{os.curdir}{os.sep}")


def nothing_read(report: IngestReport) -> NothingReadError:
    """Return the error for a load without results: what was found, and what is supported."""
    came = []
    unread = len(report.problems) + report.unlisted
    if unread:
        reasons = "; ".join(f"{location_shown(p)}: {p.reason}" for p in report.problems[:MAX_REASONS])
        more = f"; and {unread - MAX_REASONS:,} more" if unread > MAX_REASONS else ""
        noun = "document" if unread == 1 else "documents"
        came.append(f"{unread:,} {noun} that could not be read ({reasons}{more})")
    if report.left_out_kinds:
        came.append(f"{describe_kinds(report.left_out_kinds)}, of no format that is read")
    return NothingReadError(
        f"nothing could be read: expected documents ({known_formats()}), got {' and '.join(came)}", report
    )
