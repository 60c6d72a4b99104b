"""Why a passage stands where it stands, in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_FOR, _AGAINST = 3, 2
"""How many views a sentence names at most on either side."""
_WORTH_NAMING = 0.1
"""Views that moved less than this share of what the strongest did are not named."""


@dataclass(frozen=True, slots=True)
class View:
    """One retriever on two passages, the gold and its rival: their places in its list (None: not in it). Without
    ``known`` there is no list to look in."""

    name: str
    gold: int | None
    rival: int | None
    known: bool = True


@dataclass(frozen=True, slots=True)
class Shares:
    """What each retriever added to the scores of the gold and of its rival in a fused row; ``gold`` is None where the
    gold was not among the candidates."""

    gold: Mapping[str, float] | None
    rival: Mapping[str, float]


def ordinal(rank: int) -> str:
    """A rank as it is said.

    >>> [ordinal(rank) for rank in (1, 2, 3, 4, 11, 12, 13, 21, 102, 112)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '102nd', '112th']
    """
    ending = "th" if rank % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{ending}"


def placed(
    what: str, first: tuple[str, int | None], second: tuple[str, int | None], views: Sequence[View]
) -> str:
    """Where two rows put a gold passage.

    >>> placed("the gold", ("vector", 12), ("default", 1), [])
    'default puts the gold 1st, vector 12th.'
    """
    (one, was), (other, now) = first, second
    if was is None and now is None:
        unseen = ": no view returned it" if views and all(view.gold is None for view in views) else ""
        return f"Neither {one} nor {other} finds {what}{unseen}."
    if now is None or was is None:
        finder, rank, misser = (one, was, other) if now is None else (other, now, one)
        return f"{finder} puts {what} {ordinal(rank or 0)}, {misser} does not find it."
    return f"{other} puts {what} {ordinal(now)}, {one} {ordinal(was)}."


def by_rank(views: Sequence[View]) -> str:
    """Which views returned the gold, and where.

    >>> by_rank([View("vector", 40, 1), View("page", None, 2), View("lexical", 2, 9)])
    'lexical put it 2nd and vector 40th; page did not return it.'
    """
    ranks = sorted((view.gold, view.name) for view in views if view.gold is not None)
    missing = [view.name for view in views if view.gold is None]
    if not ranks:
        return ""
    found = [f"{name} put it {ordinal(rank)}" for rank, name in ranks[:1]]
    found += [f"{name} {ordinal(rank)}" for rank, name in ranks[1:]]
    return listed(found) + (f"; {listed(missing)} did not return it." if missing else ".")


def by_share(row: str, rival: str, views: Sequence[View], shares: Shares) -> str:
    """Which views moved the gold past its rival or held it back, the strongest first.

    >>> views = [View("vector", 40, 1), View("lexical", 2, None)]
    >>> by_share("default", "Mars", views, Shares({"vector": -0.1, "lexical": 0.9}, {"vector": 0.4, "lexical": 0.1}))
    'In default, lexical (2nd, +0.80) spoke for it against Mars; vector (40th, -0.50) against it.'
    """
    if shares.gold is None:
        return f"{row} could not rank it: none of its retrievers returned it."
    ranks = {
        view.name: "not in its list, " if view.gold is None else f"{ordinal(view.gold)}, "
        for view in views
        if view.known
    }
    moved = {name: shares.gold[name] - shares.rival[name] for name in shares.gold}
    least = _WORTH_NAMING * max(map(abs, moved.values()), default=0.0)
    named = [name for name in moved if moved[name] and abs(moved[name]) >= least]
    named.sort(key=lambda name: -abs(moved[name]))
    said = {name: f"{name} ({ranks.get(name, '')}{signed(moved[name])})" for name in named}
    pro = [said[name] for name in named if moved[name] > 0][:_FOR]
    contra = [said[name] for name in named if moved[name] < 0][:_AGAINST]
    if pro and contra:
        return f"In {row}, {listed(pro)} spoke for it against {rival}; {listed(contra)} against it."
    if pro:
        return f"In {row}, {listed(pro)} spoke for it against {rival}."
    if contra:
        return f"In {row}, {listed(contra)} spoke for {rival} instead."
    return f"In {row} no view tells it from {rival}."


def listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def signed(value: float) -> str:
    """A contribution with its sign, to two decimals.

    >>> signed(0.126), signed(-0.001)
    ('+0.13', '+0.00')
    """
    return f"{round(value, 2) + 0.0:+.2f}"
