"""The report of a check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trivium.errors import StoreFormatError
from trivium.graph.check_findings import Finding, Severity


@dataclass(frozen=True, slots=True)
class CheckReport:
    """``findings`` are the current problems, ``repaired`` those that a repair has fixed. ``checked`` contains the
    numbers of pages, chunks and vectors checked.
    """

    location: str
    findings: tuple[Finding, ...]
    repaired: tuple[Finding, ...]
    checked: Mapping[str, int]

    @property
    def ok(self) -> bool:
        """Whether there are no problems (notes do not count)."""
        return all(finding.severity is Severity.NOTE for finding in self.findings)


def unreadable(location: str, error: StoreFormatError) -> CheckReport:
    """Create the report for a store that cannot be opened."""
    remedy = "restore a backup (trivium restore), or build the store again"
    return CheckReport(location, (Finding("store", Severity.BROKEN, str(error), (), remedy),), (), {})
