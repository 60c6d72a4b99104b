"""Link-based signals: entities named in the question, what they link to, and what linked candidates mention together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.common.ragged import expand_ranges
from trivium.graph.records import Adjacency, Floats
from trivium.retrievers.base import Query

LARGEST_PAGE = 500
"""Maximum number of chunks of a named page whose links are followed."""

_OF_PAIRS = (
    "linking",
    "linked",
    "linking_lexical",
    "linked_lexical",
    "linking_coverage",
    "linked_coverage",
    "linking_union",
    "linked_union",
    "union",
)

Rows = NDArray[np.int64]


def of_links(
    query: Query,
    chunks: Sequence[str],
    titles: Sequence[str],
    cosines: Floats,
    lexical: Floats,
    mentioned: Floats,
) -> dict[str, Floats]:
    """Return the link-based signals of chunks on the pages ``titles``. ``cosines`` and ``lexical`` (n,) are their
    scores. ``mentioned`` (n, t) holds each term's share of the question where the chunk contains it, else 0.
    """
    graph = query.adjacency
    offset = len(graph.chunks)
    named = query.named_rows
    row_of = {title: graph.entity_rows.get(title, -1) for title in dict.fromkeys(titles)}
    pages = np.array([row_of[title] for title in titles], dtype=np.int64)
    citing, cited = _citations(graph, query.chunk_rows(chunks), pages)
    is_named = _mask(graph, named)
    nodes = np.where(pages >= 0, offset + pages, 0)
    degrees = np.where(pages >= 0, graph.indptr[nodes + 1] - graph.indptr[nodes], np.nan)
    return {
        "page_named": is_named[pages].astype(np.float64),
        "cites_named": np.bincount(citing[is_named[cited]], minlength=len(chunks)).astype(np.float64),
        "from_named": _mask(graph, _cited_on(graph, named))[pages].astype(np.float64),
        "in_degree": np.log1p(degrees),
        "out_degree": np.log1p(np.bincount(citing, minlength=len(chunks))),
        **_of_pairs(*_links_among(pages, citing, cited), cosines, lexical, mentioned),
    }


def _mask(graph: Adjacency, entities: Rows) -> NDArray[np.bool_]:
    """Return a mask over entity numbers. Its last element, which index -1 refers to, is False and stands for no
    entity.
    """
    mask = np.zeros(len(graph.entities) + 1, dtype=np.bool_)
    mask[entities] = True
    return mask


def _of_pairs(
    citing: Rows, there: Rows, cosines: Floats, lexical: Floats, mentioned: Floats
) -> dict[str, Floats]:
    """For each candidate, the best scores among the candidates that link to its page and among those on pages it
    links to, and what such a pair mentions together. Link k leads from row ``citing[k]`` to row ``there[k]``.
    """
    from trivium.retrievers.link_loops import best_of_pairs  # loads numba, see trivium.common.compiled

    coverage = mentioned.sum(axis=1)
    together = np.maximum(mentioned[citing], mentioned[there]).sum(axis=1)
    best, links = best_of_pairs(citing, there, np.column_stack([cosines, lexical, coverage]), together)
    signals = dict(zip(_OF_PAIRS, best, strict=True))
    return {**signals, "union_gain": signals["union"] - coverage, "links": links}


def _citations(graph: Adjacency, rows: Rows, pages: Rows) -> tuple[Rows, Rows]:
    """Return candidate numbers, ascending, and the numbers of the entities they cite, without their own pages.
    ``rows`` are the chunks' rows in the graph and ``pages`` their pages' entity numbers, -1 for missing ones.
    """
    starts = np.where(rows >= 0, graph.indptr[rows], 0)
    lengths = np.where(rows >= 0, graph.indptr[rows + 1], 0) - starts
    citing, places = expand_ranges(starts, lengths)
    cited = graph.indices[places].astype(np.int64) - len(graph.chunks)
    other = cited != pages[citing]
    return citing[other], cited[other]


def _links_among(pages: Rows, citing: Rows, cited: Rows) -> tuple[Rows, Rows]:
    """Return the pairs of candidates of which the first links to the page of the second, each pair once."""
    order = np.argsort(pages, kind="stable")
    starts, ends = (np.searchsorted(pages[order], cited, side) for side in ("left", "right"))
    citation, places = expand_ranges(starts, ends - starts)
    return citing[citation], order[places]


def _cited_on(graph: Adjacency, pages: Rows) -> Rows:
    """Return the numbers of the entities linked to chunks of the pages."""
    found: list[Rows] = [np.empty(0, dtype=np.int64)]
    for start, end in graph.own_chunks[len(graph.chunks) + pages].tolist():
        end = min(end, start + LARGEST_PAGE)
        linked = graph.indices[graph.indptr[start] : graph.indptr[end]]
        found.append(linked.astype(np.int64) - len(graph.chunks))
    return np.concatenate(found)
