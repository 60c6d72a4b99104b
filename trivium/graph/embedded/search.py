"""Vector reads on one generation: nearest nodes, chunks reached from them, similarities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from trivium.graph.arrays import Rows
from trivium.graph.embedded.generation import Generation
from trivium.graph.embedded.matrix import promising
from trivium.graph.embedded.near import EXACT_BELOW
from trivium.graph.embedded.topology import Nodes
from trivium.graph.records import Floats, Reached, Similarities, Vectors, rank_key, round_score
from trivium.graph.schema import Hop, Label

INDEX_NEIGHBOURS = 100
"""Candidates asked for at least, which are then ordered by their exact cosines."""
_ROUNDING = 2e-6
"""Two cosines further apart than this keep their order when rounded to 6 significant digits."""


@dataclass(frozen=True, slots=True)
class Found:
    """A node near a vector."""

    label: Label
    row: int
    uri: str
    score: float


def nearest(
    generation: Generation, labels: Sequence[Label], vector: Vectors, k: int, *, exact: bool
) -> list[Found]:
    """The k nearest nodes of any of the labels, in the order of :func:`rank_key`."""
    wanted = dict.fromkeys(labels)
    if Label.ENTITY in wanted:
        wanted.pop(Label.PAGE, None)  # pages are entities: each node once
    found: list[Found] = []
    for label in wanted:
        nodes = generation.topology.nodes[label]
        rows = _candidates(generation, label, nodes, vector, k, exact=exact)
        scores = generation.matrix.cosines(nodes.vector[rows], vector)
        rows, scores = _leading(rows, scores, k)
        found.extend(
            Found(label, row, nodes.uris[row], score)
            for row, score in zip(rows.tolist(), scores.tolist(), strict=True)
        )
    found.sort(key=lambda node: rank_key(node.score, node.uri))
    return found[: max(k, 0)]


def _candidates(
    generation: Generation, label: Label, nodes: Nodes, vector: Vectors, k: int, *, exact: bool
) -> Rows:
    """Rows of nodes among which the k nearest are. Several views of one question ask for them, so the last few
    answers are kept."""
    if k <= 0:
        return np.empty(0, dtype=np.int64)
    asked = max(k, INDEX_NEIGHBOURS)
    # The count is part of the key: a wider search finds other neighbours, and an answer may not depend on what
    # was asked before.
    key = (label, exact, asked, vector.tobytes())
    rows = generation.recent.get(key)
    if rows is None:
        rows = _find_candidates(generation, label, nodes, vector, asked, exact=exact)
        generation.keep(key, rows)
    return rows


def _find_candidates(
    generation: Generation, label: Label, nodes: Nodes, vector: Vectors, k: int, *, exact: bool
) -> Rows:
    index = generation.near.get(label)
    if index is not None and not exact:
        return index.search(nodes, vector, k)
    rows = generation.embedded_rows(label)
    if len(rows) < EXACT_BELOW:
        return rows[promising(generation.small_matrix(label), None, vector, k)]
    return rows[promising(generation.matrix.values, nodes.vector[rows], vector, k)]


def _leading(rows: Rows, scores: Floats, k: int) -> tuple[Rows, Floats]:
    """Those that can be among the first k once scores are rounded."""
    if k >= len(rows) or len(rows) == 0:
        return rows, scores
    least = np.partition(scores, len(scores) - k)[len(scores) - k]
    kept = scores >= least - _ROUNDING
    return rows[kept], scores[kept]


def chunks_along(generation: Generation, label: Label, row: int, hop: Hop) -> Rows:
    """Rows of the chunks along a hop from a node, by page and position."""
    topology = generation.topology
    if hop is Hop.CITED_IN:
        if label is Label.PAGE:
            label, row = Label.ENTITY, int(topology.page_entity[row])
        if label is Label.ENTITY:
            citing: Rows = topology.cited_in.row(row).astype(np.int64)
            return citing
    elif label is Label.SUBCHAPTER:
        if hop is Hop.CHILD:
            chunks: Rows = topology.page_chunks.row(int(topology.section_page[row])).astype(np.int64)
            children: Rows = chunks[topology.section[chunks] == row]
            return children
    elif label in (Label.PAGE, Label.ENTITY):
        if label is Label.ENTITY:
            row = generation.page_of_entity(row)
        if row >= 0:
            chunks = topology.page_chunks.row(row).astype(np.int64)
            return chunks[topology.section[chunks] < 0] if hop is Hop.CHILD else chunks
    return np.empty(0, dtype=np.int64)


def expand_nearest(
    generation: Generation,
    labels: Sequence[Label],
    vector: Vectors,
    count: int,
    hop: Hop,
    limit: int | None,
    *,
    exact: bool,
) -> list[Reached]:
    """Chunks along a hop from the nearest nodes; see :meth:`trivium.graph.protocols.GraphStore.expand_nearest`.

    Nodes are taken best first. Once better nodes have filled the list the chunks of worse ones are not looked
    at, and of a popular entity only the chunks that can make the cut are put in order one by one.
    """
    nodes = nearest(generation, labels, vector, count, exact=exact)
    chunks = generation.topology.nodes[Label.CHUNK]
    seen = np.zeros(len(chunks.ids), dtype=bool)
    result: list[Reached] = []
    for _, tied in groupby(nodes, key=lambda node: round_score(node.score)):
        left = math.inf if limit is None else limit - len(result)
        if left <= 0:
            break
        rows, sources = [], []
        group = list(tied)
        for number, node in enumerate(group):
            some = chunks_along(generation, node.label, node.row, hop)
            some = some[~seen[some]]
            seen[some] = True
            rows.append(some)
            sources.append(np.full(len(some), number))
        row, source = np.concatenate(rows), np.concatenate(sources)
        cosine = generation.matrix.cosines(chunks.vector[row], vector)
        kept = _leading(
            np.arange(len(row)), np.where(np.isnan(cosine), -np.inf, cosine), int(min(left, len(row)))
        )[0]
        result.extend(_ordered(generation, group, row[kept], source[kept], cosine[kept]))
    return result if limit is None else result[: max(limit, 0)]


def _ordered(
    generation: Generation, nodes: Sequence[Found], row: Rows, source: Rows, cosine: Floats
) -> list[Reached]:
    """Chunks by own cosine (those without a vector last), position, uri."""
    uris = generation.topology.nodes[Label.CHUNK].uris
    positions = generation.topology.position[row].tolist()
    reached = [
        Reached(uris[r], nodes[v].uri, nodes[v].score, c, p)
        for r, v, c, p in zip(row.tolist(), source.tolist(), cosine.tolist(), positions, strict=True)
    ]
    reached.sort(
        key=lambda r: (math.inf if math.isnan(r.cosine) else -round_score(r.cosine), r.position, r.uri)
    )
    return reached


def similarities(generation: Generation, vector: Vectors, uris: Sequence[str]) -> Similarities:
    """Cosines of chunks in every view, NaN where there is none."""
    topology, matrix = generation.topology, generation.matrix
    nodes = topology.nodes
    rows = nodes[Label.CHUNK].uris.find_all(uris)
    known = np.flatnonzero(rows >= 0)
    row = rows[known]
    views = np.full((4, len(uris)), np.nan)
    if len(row):
        page, section = topology.page[row], topology.section[row]
        views[0, known] = matrix.cosines(nodes[Label.CHUNK].vector[row], vector)
        views[2, known] = of_page = _shared(generation, nodes[Label.PAGE].vector[page], vector)
        of_section = np.where(section < 0, -1, section)
        sections = nodes[Label.SUBCHAPTER].vector
        vectors = sections[of_section] if len(sections) else np.full(len(row), -1, dtype=np.int64)
        vectors = np.where(section < 0, -1, vectors)
        views[1, known] = np.where(section < 0, of_page, _shared(generation, vectors, vector))
        views[3, known] = _best_cited(generation, row, vector)
    return Similarities(*views)


def _best_cited(generation: Generation, chunks: Rows, vector: Vectors) -> Floats:
    """The highest cosine among the entities each chunk cites."""
    entities, counts = generation.topology.cites.rows(chunks)
    scores = _shared(generation, generation.topology.nodes[Label.ENTITY].vector[entities], vector)
    best = np.full(len(chunks), np.nan)
    citing = np.flatnonzero(counts)
    if len(citing):
        starts = (np.cumsum(counts) - counts)[citing]
        best[citing] = np.fmax.reduceat(scores, starts)
    return best


def _shared(generation: Generation, vectors: Rows, vector: Vectors) -> Floats:
    """Cosines of matrix rows, each distinct row gathered once."""
    distinct, back = np.unique(vectors, return_inverse=True)
    return generation.matrix.cosines(distinct, vector)[back]
