"""A hit as JSON: the same fields through every door, a contract with programs outside."""

from __future__ import annotations

from typing_extensions import TypedDict  # the server's schemas take the one of typing from Python 3.12 on

from trivium.types import Hit


class HitFields(TypedDict):
    """A passage as every door gives it."""

    uri: str
    text: str
    score: float
    rank: int
    page: str
    section: str
    kind: str
    start: int
    end: int
    contributions: dict[str, float]
    provenance: dict[str, str]
    baseline: float
    probability: float | None


def hit_json(hit: Hit) -> HitFields:
    """A hit with every field of the contract."""
    return {
        "uri": hit.uri,
        "text": hit.text,
        "score": hit.score,
        "rank": hit.rank,
        "page": hit.page,
        "section": hit.section,
        "kind": hit.kind,
        "start": hit.start,
        "end": hit.end,
        "contributions": dict(hit.contributions),
        "provenance": dict(hit.provenance),
        "baseline": hit.baseline,
        "probability": hit.probability,
    }
