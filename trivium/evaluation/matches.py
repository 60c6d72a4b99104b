"""The cumulative match characteristic (CMC), as numbers and as a text chart.

The CMC of a system at k is the share of questions with a gold passage among its first k.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trivium.evaluation.tables import Table, share

SHOWN_RANKS = (1, 3, 5, 10, 20)
"""The ranks that are printed; the chart shows all."""
LATE_PRECISION = ("precision@10", "precision@20")
"""Printed beside the CMC: the precision of long lists, which the CMC does not show."""
_LEVELS = " ▁▂▃▄▅▆▇█"


def chart(matches: Sequence[float]) -> str:
    """Return one character per rank, as high as the share there: empty only for 0, full only for 1.

    >>> chart([0, 0.01, 0.5, 0.99, 1])
    ' ▁▄▇█'
    """
    return "".join(_LEVELS[_level(value)] for value in matches)


def matches_table(
    matches: Mapping[str, Sequence[float]], means: Mapping[str, Mapping[str, Any]]
) -> Table | None:
    """Return the CMC of each system, and its precision at large ranks; None if no question was traced."""
    depth = max(map(len, matches.values()), default=0)
    if not depth:
        return None
    late = [measure.replace("precision", "P") for measure in LATE_PRECISION]
    table = Table(["CMC", *(f"@{rank}" for rank in SHOWN_RANKS), f"ranks 1 to {depth}", *late])
    for name, shares in matches.items():
        precision = [means[name].get(measure) for measure in LATE_PRECISION]
        table.add_row(
            name,
            *(share(shares[rank - 1]) for rank in SHOWN_RANKS),
            chart(shares),
            *("-" if value is None else share(value) for value in precision),
        )
    return table


def _level(value: float) -> int:
    last = len(_LEVELS) - 1
    if value <= 0:
        return 0
    return last if value >= 1 else min(last - 1, max(1, int(value * last)))
