"""Features of candidates from links and names: what links to a candidate, and what linked candidates, or those that share
an entity, mention together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats, Integers, expand_ranges
from trivium.graph.records import Adjacency
from trivium.graph.string_table import rows_of
from trivium.native.loops import loops
from trivium.retrievers.query import Query

LARGEST_PAGE = 500
"""Maximum number of chunks of a named page whose links are followed."""

MOST_SHARING = 50
"""Maximum number of passages that an entity may have for two of them to count as sharing it."""

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
"""The signals that :func:`best_of_pairs` returns, in its order."""

Rows = NDArray[np.int64]


def best_of_pairs(
    citing: Integers, there: Integers, values: Floats, together: Floats
) -> tuple[Floats, Floats]:
    """Return, for each of n candidates, the best values of those it forms a pair with, NaN where there are none, and
    the number of its pairs with others (n,).

    Pair p consists of the candidates ``citing[p]`` and ``there[p]`` and has the value ``together[p]``; ``values``
    (n, v) are those of single candidates. The result (2 v + 3, n) has two rows for each value, from those that cite a
    candidate and from those that it cites, and the best of ``together`` among the former, the latter, and all.
    """
    best, links = np.empty((2 * values.shape[1] + 3, len(values))), np.zeros(len(values))
    loops.best_of_pairs(citing, there, values, together, best, links)
    return best, links


def of_links(
    query: Query,
    chunks: Sequence[str],
    titles: Sequence[str],
    cosines: Floats,
    lexical: Floats,
    mentioned: Floats,
) -> dict[str, Floats]:
    """Return the link-based signals (n,) of n chunks. ``titles`` (n,) are those of their pages, ``cosines`` and
    ``lexical`` (n,) their scores. ``mentioned`` (n, t) holds each term's share of the question where the chunk contains
    it, else 0.
    """
    graph = query.adjacency
    offset = len(graph.chunks)
    named = query.named_rows
    pages = rows_of(graph.entity_rows, titles)
    citing, cited = _citations(graph, query.chunk_rows(chunks), pages)
    is_named = _mask(graph, named)
    sharing = _sharing(graph, is_named, pages, citing, cited)
    linked = ~graph.are_names(cited) if graph.names else slice(None)
    citing, cited = citing[linked], cited[linked]
    nodes = np.where(pages >= 0, offset + pages, 0)
    degrees = np.where(pages >= 0, graph.indptr[nodes + 1] - graph.indptr[nodes], np.nan)
    return {
        "page_named": is_named[pages].astype(np.float64),
        "cites_named": np.bincount(citing[is_named[cited]], minlength=len(chunks)).astype(np.float64),
        "from_named": _mask(graph, _cited_on(graph, named))[pages].astype(np.float64),
        "in_degree": np.log1p(degrees),
        "out_degree": np.log1p(np.bincount(citing, minlength=len(chunks))),
        **_of_pairs(*_links_among(pages, citing, cited), cosines, lexical, mentioned),
        **_of_sharing(*sharing, cosines, lexical, mentioned),
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
    best, links, coverage = _best(citing, there, cosines, lexical, mentioned)
    signals = dict(zip(_OF_PAIRS, best, strict=True))
    return {**signals, "union_gain": signals["union"] - coverage, "links": links}


def _best(
    one: Rows, other: Rows, cosines: Floats, lexical: Floats, mentioned: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return :func:`best_of_pairs` of the candidates' scores and of what each contains, and the latter (n,)."""
    coverage = mentioned.sum(axis=1)
    together = np.maximum(mentioned[one], mentioned[other]).sum(axis=1)
    return *best_of_pairs(one, other, np.column_stack([cosines, lexical, coverage]), together), coverage


def _of_sharing(
    one: Rows, other: Rows, rarity: Floats, cosines: Floats, lexical: Floats, mentioned: Floats
) -> dict[str, Floats]:
    """For each candidate, the best scores among the candidates that it shares an entity with, what such a pair mentions
    together, and the best cosine times the ``rarity`` (p,) of what is shared. Pair k is of the rows ``one[k]`` and
    ``other[k]``.
    """
    best, _, coverage = _best(one, other, cosines, lexical, mentioned)
    rarest = np.zeros(len(coverage))
    np.maximum.at(rarest, one, rarity * cosines[other])
    np.maximum.at(rarest, other, rarity * cosines[one])
    return {
        "sharing": np.fmax(best[0], best[1]),
        "sharing_lexical": np.fmax(best[2], best[3]),
        "sharing_coverage": np.fmax(best[4], best[5]),
        "sharing_union": best[8],
        "sharing_gain": best[8] - coverage,
        "sharing_rarity": rarest,
    }


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


def _sharing(
    graph: Adjacency, is_named: NDArray[np.bool_], pages: Rows, citing: Rows, cited: Rows
) -> tuple[Rows, Rows, Floats]:
    """Return the pairs of candidates of different pages that cite the same entity, once for each, and its rarity: one
    divided by the root of the number of its passages. Entities that the question names, and those of more than
    :data:`MOST_SHARING` passages, do not count.
    """
    nodes = len(graph.chunks) + cited
    passages = graph.indptr[nodes + 1] - graph.indptr[nodes]
    counted = ~is_named[cited] & (passages <= MOST_SHARING)
    citing, cited, passages = citing[counted], cited[counted], passages[counted]
    order = np.lexsort((citing, cited))
    citing, cited, passages = citing[order], cited[order], passages[order]
    following = np.arange(1, len(cited) + 1)
    first, second = expand_ranges(following, np.searchsorted(cited, cited, "right") - following)
    apart = pages[citing[first]] != pages[citing[second]]
    first, second = first[apart], second[apart]
    return citing[first], citing[second], passages[first] ** -0.5


def _cited_on(graph: Adjacency, pages: Rows) -> Rows:
    """Return the numbers of the entities linked to chunks of the pages."""
    found: list[Rows] = [np.empty(0, dtype=np.int64)]
    for start, end in graph.own_chunks[len(graph.chunks) + pages].tolist():
        end = min(end, start + LARGEST_PAGE)
        linked = graph.indices[graph.indptr[start] : graph.indptr[end]]
        found.append(linked.astype(np.int64) - len(graph.chunks))
    return np.concatenate(found)
