"""Alternative graphs for the walk, and personalised PageRank on them by power iteration.

The package walks over unweighted edges (:class:`trivium.graph.records.Adjacency`) by forward push. Here edges are
weighted by kind, edges of frequently cited entities weigh less, and there may be sections, consecutive chunks and
relations. ``Edges()`` is the graph of the package.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from trivium.graph.protocols import GraphStore
from trivium.graph.records import Adjacency
from trivium.graph.schema import SEPARATOR, page_of, section_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Pairs = NDArray[np.int64]
"""(k, 2) numbers of joined nodes, each pair once."""

Masses = NDArray[Any]
"""(nodes, questions); columns sum to 1, or to 0 without seeds."""


@dataclass(frozen=True, slots=True)
class Edges:
    """Kinds of edges and their weights relative to citations. ``own`` joins a chunk with its page, and weighs
    ``own_page_weight`` times as much in the direction from the page. ``following`` joins a chunk with the next one of
    the page, ``relations`` joins entities. ``hub``: an edge of an entity of degree d is scaled by ``d ** -hub``.
    ``sections``: the path chunk - section - page ``beside`` the edge to the page, or ``instead`` of it.
    """

    own: float = 1.0
    own_page_weight: float = 1.0
    hub: float = 0.0
    following: float = 0.0
    relations: float = 0.0
    sections: Literal["none", "beside", "instead"] = "none"


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """All edges of a store by kind. Nodes are numbered ``chunks`` first, then ``entities``, then ``sections``."""

    chunks: Sequence[str]
    entities: int
    sections: int
    cited: Pairs
    own: Pairs
    following: Pairs
    relations: Pairs
    outline: Pairs
    under_section: NDArray[np.bool_]
    """(own,) whether the chunk is inside a section of its page."""

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.chunks) + self.entities + self.sections


def read_links(store: GraphStore) -> Links:
    """Read the edges of a store."""
    graph = store.adjacency()
    cited, own = _split(graph)
    sections, outline = _outline(graph)
    headed = np.array([SEPARATOR in section_of(uri) for uri in graph.chunks], dtype=np.bool_)
    return Links(
        chunks=graph.chunks,
        entities=len(graph.entities),
        sections=sections,
        cited=cited,
        own=own,
        following=_following(store.chunk_uris(), graph),
        relations=_relations(store, graph),
        outline=outline,
        under_section=headed[own[:, 0]],
    )


def transition(links: Links, edges: Edges) -> csr_array:
    """Return the transition matrix (nodes, nodes): column j is the distribution after a step from node j. It sums to 1,
    or to 0 for a node without edges.
    """
    from scipy.sparse import coo_array, csr_array

    first, last = len(links.chunks), len(links.chunks) + links.entities
    own = np.full(len(links.own), edges.own)
    if edges.sections == "instead":
        own[links.under_section] = 0.0
    kinds = [
        (links.own, own),
        (links.cited, np.ones(len(links.cited))),
        (links.following, np.full(len(links.following), edges.following)),
        (links.relations, np.full(len(links.relations), edges.relations)),
    ]
    if edges.sections != "none":
        kinds.append((links.outline, np.full(len(links.outline), edges.own)))
    pairs = np.concatenate([pairs for pairs, _ in kinds])
    weights = np.concatenate([weights for _, weights in kinds])
    homeward = np.where(np.arange(len(pairs)) < len(links.own), edges.own_page_weight, 1.0)[weights > 0]
    pairs, weights = pairs[weights > 0], weights[weights > 0]
    degrees = np.maximum(np.bincount(pairs.ravel(), minlength=links.size), 1).astype(np.float64)
    scale = np.ones(links.size)
    scale[first:last] = degrees[first:last] ** -edges.hub
    weights = weights * scale[pairs[:, 0]] * scale[pairs[:, 1]]
    both = np.concatenate([pairs, pairs[:, ::-1]]).astype(np.int32)
    ways = np.concatenate([weights * homeward, weights])  # page to chunk first, as in ``kinds``
    joined = coo_array((ways, (both[:, 0], both[:, 1])), shape=(links.size, links.size)).tocsr()
    total = np.asarray(joined.sum(axis=0)).ravel()
    column = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
    return csr_array(joined.multiply(column[np.newaxis, :]))


def solve(
    matrix: csr_array, seeds: Masses, dampings: Sequence[float], rows: int, tolerance: float = 2e-4
) -> dict[float, Masses]:
    """Return for each damping the stationary mass of the first ``rows`` nodes (rows, questions), at the cost of the
    largest damping: the iterations are shared. The remaining mass is at most ``tolerance``; columns are scaled to sum
    to 1 over all nodes, which is equivalent to sending a walker without edges back to the seeds.
    """
    steps = {damping: math.ceil(math.log(tolerance) / math.log(damping)) for damping in dampings}
    mass = seeds
    sums = {damping: (1 - damping) * seeds[:rows] for damping in dampings}
    totals = {damping: (1 - damping) * seeds.sum(axis=0) for damping in dampings}
    for step in range(1, max(steps.values()) + 1):
        mass = matrix @ mass
        total = mass.sum(axis=0)
        for damping in dampings:
            if step <= steps[damping]:
                share = (1 - damping) * damping**step
                sums[damping] = sums[damping] + share * mass[:rows]
                totals[damping] = totals[damping] + share * total
    return {
        damping: sums[damping] / np.where(totals[damping] > 0, totals[damping], 1) for damping in dampings
    }


def _split(graph: Adjacency) -> tuple[Pairs, Pairs]:
    """Return the edges of the package's walk: from chunks to cited entities, and to their own pages."""
    count = len(graph.chunks)
    degrees = np.diff(graph.indptr[: count + 1])
    chunk = np.repeat(np.arange(count), degrees)
    pairs = np.stack([chunk, graph.indices[: graph.indptr[count]].astype(np.int64)], axis=1)
    page = np.array([count + graph.entity_rows[page_of(uri)] for uri in graph.chunks], dtype=np.int64)
    own = page[pairs[:, 0]] == pairs[:, 1]
    return pairs[~own], pairs[own]


def _following(ordered: Sequence[str], graph: Adjacency) -> Pairs:
    pairs = [
        (graph.chunk_rows[one], graph.chunk_rows[other])
        for one, other in zip(ordered, ordered[1:], strict=False)
        if page_of(one) == page_of(other)
    ]
    return np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)


def _relations(store: GraphStore, graph: Adjacency) -> Pairs:
    rows, offset = graph.entity_rows, len(graph.chunks)
    pairs = {
        (min(ends), max(ends))
        for edge in store.relations(graph.entities)
        if edge.source != edge.target and edge.source in rows and edge.target in rows
        for ends in [(rows[edge.source], rows[edge.target])]
    }
    return offset + np.array(sorted(pairs), dtype=np.int64).reshape(len(pairs), 2)


def _outline(graph: Adjacency) -> tuple[int, Pairs]:
    """Return the number of sections that contain chunks or sections, and the edges chunk - section, section - section
    and section - page.
    """
    offset = len(graph.chunks) + len(graph.entities)
    number: dict[str, int] = {}
    pairs = []
    for row, uri in enumerate(graph.chunks):
        below, above = row, section_of(uri)
        while SEPARATOR in above:
            new = above not in number
            node = offset + number.setdefault(above, len(number))
            pairs.append((below, node))
            if not new:
                break
            below, above = node, above.rpartition(SEPARATOR)[0]
        else:
            if below != row:  # a chunk directly below its page is already joined with it
                pairs.append((below, len(graph.chunks) + graph.entity_rows[above]))
    return len(number), np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)
