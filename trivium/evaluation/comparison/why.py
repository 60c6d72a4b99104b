"""Sentences that explain the rank of a gold passage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_FOR, _AGAINST = 3, 2
"""The most views a sentence names that favour the gold, and that favour its rival."""
_MIN_EFFECT = 0.1
"""A view is named when its effect is at least this share of the strongest."""


@dataclass(frozen=True, slots=True)
class View:
    """The ranks, from 1, of the gold passage and its rival in a retriever's list; None when not in the list. Without
    ``has_list`` the retriever's list is not available."""

    name: str
    gold: int | None
    rival: int | None
    has_list: bool = True


@dataclass(frozen=True, slots=True)
class Contributions:
    """The contribution of each retriever to the fused scores of the gold and of its rival. ``gold`` is None when the
    gold was not among the candidates."""

    gold: Mapping[str, float] | None
    rival: Mapping[str, float]


def ordinal(rank: int) -> str:
    """A rank as an English ordinal.

    >>> [ordinal(rank) for rank in (1, 2, 3, 4, 11, 12, 13, 21, 102, 112)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '102nd', '112th']
    """
    ending = "th" if rank % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{ending}"


def positions_sentence(
    passage: str, first: tuple[str, int | None], second: tuple[str, int | None], views: Sequence[View]
) -> str:
    """The ranks of a gold passage in two systems, each given as (name, rank or None).

    >>> positions_sentence("the gold", ("vector", 12), ("default", 1), [])
    'default ranks the gold 1st, vector 12th.'
    """
    (first_name, first_rank), (second_name, second_rank) = first, second
    if first_rank is not None and second_rank is not None:
        return f"{second_name} ranks {passage} {ordinal(second_rank)}, {first_name} {ordinal(first_rank)}."
    if first_rank is not None:
        return f"{first_name} ranks {passage} {ordinal(first_rank)}, {second_name} does not find it."
    if second_rank is not None:
        return f"{second_name} ranks {passage} {ordinal(second_rank)}, {first_name} does not find it."
    unseen = ": no view returned it" if views and all(view.gold is None for view in views) else ""
    return f"Neither {first_name} nor {second_name} finds {passage}{unseen}."


def ranks_sentence(views: Sequence[View]) -> str:
    """The views that returned the gold, with its ranks; empty when none did.

    >>> ranks_sentence([View("vector", 40, 1), View("page", None, 2), View("lexical", 2, 9)])
    'lexical ranked it 2nd and vector 40th; page did not return it.'
    """
    ranks = sorted((view.gold, view.name) for view in views if view.gold is not None)
    missing = [view.name for view in views if view.gold is None]
    if not ranks:
        return ""
    returned = [f"{name} ranked it {ordinal(rank)}" for rank, name in ranks[:1]]
    returned += [f"{name} {ordinal(rank)}" for rank, name in ranks[1:]]
    return listed(returned) + (f"; {listed(missing)} did not return it." if missing else ".")


def contributions_sentence(
    system: str, rival: str, views: Sequence[View], contributions: Contributions
) -> str:
    """The views whose contributions favour the gold over its rival, or the rival over the gold, strongest first.

    >>> views = [View("vector", 40, 1), View("lexical", 2, None)]
    >>> contributions = Contributions({"vector": -0.1, "lexical": 0.9}, {"vector": 0.4, "lexical": 0.1})
    >>> contributions_sentence("default", "Mars", views, contributions)
    'In default, lexical (2nd, +0.80) favoured it over Mars; vector (40th, -0.50) favoured Mars.'
    """
    if contributions.gold is None:
        return f"{system} could not rank it: none of its retrievers returned it."
    ranks = {
        view.name: "not in its list, " if view.gold is None else f"{ordinal(view.gold)}, "
        for view in views
        if view.has_list
    }
    effects = {name: contributions.gold[name] - contributions.rival[name] for name in contributions.gold}
    threshold = _MIN_EFFECT * max(map(abs, effects.values()), default=0.0)
    named = [name for name in effects if effects[name] and abs(effects[name]) >= threshold]
    named.sort(key=lambda name: -abs(effects[name]))
    texts = {name: f"{name} ({ranks.get(name, '')}{signed(effects[name])})" for name in named}
    pro = [texts[name] for name in named if effects[name] > 0][:_FOR]
    contra = [texts[name] for name in named if effects[name] < 0][:_AGAINST]
    if pro and contra:
        return f"In {system}, {listed(pro)} favoured it over {rival}; {listed(contra)} favoured {rival}."
    if pro:
        return f"In {system}, {listed(pro)} favoured it over {rival}."
    if contra:
        return f"In {system}, {listed(contra)} favoured {rival}."
    return f"In {system} no view separates it from {rival}."


def listed(names: Sequence[str]) -> str:
    """Names joined by commas and "and".

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
