"""From a path of entities to the chunks that speak of it."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.graph.protocols import GraphReader
from trivium.graph.schema import Hop, page_of


def path_chunks(store: GraphReader, nodes: Sequence[str]) -> list[str]:
    """Chunks for a path through ``nodes`` (distinct entities), from the strictest reading that finds any:

    1. chunks that cite all of them,
    2. chunks of one's page that cite all the others,
    3. (more than two nodes) chunks that cite at least two,
    4. chunks that cite any.

    In the order of first appearance along the path, as the store lists them. One round trip.
    """
    citing = store.expand(nodes, Hop.CITED_IN)
    cited: dict[str, set[str]] = {}
    for node in nodes:
        for chunk in citing.get(node, []):
            cited.setdefault(chunk, set()).add(node)
    path = set(nodes)
    return (
        [chunk for chunk in cited if cited[chunk] == path]
        or [chunk for chunk in cited if path - cited[chunk] == {page_of(chunk)}]
        or [chunk for chunk in cited if len(cited[chunk]) >= 2]
        or list(cited)
    )
