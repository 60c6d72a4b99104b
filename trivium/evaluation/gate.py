"""May a trained fusion be the default? Decided on questions it has not seen, and written down with the figures.

The rule: its gate is open unless on some set of questions it is *significantly worse* than the best single retriever or
than the convex combination, or its mean over the sets is *not better* than theirs.

Why like this. The mean says whether there is anything to gain; it counts every set alike, because one set of four
thousand questions must not outvote five small ones. A set on which it is worse by more than luck stands for users who
would be let down, whatever others gain, so one is enough to shut the gate; without the test a question or two would
decide on a set of sixty. Both comparisons lean towards shut: the best single retriever is chosen on the very questions
it is compared on, and the tests of several sets are not corrected for being several.

Tests and intervals are by page, since the questions of a page succeed and fail together. Where the two differ on too few
pages for such a test to speak at all they are by question: that makes too much of little, but else a set of a few pages
could never object.

The measure is recall@5, which is hit@5 wherever a question has one thing to find.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.datasets.splits import clusters
from trivium.errors import InputError
from trivium.evaluation.best_system import best_system
from trivium.evaluation.report import Report
from trivium.evaluation.significance import Interval, mean_interval, p_value

MEASURE = "recall@5"
LEVEL = 0.05
"""A p-value below is no luck."""
FEWEST_PAGES = 6
"""Groups of questions with a page in common on which two rows differ: of fewer than that, even if one row lost on all of
them, no test by page would say so (the least p-value is 2 / 2**groups)."""


@dataclass(frozen=True, slots=True)
class Against:
    """A fusion against another row of the same questions: the mean of that row, the mean paired difference (positive:
    the fusion is better) with its 95 % interval, and the two-sided p-value of the paired permutation test."""

    row: str
    mean: float
    difference: Interval
    p: float

    @property
    def worse(self) -> bool:
        """Whether the fusion is worse by more than luck."""
        return self.difference.mean < 0 and self.p < LEVEL

    @property
    def better(self) -> bool:
        """Whether it is better by more than luck."""
        return self.difference.mean > 0 and self.p < LEVEL


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a fusion did on one set of questions."""

    questions: int
    measure: str
    mean: float
    single: Against
    convex: Against

    @property
    def decision(self) -> str:
        """better, worse, or as good: than both, than either, else."""
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
    """Judge the row ``fusion`` of an evaluation against the best of the rows ``singles`` and the row ``convex``. Raises
    InputError where rows are missing or no question was traced."""
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
    """Open or shut by the rule above. Raises InputError without any set."""
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
