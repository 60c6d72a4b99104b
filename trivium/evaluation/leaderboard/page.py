"""The page of a leaderboard: one HTML file that asks for nothing from anywhere and runs no script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trivium.evaluation.leaderboard.ranking import Leaderboard
from trivium.evaluation.matches import SHOWN_RANKS
from trivium.evaluation.own_pages import TABLES, Tick, render
from trivium.evaluation.significance import LEVEL, RESAMPLES
from trivium.evaluation.tables import BETTER, WORSE, chance, share

MEASURES = ("hit@1", "hit@5", "recall@5", "all@5", "precision@10", "precision@20", "mrr", "map", "ndcg@10")
"""The measures of the second table, beside the one the runs are ranked by."""
MOST_LINES = 8
"""How many runs are drawn: more lines than that cannot be told apart."""
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 640, 300, 44, 34, 10


@dataclass(frozen=True, slots=True)
class Line:
    """The CMC of a run as the points of a line in the drawing; ``number`` is its style."""

    number: int
    name: str
    points: str


def leaderboard_page(found: Leaderboard) -> str:
    """The leaderboard as HTML. Names of runs are escaped."""
    depth = len(found.places[0].matches)
    measures = [found.measure, *(name for name in MEASURES if name != found.measure)]
    best = {m: max(share(place.means[m]) for place in found.places) for m in measures}
    return render(
        "trivium.evaluation.leaderboard",
        "leaderboard",
        look=TABLES,
        found=found,
        measures=measures,
        best=best,
        ranks=SHOWN_RANKS,
        lines=[
            Line(number, place.name, _points(place.matches))
            for number, place in enumerate(found.places[:MOST_LINES])
        ],
        columns=[Tick(_across(rank, depth), str(rank)) for rank in (1, *range(5, depth + 1, 5))],
        levels=[Tick(_up(tenths / 10), f"{tenths / 10:.1f}") for tenths in range(0, 11, 2)],
        size=(_WIDTH, _HEIGHT),
        left=_LEFT,
        share=share,
        chance=chance,
        marks=(BETTER, WORSE),
        level=LEVEL,
        resamples=RESAMPLES,
    )


def _points(matches: Sequence[float]) -> str:
    depth = len(matches)
    return " ".join(f"{_across(rank, depth)},{_up(value)}" for rank, value in enumerate(matches, start=1))


def _across(rank: int, depth: int) -> float:
    return round(_LEFT + (_WIDTH - _LEFT - 12) * (rank - 1) / max(depth - 1, 1), 1)


def _up(value: float) -> float:
    return round(_TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - value), 1)
