"""Results as JSON, with the same fields in every interface as a stable contract, and hits as a pandas DataFrame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal, cast

from typing_extensions import TypedDict

from trivium.answering.answer_layout import as_markdown
from trivium.errors import MissingExtraError
from trivium.types import Answer, Citation, Hit, LiveOrigin

if TYPE_CHECKING:
    from pandas import DataFrame

    from trivium.graph.records import StoreInfo
    from trivium.index.load_questions import QuestionReport
    from trivium.index.load_report import IngestReport


def data_frame(rows: Iterable[Mapping[str, object]], columns: Sequence[str] = ()) -> DataFrame:
    """Create a DataFrame with one line per row; the named ``columns`` come first, then the others in order of first
    appearance. Missing values are NaN. Raises MissingExtraError without pandas.
    """
    try:
        import pandas
    except ImportError as error:
        raise MissingExtraError("a data frame", "pandas") from error
    listed = [dict(row) for row in rows]
    names = dict.fromkeys([*columns, *(name for row in listed for name in row)])
    return pandas.DataFrame(listed, columns=list(names))


class LiveFields(TypedDict):
    """The origin of a passage from a live source."""

    source: str
    address: str
    published: str | None
    retrieved: str


class HitFields(TypedDict):
    """A passage, as returned by every interface."""

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
    document: str
    pages: list[int]
    format: str
    metadata: dict[str, str | int | float | bool]
    live: LiveFields | None
    rerank_score: float | None
    named: list[str]


def hit_json(hit: Hit) -> HitFields:
    """Convert a hit, with every field of the contract."""
    fields = {name: getattr(hit, name) for name in HitFields.__annotations__}
    fields |= {name: dict(fields[name]) for name in ("contributions", "provenance", "metadata")}
    fields |= {name: list(fields[name]) for name in ("pages", "named")}
    return cast(HitFields, {**fields, "live": None if hit.live is None else asdict(hit.live)})


def citation_json(citation: Citation) -> dict[str, Any]:
    """Convert a citation."""
    return {**asdict(citation), "pages": list(citation.pages)}


def hit_of(fields: HitFields) -> Hit:
    """Return the hit that :func:`hit_json` has converted."""
    given: dict[str, Any] = {**fields, "pages": tuple(fields["pages"]), "named": tuple(fields["named"])}
    if fields["live"] is not None:
        given["live"] = LiveOrigin(**fields["live"])
    return Hit(**given)


def scale_of(hits: Sequence[Hit]) -> Literal["log-odds", "own"]:
    """Return the scale of the scores of hits: log-odds (0: as likely relevant as not), or a scale of their own."""
    return "own" if any(hit.probability is None for hit in hits) else "log-odds"


def to_pandas(hits: Iterable[Hit]) -> DataFrame:
    """Convert hits to a DataFrame with one row per hit, in their order, and the fields of :func:`hit_json` as columns.

    Values by retriever become one column per retriever (``contributions.vector``, ``provenance.walk`` ...), NaN if it
    did not return the hit. The same holds for metadata (``metadata.year`` ...) and the origin of live passages
    (``live.address`` ...). Raises MissingExtraError without pandas (``pip install 'trivium[pandas]'``).
    """
    by_name = ("contributions", "provenance", "metadata", "live")
    columns = [name for name in HitFields.__annotations__ if name not in by_name]
    return data_frame((_flat(hit_json(hit)) for hit in hits), columns)


def _flat(fields: Mapping[str, object]) -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, value in fields.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{retriever}": part for retriever, part in value.items()}
        elif name != "live":
            flat[name] = value
    return flat


def answer_json(
    answer: Answer,
    of_hit: Callable[[Hit], object] = hit_json,
    of_citation: Callable[[Citation], object] = citation_json,
) -> dict[str, Any]:
    """Convert an answer, with every field; hits and citations by the functions given.
    ``answer`` is its text, ``markdown`` the same with tables, lists and code as such.
    """
    return {
        "question": answer.question,
        "intent": answer.intent,
        "searched_for": answer.searched_for,
        "recall_query": answer.recall_query,
        "outcome": answer.outcome,
        "answer": answer.text,
        "markdown": as_markdown(answer),
        "form": answer.form,
        "parts": [{**asdict(part), "cells": [list(cell) for cell in part.cells]} for part in answer.parts],
        "confidence": answer.confidence,
        "disagreements": [asdict(other) for other in answer.disagreements],
        "statements": [
            {
                "text": answer.text[s.start : s.end],
                **asdict(s),
                "citations": list(s.citations),
                "attribution": [asdict(way) for way in s.attribution],
            }
            for s in answer.statements
        ],
        "citations": [of_citation(citation) for citation in answer.citations],
        "passages": [of_hit(hit) for hit in answer.passages],
        "model": answer.model,
        "usage": asdict(answer.usage),
        "sources": [asdict(outcome) for outcome in answer.sources],
        "warnings": list(answer.warnings),
    }


def info_json(info: StoreInfo) -> dict[str, Any]:
    """Convert the counts of a store."""
    identity = info.embedder
    return {
        "store": info.location,
        "schema_version": info.schema_version,
        "nodes": dict(info.nodes),
        "relationships": dict(info.relationships),
        "aliases": info.aliases,
        "embedder": None if identity is None else identity.name,
        "embedder_version": None if identity is None else identity.version,
        "dimension": None if identity is None else identity.dimension,
        "embedded": info.embedded,
        "to_embed": info.to_embed,
        "chunker": info.chunker,
    }


def load_json(report: IngestReport, info: StoreInfo, seconds: float) -> dict[str, Any]:
    """Convert the report of a load that took ``seconds``, with the counts of the store after it."""
    return {**report_json(report), "seconds": round(seconds, 3), **info_json(info)}


def report_json(report: IngestReport) -> dict[str, Any]:
    """Convert the report of a load."""
    return {
        "pages": {
            "added": report.added,
            "replaced": report.replaced,
            "unchanged": report.unchanged,
            "relinked": report.relinked,
            "skipped": len(report.skipped),
            "removed": len(report.removed),
        },
        "skipped": list(report.skipped),
        "removed": list(report.removed),
        "replaced": list(report.changed),
        "duplicates": [asdict(copy) for copy in report.duplicates],
        "problems": [{"location": p.location, "reason": p.reason} for p in report.problems],
        "problems_left_out": report.unlisted,
        "incomplete": [{"location": p.location, "reason": p.reason} for p in report.incomplete],
        "left_out": list(report.left_out),
        "left_out_kinds": dict(sorted(report.left_out_kinds.items())),
        "languages": dict(report.languages),
        "hints": report.hints,
        **({} if report.questions is None else {"questions": question_report_json(report.questions)}),
    }


def question_report_json(report: QuestionReport) -> dict[str, Any]:
    """Convert the report on the questions of Natural Questions rows."""
    return {
        "asked": report.asked,
        "traced": report.traced,
        "relations": report.relations,
        "changed": report.changed,
        "untraced": [{"id": u.id, "location": u.location, "reason": u.reason} for u in report.untraced],
        "untraced_left_out": report.unlisted,
    }
