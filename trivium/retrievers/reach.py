"""What page, section and entity have in common: chunks reached from the nearest nodes of a kind."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.graph.schema import Hop, Label
from trivium.retrievers.base import Candidate, Query, check_depth


def reached(
    query: Query, labels: Sequence[Label], nodes: int, hop: Hop, depth: int | None
) -> list[Candidate]:
    """Chunks along ``hop`` from the ``nodes`` nearest nodes, in one round trip. A chunk has the score of its
    best node; ties (all chunks of one page share a score) go by its own cosine, then position, then uri."""
    check_depth(depth)
    found = query.store.expand_nearest(labels, query.vector, nodes, hop, depth, exact=query.exact)
    return [Candidate(chunk.uri, chunk.score, chunk.source_node) for chunk in found]
