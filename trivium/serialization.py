"""A hit as JSON: the same fields everywhere, a contract with other programs; and hits as a pandas DataFrame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from typing_extensions import TypedDict  # the server's schemas take the one of typing from Python 3.12 on

from trivium.common.frames import data_frame
from trivium.types import Hit

if TYPE_CHECKING:
    from pandas import DataFrame


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


def to_pandas(hits: Iterable[Hit]) -> DataFrame:
    """Hits as a DataFrame: a line each, in their order, with the fields of :func:`hit_json` as columns.

    What is by retriever has a column for each retriever: ``contributions.vector``, ``provenance.walk`` ...; NaN where a
    retriever did not return the hit. Raises MissingExtraError without pandas (``pip install 'trivium[pandas]'``).
    """
    columns = [name for name in HitFields.__annotations__ if name not in ("contributions", "provenance")]
    return data_frame((_flat(hit_json(hit)) for hit in hits), columns)


def _flat(fields: Mapping[str, object]) -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, value in fields.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{retriever}": part for retriever, part in value.items()}
        else:
            flat[name] = value
    return flat
