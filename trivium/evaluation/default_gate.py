"""Decides whether a trained fusion may be the default, from questions it has not seen, and records the figures.

The rule: the gate is open unless on some set of questions the fusion is *significantly worse* than the best single
retriever or the convex combination, or its mean over the sets is *not better* than theirs.

Rationale: The mean shows whether there is anything to gain. It weights every set equally, so that a set of four
thousand questions does not outvote five small ones. A set on which the fusion is significantly worse represents users
who would be let down, whatever others gain, so one is enough to shut the gate. Without the test, one or two questions
would decide on a set of sixty. Both comparisons are biased towards shut: the best single retriever is chosen on the
very questions it is compared on, and the tests of several sets are not corrected for multiplicity.

Tests and intervals are by page, since the questions of a page succeed and fail together. If the two systems differ on
too few pages for such a test to be significant at all, they are by question. That overstates small samples, but
otherwise a set of a few pages could never object.

The measure is recall@5, which equals hit@5 for questions with a single gold part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.datasets.cross_validation import clusters
from trivium.errors import InputError
from trivium.evaluation.report import Report
from trivium.evaluation.run import best_system
from trivium.evaluation.significance import Interval, mean_interval, p_value
from trivium.fusion.fusion_names import DEFAULT

MEASURE = "recall@5"
LEVEL = 0.05
"""Significance level of the p-values."""
FEWEST_PAGES = 6
"""Minimum number of groups of questions with a common page on which two rows differ. With fewer, even a row that lost
on all of them cannot be significant in a test by page (the smallest p-value is 2 / 2**groups).
"""


@dataclass(frozen=True, slots=True)
class Against:
    """A fusion compared with another row on the same questions: the mean of that row, the mean paired difference
    (positive: the fusion is better) with its 95 % interval, and the two-sided p-value of the paired permutation test.
    """

    row: str
    mean: float
    difference: Interval
    p: float

    @property
    def worse(self) -> bool:
        """Whether the fusion is significantly worse."""
        return self.difference.mean < 0 and self.p < LEVEL

    @property
    def better(self) -> bool:
        """Whether the fusion is significantly better."""
        return self.difference.mean > 0 and self.p < LEVEL


@dataclass(frozen=True, slots=True)
class Verdict:
    """The results of a fusion on one set of questions."""

    questions: int
    measure: str
    mean: float
    single: Against
    convex: Against

    @property
    def decision(self) -> str:
        """The verdict: "better" than both, "worse" than either, otherwise "as good"."""
        if self.single.worse or self.convex.worse:
            return "worse"
        return "better" if self.single.better and self.convex.better else "as good"


@dataclass(frozen=True, slots=True)
class Gate:
    """Whether a fusion may be the default, and why, set by set."""

    active: bool
    because: str
    sets: Mapping[str, Verdict]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, figures to six digits."""
        return {
            "active": self.active,
            "because": self.because,
            "sets": {
                name: {
                    "questions": verdict.questions,
                    "measure": verdict.measure,
                    "mean": round(verdict.mean, 6),
                    "decision": verdict.decision,
                    "single": _against_json(verdict.single),
                    "convex": _against_json(verdict.convex),
                }
                for name, verdict in self.sets.items()
            },
        }


def verdict(report: Report, fusion: str, singles: Sequence[str], convex: str = "convex") -> Verdict:
    """Compare the row ``fusion`` of an evaluation with the best of the rows ``singles`` and the row ``convex``.
    Raises InputError if rows are missing or no question was traced.
    """
    missing = [name for name in (fusion, convex, *singles) if name not in report.rows]
    if missing or not singles or not report.traced.questions:
        raise InputError(
            f"the gate needs traced questions, and the rows {', '.join([fusion, convex, *singles])}; there are"
            f" {len(report.traced.questions)} questions and no {', '.join(missing) or 'single retrievers'}"
        )
    gold = [report.traced.gold[question.id] for question in report.traced.questions]
    pages = clusters([question_gold.pages for question_gold in gold])
    single = best_system(report, singles, MEASURE) or singles[0]
    against = [_compare(report, fusion, rival, pages) for rival in (single, convex)]
    measure = "hit@5" if all(len(question_gold.groups) == 1 for question_gold in gold) else MEASURE
    return Verdict(len(gold), measure, report.rows[fusion].means[MEASURE], *against)


def decide(sets: Mapping[str, Verdict]) -> Gate:
    """Open or shut the gate by the rule above. Raises InputError without any set."""
    if not sets:
        raise InputError("the gate needs at least one set of questions")
    worse = [
        f"{against.row} on {name} ({against.difference.mean:+.3f}, p = {against.p:.3g})"
        for name, verdict in sets.items()
        for against in (verdict.single, verdict.convex)
        if against.worse
    ]
    mean = float(np.mean([verdict.mean for verdict in sets.values()]))
    single = float(np.mean([verdict.single.mean for verdict in sets.values()]))
    convex = float(np.mean([verdict.convex.mean for verdict in sets.values()]))
    figures = (
        f"mean {MEASURE} over {len(sets)} set{'s' if len(sets) > 1 else ''}: {mean:.3f}, best single retriever"
        f" {single:.3f}, convex {convex:.3f}"
    )
    if worse:
        return Gate(False, f"significantly worse than {' and '.join(worse)}", sets)
    if mean <= max(single, convex):
        return Gate(False, f"not better than its parts ({figures})", sets)
    return Gate(True, f"better than its parts, and nowhere significantly worse ({figures})", sets)


def why_not_instead(report: Report, fusion: str, default: str = DEFAULT) -> str | None:
    """Return why the row ``fusion`` should not replace the row ``default``, the store's present default: because it is
    significantly worse. None if it is not, or if the report has no such row.
    """
    if default not in report.rows:
        return None
    pages = clusters([report.traced.gold[question.id].pages for question in report.traced.questions])
    against = _compare(report, fusion, default, pages)
    if not against.worse:
        return None
    return (
        f"significantly worse than the present default ({against.difference.mean:+.3f}, p = {against.p:.3g})"
    )


def _compare(report: Report, fusion: str, rival: str, pages: NDArray[np.int64]) -> Against:
    differences = report.rows[fusion].values[MEASURE] - report.rows[rival].values[MEASURE]
    differing = np.count_nonzero(np.abs(np.bincount(pages, differences)) > 1e-9)
    by = pages if differing >= FEWEST_PAGES else None
    return Against(
        rival, report.rows[rival].means[MEASURE], mean_interval(differences, by), p_value(differences, by)
    )


def _against_json(against: Against) -> dict[str, Any]:
    values = {**asdict(against), "difference": against.difference.mean}
    interval = [against.difference.low, against.difference.high]
    rounded = {name: round(value, 6) if isinstance(value, float) else value for name, value in values.items()}
    return {**rounded, "ci": [round(bound, 6) for bound in interval]}
