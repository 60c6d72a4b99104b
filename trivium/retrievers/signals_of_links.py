"""Signals of links: whom the question names, who is linked from there, and what a candidate and those it is linked with
say together."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.graph.schema import page_of
from trivium.graph.store import Adjacency, Floats
from trivium.retrievers.base import Query

LARGEST_PAGE = 500
"""Chunks of a named page whose links are followed."""

Rows = NDArray[np.int64]


def of_links(
    query: Query, graph: Adjacency, chunks: Sequence[str], cosines: Floats, lexical: Floats, mentioned: Floats
) -> dict[str, Floats]:
    """``cosines`` and ``lexical`` (n,) are scores of the chunks; ``mentioned`` (n, t) is each term's share of the
    question where a chunk has it, else 0."""
    offset = len(graph.chunks)
    named = {graph.entity_rows[uri] for uri in query.named_entities if uri in graph.entity_rows}
    from_named = _cited_on(graph, [graph.entities[row] for row in named])
    pages = [graph.entity_rows.get(page_of(uri), -1) for uri in chunks]
    cited = [
        [entity for entity in _linked_with(graph, graph.chunk_rows.get(uri, -1), offset) if entity != page]
        for uri, page in zip(chunks, pages, strict=True)
    ]
    degrees = np.diff(graph.indptr)
    own = np.array(pages, dtype=np.int64)
    citing, there = _links_among(pages, cited)
    return {
        "page_named": np.array([page in named for page in pages], dtype=np.float64),
        "cites_named": np.array([sum(entity in named for entity in row) for row in cited], dtype=np.float64),
        "from_named": np.array([page in from_named for page in pages], dtype=np.float64),
        "in_degree": np.where(
            own >= 0, np.log1p(degrees[offset + own]) if len(degrees) > offset else 0, np.nan
        ),
        "out_degree": np.array([math.log1p(len(row)) for row in cited]),
        **_of_pairs(citing, there, cosines, lexical, mentioned),
    }


def _of_pairs(
    citing: Rows, there: Rows, cosines: Floats, lexical: Floats, mentioned: Floats
) -> dict[str, Floats]:
    """Of the candidates that link to a candidate's page, and of those on the pages it links to: the best of each score,
    and what they mention together with it. Link k is from row ``citing[k]`` to row ``there[k]``."""
    n = len(cosines)
    coverage = mentioned.sum(axis=1)
    together = np.maximum(mentioned[citing], mentioned[there]).sum(axis=1)
    both, other = np.concatenate([citing, there]), np.concatenate([there, citing])
    union = _best(n, both, np.concatenate([together, together]))
    return {
        "linking": _best(n, there, cosines[citing]),
        "linked": _best(n, citing, cosines[there]),
        "linking_lexical": _best(n, there, lexical[citing]),
        "linked_lexical": _best(n, citing, lexical[there]),
        "linking_coverage": _best(n, there, coverage[citing]),
        "linked_coverage": _best(n, citing, coverage[there]),
        "linking_union": _best(n, there, together),
        "linked_union": _best(n, citing, together),
        "union": union,
        "union_gain": union - coverage,
        "links": np.bincount(both[both != other], minlength=n).astype(np.float64),
    }


def _best(n: int, rows: Rows, values: Floats) -> Floats:
    """(n,) The largest value of each row, NaN for a row without."""
    best = np.full(n, -np.inf)
    np.maximum.at(best, rows, values)
    return np.where(np.isfinite(best), best, np.nan)


def _links_among(pages: Sequence[int], cited: Sequence[Sequence[int]]) -> tuple[Rows, Rows]:
    """Which candidate links to the page of which, each pair once."""
    on_page: dict[int, list[int]] = {}
    for row, page in enumerate(pages):
        if page >= 0:
            on_page.setdefault(page, []).append(row)
    pairs = [
        (row, other)
        for row, entities in enumerate(cited)
        for entity in entities
        for other in on_page.get(entity, ())
    ]
    found = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)
    return found[:, 0], found[:, 1]


def _linked_with(graph: Adjacency, chunk: int, offset: int) -> list[int]:
    """Numbers of the entities a chunk is linked with, its own page among them."""
    if chunk < 0:
        return []
    row: list[int] = (graph.indices[graph.indptr[chunk] : graph.indptr[chunk + 1]] - offset).tolist()
    return row


def _cited_on(graph: Adjacency, pages: Sequence[str]) -> set[int]:
    """Numbers of the entities that chunks of the pages are linked with."""
    found: set[int] = set()
    for page in pages:
        # Chunks are in the order of their uris, which all begin with the page's and "#", and "$" comes after "#".
        start, end = bisect_left(graph.chunks, f"{page}#"), bisect_left(graph.chunks, f"{page}$")
        end = min(end, start + LARGEST_PAGE)
        found.update((graph.indices[graph.indptr[start] : graph.indptr[end]] - len(graph.chunks)).tolist())
    return found
