"""The page of a leaderboard: one self-contained HTML file without scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trivium.evaluation.leaderboard.ranking import Leaderboard, Place
from trivium.evaluation.leaderboard.sets import MeanPlace, SetsLeaderboard
from trivium.evaluation.matches import SHOWN_RANKS
from trivium.evaluation.own_pages import Tick, render
from trivium.evaluation.significance import LEVEL, RESAMPLES
from trivium.evaluation.tables import BETTER, WORSE, chance, share

MEASURES = ("hit@1", "hit@5", "recall@5", "all@5", "precision@10", "precision@20", "mrr", "map", "ndcg@10")
"""The measures of the second table, besides the one the runs are ranked by."""
MOST_LINES = 8
"""Maximum number of runs that are drawn. More lines could not be told apart."""
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 640, 300, 44, 34, 10


@dataclass(frozen=True, slots=True)
class Line:
    """The CMC of a run as points of a line. ``number`` is its style."""

    number: int
    name: str
    points: str


@dataclass(frozen=True, slots=True)
class Board:
    """The leaderboard of a set as shown on the page: the best value of each measure, and the lines. ``prefix`` begins
    its headings and ``id`` ends their anchors; both are empty if there is one set.
    """

    prefix: str
    id: str
    found: Leaderboard
    best: Mapping[str, str]
    lines: Sequence[Line]

    @classmethod
    def of(cls, found: Leaderboard, prefix: str = "", identifier: str = "") -> Board:
        """Create it from a leaderboard."""
        lines = [
            Line(number, place.name, _points(place.matches))
            for number, place in enumerate(found.places[:MOST_LINES])
        ]
        return cls(prefix, identifier, found, _best(found.places, _measures(found.measure)), lines)


def leaderboard_page(found: Leaderboard) -> str:
    """Return the leaderboard as HTML. Names of runs are escaped."""
    return _page(found, [Board.of(found)], several=False)


def sets_page(found: SetsLeaderboard) -> str:
    """Return the leaderboards of several sets and the mean over them as HTML. Names of sets and runs are escaped."""
    boards = [
        Board.of(board, f"{name}: ", f"-{number}")
        for number, (name, board) in enumerate(found.sets.items(), start=1)
    ]
    best = _best(found.places, _measures(found.measure))
    best_in = {
        name: max(share(p.means[found.measure]) for p in own.places) for name, own in found.sets.items()
    }
    return _page(found, boards, several=True, best=best, best_in=best_in, note=sets_note(found))


def sets_note(found: SetsLeaderboard) -> str:
    """Return the explanation of the means and of the marks beside the values of a set."""
    note = f"The mean of {len(found.sets)} sets, each of which weighs the same however many questions it has."
    if found.baseline is not None:
        chosen = ", the best mean on these same questions" if found.hindsight else ""
        note += (
            f" {BETTER} {WORSE}: differs from {found.baseline}{chosen}, on the questions of that set (p < {LEVEL:g} after"
            " Holm's correction over its runs)."
        )
    if found.partial:
        note += f" Not in all sets, and without a mean: {', '.join(found.partial)}."
    return note


def _measures(first: str) -> list[str]:
    return [first, *(name for name in MEASURES if name != first)]


def _best(places: Sequence[Place] | Sequence[MeanPlace], measures: Sequence[str]) -> dict[str, str]:
    return {name: max((share(place.means[name]) for place in places), default="") for name in measures}


def _page(found: Leaderboard | SetsLeaderboard, boards: Sequence[Board], **values: Any) -> str:
    depth = len(boards[0].found.places[0].matches)
    return render(
        "trivium.evaluation.leaderboard",
        "leaderboard",
        found=found,
        boards=boards,
        measures=_measures(found.measure),
        ranks=SHOWN_RANKS,
        columns=[Tick(_across(rank, depth), str(rank)) for rank in (1, *range(5, depth + 1, 5))],
        levels=[Tick(_up(tenths / 10), f"{tenths / 10:.1f}") for tenths in range(0, 11, 2)],
        size=(_WIDTH, _HEIGHT),
        left=_LEFT,
        share=share,
        chance=chance,
        marks=(BETTER, WORSE),
        level=LEVEL,
        resamples=RESAMPLES,
        **values,
    )


def _points(matches: Sequence[float]) -> str:
    depth = len(matches)
    return " ".join(f"{_across(rank, depth)},{_up(value)}" for rank, value in enumerate(matches, start=1))


def _across(rank: int, depth: int) -> float:
    return round(_LEFT + (_WIDTH - _LEFT - 12) * (rank - 1) / max(depth - 1, 1), 1)


def _up(value: float) -> float:
    return round(_TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - value), 1)
