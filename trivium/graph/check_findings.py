"""What a check of a store finds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

PAGES = "page"
"""Kind of findings of damaged pages, which only their sources can repair; ``where`` has their uris."""
VECTORS = "vector"
"""Kind of findings of damaged vectors. A repair drops them, so that they are pending."""


class Severity(StrEnum):
    """How bad a finding is."""

    BROKEN = "broken"
    """The store cannot be read: nothing that depends on it was looked at."""
    DAMAGE = "damage"
    """Something is not what was written, or breaks a rule of the graph: answers may be wrong."""
    STALE = "stale"
    """Something derived is damaged, and can be made again at any time."""
    NOTE = "note"
    """Nothing is wrong; something could not be checked, or is still to be done."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of trouble. ``kind`` is a short name of it; ``where`` names all that it was found in (uris, files);
    ``remedy`` says what to do about it. With ``repairable`` a repair deals with it: ``keys`` tells the store how."""

    kind: str
    severity: Severity
    problem: str
    where: tuple[str, ...] = ()
    remedy: str = ""
    repairable: bool = False
    keys: tuple[Any, ...] = ()


def damaged_pages(problem: str, pages: Iterable[str]) -> Finding:
    """Pages that are not what was written, or break a rule."""
    return Finding(
        kind=PAGES,
        severity=Severity.DAMAGE,
        problem=problem,
        where=tuple(pages),
        remedy="run a repair, then load these pages again (trivium add SOURCE); or restore a backup",
    )


def damaged_titles(problem: str, titles: Iterable[str]) -> Finding:
    """Titles, types or links that belong to no page alone, so that no single document can replace them."""
    return Finding(
        kind="title",
        severity=Severity.DAMAGE,
        problem=problem,
        where=tuple(titles),
        remedy="restore a backup, or build the store again",
    )


def wrong_vectors(problem: str, where: Iterable[str], keys: Sequence[Any], kind: str = VECTORS) -> Finding:
    """Vectors that are not those of their texts."""
    return Finding(
        kind, Severity.DAMAGE, problem, tuple(where), "a repair embeds the texts again", True, tuple(keys)
    )


def unmentioned(kind: str, problem: str, where: Iterable[str], keys: Sequence[Any] = ()) -> Finding:
    """Nodes that nothing mentions, or that lead nowhere."""
    remedy = "a repair puts titles right and removes what nothing mentions"
    return Finding(kind, Severity.DAMAGE, problem, tuple(where), remedy, True, tuple(keys))


def stale_derived(kind: str, problem: str, where: Iterable[str], keys: Sequence[Any] = ()) -> Finding:
    """Something that follows from the pages and is not as it should be."""
    return Finding(
        kind, Severity.STALE, problem, tuple(where), "a repair makes them again", True, tuple(keys)
    )
