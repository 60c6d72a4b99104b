"""The stored result of a question set, so that an interrupted suite can be resumed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from trivium.common.safe_files import write_file
from trivium.evaluation.report import Comparison
from trivium.evaluation.trec_files import run_path

RESULT = "set.json"
"""Written last: a folder that contains it is complete."""


class Paired(BaseModel):
    """A fusion compared with the best single retriever: mean paired difference (positive: ``row`` is
    better) with its 95 % interval, and the two-sided p-value of the paired permutation test.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    row: str
    against: str
    measure: str
    difference: float
    low: float
    high: float
    p: float

    @classmethod
    def of(cls, found: Comparison) -> Paired:
        """Create it from an evaluation's comparison."""
        d = found.difference
        return cls(
            row=found.row,
            against=found.against,
            measure=found.measure,
            difference=d.mean,
            low=d.low,
            high=d.high,
            p=found.p,
        )


class SetResult(BaseModel):
    """An evaluated set. ``inputs`` is everything the result depends on; ``report`` is the output of ``trivium evaluate
    --json``; ``measures`` are those the set is
    judged by; ``store`` and ``version`` describe where and with which version it was measured.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    name: str
    version: str
    inputs: dict[str, JsonValue]
    report: dict[str, Any]
    retrievers: tuple[str, ...]
    fusions: tuple[str, ...]
    measures: tuple[str, ...]
    tests: tuple[Paired, ...] = ()
    store: dict[str, JsonValue] = Field(default_factory=dict)

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the systems, in order."""
        return (*self.retrievers, *self.fusions)

    def mean(self, row: str, measure: str) -> float | None:
        """Return a mean over the traced questions; None if there are none."""
        value: float | None = self.report["rows"][row][measure]
        return value

    def interval(self, row: str, measure: str) -> tuple[float, float] | None:
        """Return its 95 % interval, if there is one."""
        found = self.report["rows"][row]["ci"].get(measure)
        return None if found is None else (found[0], found[1])


def load_result(folder: Path, inputs: Mapping[str, Any]) -> SetResult | None:
    """Return the complete result in a folder, if it was made from the same inputs."""
    try:
        result = SetResult.model_validate_json((folder / RESULT).read_bytes())
    except (OSError, ValidationError):
        return None
    return result if result.inputs == dict(inputs) else None


def save_result(result: SetResult, folder: Path) -> None:
    """Mark a folder as complete. Raises InputError if it cannot be written."""
    write_file(folder / RESULT, result.model_dump_json(indent=2) + "\n")


def forget_result(folder: Path) -> None:
    """Mark a folder as incomplete before its files are rewritten, and remove its runs, which may be of other rows or
    questions.
    """
    try:
        rows = SetResult.model_validate_json((folder / RESULT).read_bytes()).rows
    except (OSError, ValidationError):
        rows = ()
    (folder / RESULT).unlink(missing_ok=True)
    for row in rows:
        run_path(folder, row).unlink(missing_ok=True)
