"""Explains the rank of a passage."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from trivium.engine import Engine
from trivium.graph.filter_language import parse
from trivium.graph.records import ChunkRecord, round_score
from trivium.search.ranking import order
from trivium.search.requests import SearchRequest
from trivium.search.searcher import Scored
from trivium.search.subgraph_drawings import Drawing, way_to, with_types
from trivium.types import GraphPath


@dataclass(frozen=True, slots=True)
class View:
    """How one retriever sees a passage.

    - ``rank``: in the retriever's own list, from 1; None if it is not in it.
    - ``score``: in that list; None if the retriever has none for it.
    - ``contributed``: the contribution to the fused score.
    - ``source_node``: the node that led to the passage; empty if it was found directly.
    - ``path``: the parts of the path through the graph, if ``source_node`` is one.
    """

    rank: int | None
    score: float | None
    contributed: float | None
    source_node: str | None
    path: GraphPath | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of one passage. ``candidate`` is false when no retriever found it; it then has no score and no
    rank. If ``log_odds`` is set, scores are log-odds of being relevant (0: as likely relevant as not). ``score`` is the
    sum of ``baseline``, the score of an average candidate, and the contributions.
    """

    question: str
    uri: str
    candidate: bool
    rank: int | None
    score: float | None
    baseline: float | None
    log_odds: bool
    candidates: int
    contributions: dict[str, float]
    views: dict[str, View]
    graph: Drawing


def explain(engine: Engine, request: SearchRequest, uri: str) -> Explanation:
    """Explain the rank of a chunk in a search. Raises StoreChangedError for an unknown chunk, and the errors of the
    search.
    """
    with engine.store.pinned() as pinned:
        store = pinned if request.where is None else pinned.within(parse(request.where))
        (record,) = store.fetch([uri])
        explained = _explained(engine.searcher.score(request, store), record)
    return replace(explained, graph=with_types(explained.graph, engine.store))


def _explained(scored: Scored, record: ChunkRecord) -> Explanation:
    question, uri = scored.query.text, record.uri
    table = scored.table
    if uri not in table.chunks:
        nowhere = {name: View(None, None, None, None) for name in table.columns}
        graph = way_to(scored.query, record, {})
        return Explanation(
            question, uri, False, None, None, None, scored.log_odds, len(table.chunks), {}, nowhere, graph
        )
    row = table.chunks.index(uri)
    score, rank, shares, baseline = _placed(scored, row)
    nodes = table.source_nodes[row]
    views = {
        name: View(
            rank=int(table.ranks[row, column]) or None,
            score=_number(float(table.raw[row, column])),
            contributed=shares.get(name),
            source_node=None if name not in nodes else str(nodes[name]),
            path=path if isinstance(path := nodes.get(name), GraphPath) else None,
        )
        for column, name in enumerate(table.columns)
    }
    return Explanation(
        question=question,
        uri=uri,
        candidate=True,
        rank=rank,
        score=score,
        baseline=baseline,
        log_odds=scored.log_odds,
        candidates=len(table.chunks),
        contributions=shares,
        views=views,
        graph=way_to(scored.query, record, nodes),
    )


def _placed(scored: Scored, row: int) -> tuple[float, int, dict[str, float], float]:
    """Return the score, the rank, the contribution of each retriever, and the baseline."""
    table = scored.table
    if scored.fused is None:
        (name,) = table.columns
        score = round_score(float(table.raw[row, 0]))
        return score, int(table.ranks[row, 0]), {name: score}, 0.0
    fused = scored.fused
    rank = order(table.chunks, fused.scores).index(row) + 1
    (values,) = fused.explain([row]).tolist()
    return (
        round_score(float(fused.scores[row])),
        rank,
        dict(zip(table.columns, values, strict=True)),
        fused.baseline,
    )


def _number(value: float) -> float | None:
    return None if math.isnan(value) else round_score(value)
