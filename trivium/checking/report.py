"""What a check of a store says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trivium.errors import StoreFormatError
from trivium.graph.findings import Finding, Severity


@dataclass(frozen=True, slots=True)
class CheckReport:
    """``findings`` are what is there now; ``repaired`` what a repair has put right. ``checked`` says how many pages,
    chunks, vectors and model files were looked at."""

    location: str
    findings: tuple[Finding, ...]
    repaired: tuple[Finding, ...]
    checked: Mapping[str, int]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong (notes do not count)."""
        return all(finding.severity is Severity.NOTE for finding in self.findings)


def unreadable(location: str, error: StoreFormatError) -> CheckReport:
    """The report on a store that cannot even be opened."""
    remedy = "restore a backup (trivium restore), or build the store again"
    return CheckReport(location, (Finding("store", Severity.BROKEN, str(error), (), remedy),), (), {})
