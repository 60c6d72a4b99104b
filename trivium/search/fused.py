"""Candidates of a question with their fused scores. The number of hits requested changes neither scores nor order.

A fusion compares candidates with each other, so a score depends on the set of candidates. Candidates are therefore
scored in rounds: first those in lists of length :data:`~trivium.search.candidates.DEPTH`, which is enough for most
searches. When more are requested, the retrievers are asked for longer lists; the candidates that these add are
appended and the earlier ones keep their scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats
from trivium.fusion.table import Fused, Fusion, Table, joined
from trivium.retrievers.query import Query, Retriever
from trivium.search.candidates import gather
from trivium.search.fusions import inputs_of
from trivium.search.stages import StageObserver, ignore_stages, observed
from trivium.text.folding import tokens
from trivium.text.identifiers import identifiers_of

DEEPER = 4
"""Factor by which the lists grow in each round. It is constant because rounds must not depend on the number of hits
requested.
"""
STEP = 1e-3
"""Minimum difference between the last score of one round and the first of the next."""


def fuse_candidates(
    query: Query,
    retrievers: Mapping[str, Retriever],
    fusion: Fusion,
    count: int,
    on_stage: StageObserver = ignore_stages,
    recall: Query | None = None,
) -> tuple[Table, Fused]:
    """Return at least ``count`` candidates, or all that the retrievers find, with their fused scores.

    Ordered by score, the candidates for a small ``count`` are a prefix of those for a larger one. Candidates of a
    later round have the scores that the fusion gives them within that round, minus a constant when needed so that
    they all rank below the earlier rounds.
    """

    inputs = inputs_of(fusion)
    signals = inputs.signals if fusion.needs_signals else None

    def of_lists(depth: int) -> Table:
        return gather(query, retrievers, depth, signals=signals, recall=recall, on_stage=on_stage)

    table = of_lists(inputs.depth)
    with observed(on_stage, "fuse"):
        fused = _lifted(query, table, fusion.fuse(table))
    deepest, depth = table, inputs.depth
    while len(table.chunks) < count and _may_find_more(deepest, depth):
        depth *= DEEPER
        deepest = of_lists(depth)
        known = set(table.chunks)
        new = [row for row, uri in enumerate(deepest.chunks) if uri not in known]
        if new:
            with observed(on_stage, "fuse"):
                fused = _behind(fused, fusion.fuse(deepest), new, len(table.columns))
            table = joined(table, deepest.take(new))
    return table, fused


def _lifted(query: Query, table: Table, fused: Fused) -> Fused:
    """Raise passages above all others that alone have an identifier of the question, or that have the code or unit that
    is the whole question (``m²``). The explanation counts what was added as the first retriever's of words.
    """
    having = _decided(query, table) if table.chunks else np.zeros(0, dtype=bool)
    if not having.any() or having.all():
        return fused
    missing = float(fused.scores[~having].max() - fused.scores[having].min()) + STEP
    added = np.where(having, max(0.0, missing), 0.0)
    column = table.columns.index("lexical") if "lexical" in table.columns else 0

    def explain(rows: Sequence[int]) -> Floats:
        shares = np.array(fused.explain(rows), dtype=np.float64)
        shares[:, column] += added[list(rows)]
        return shares

    return Fused(fused.scores + added, explain, fused.baseline)


def _decided(query: Query, table: Table) -> NDArray[np.bool_]:
    """Which candidates (n,) have an identifier of the question that no other passage has (of one of several words: no
    other candidate), or that is the whole question.
    """
    decided = np.zeros(len(table.chunks), dtype=bool)
    asked = identifiers_of(query.text, query.analyzer)
    terms = query.terms if asked else []
    if not terms:
        return decided
    frequency = query.term_statistics.document_frequency
    places = {term: place for place, term in enumerate(terms)}
    counts = query.term_counts(table.chunks)
    has = (counts.text + counts.headings) > 0
    is_whole = len(tokens(query.text)) == 1
    for identifier in asked:
        whole = [places[term] for term in identifier.whole if term in places]
        parts = [places[term] for term in identifier.parts if term in places]
        rows = has[:, whole].any(axis=1)
        if parts and len(parts) == len(identifier.parts):
            rows |= has[:, parts].all(axis=1)
        is_several = len(identifier.whole if whole else identifier.parts) > 1
        is_one = is_several or (frequency[whole or parts] == 1).any()
        if is_whole or (is_one and rows.sum() == 1):
            decided |= rows
    return decided


def _may_find_more(table: Table, depth: int) -> bool:
    """Whether some retriever's list reached the maximum length."""
    return bool((table.ranks >= depth).any())


def _behind(first: Fused, later: Fused, new: Sequence[int], columns: int) -> Fused:
    """Combine the scores of ``first`` with those of the rows ``new`` of ``later``.

    The baseline is that of ``first``. Its difference to the baseline of ``later``, and the constant subtracted from
    the new rows, are distributed evenly over all columns of the explanation.
    """
    known = len(first.scores)
    limit = float(first.scores.min()) - STEP if known else np.inf
    lowered = max(0.0, float(later.scores[list(new)].max()) - limit)

    def explain(rows: Sequence[int]) -> Floats:
        shares = np.zeros((len(rows), columns))
        old = [place for place, row in enumerate(rows) if row < known]
        added = [place for place, row in enumerate(rows) if row >= known]
        if old:
            shares[old] = first.explain([rows[place] for place in old])
        if added:
            own = later.explain([new[rows[place] - known] for place in added])
            shares[added] = own + (later.baseline - first.baseline - lowered) / columns
        return shares

    scores = np.concatenate([first.scores, later.scores[list(new)] - lowered])
    return Fused(scores, explain, first.baseline)
