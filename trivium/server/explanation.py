"""Why a passage has its rank."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from trivium.engine import Engine
from trivium.graph.filters import Where, parse
from trivium.graph.records import ChunkRecord, round_score
from trivium.retrievers.setting_values import SettingValues
from trivium.search.drawing import Drawing, way_to
from trivium.search.ranking import order
from trivium.search.searcher import Scored
from trivium.types import GraphPath


@dataclass(frozen=True, slots=True)
class View:
    """What one retriever makes of a passage: its ``rank`` in the retriever's own list (from 1; None: not in it), its
    ``score`` there (None: the view has none for it), what it ``contributed`` to the fused score, and the node that led
    to it (``source_node``; empty: found by itself). Where that is a path through the graph, ``path`` has its parts."""

    rank: int | None
    score: float | None
    contributed: float | None
    source_node: str | None
    path: GraphPath | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """A passage of a question's ranking. ``candidate`` says whether any retriever found it; if none did, there is no
    score and no rank. Where ``log_odds`` is set the score is one, 0 where a passage is as likely right as wrong.
    ``baseline``, the score of an average candidate, and the contributions add up to ``score``."""

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


def explain(
    engine: Engine,
    question: str,
    uri: str,
    k: int,
    retrievers: Sequence[str] | None,
    fusion: str | None,
    *,
    settings: SettingValues | None = None,
    where: Where | None = None,
    recall: str | None = None,
) -> Explanation:
    """Explain the place of a chunk in what a search with the same arguments ranks. Raises StoreChangedError for an
    unknown chunk, and what the search raises."""
    with engine.store.pinned() as pinned:
        store = pinned if where is None else pinned.within(parse(where))
        (record,) = store.fetch([uri])
        scored = engine.searcher.score(
            question, k, retrievers, fusion, settings=settings, store=store, recall=recall
        )
        return _explained(scored, record)


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
    """Score, rank, what each view added, and the baseline."""
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
