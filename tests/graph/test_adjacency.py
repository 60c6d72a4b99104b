"""The graph of the walk, from who cites what."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.graph.arrays.array_files import Csr
from trivium.graph.arrays.topology import link, make_adjacency


@given(
    cites=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=12),
    pages=st.lists(st.integers(-1, 2), min_size=4, max_size=4),
)
def test_links_join_chunks_with_what_they_cite_and_with_their_page(
    cites: list[tuple[int, int]], pages: list[int]
) -> None:
    """In both directions, each pair once, neighbours ascending; entities come after the four chunks."""
    pairs = {*cites, *((chunk, page) for chunk, page in enumerate(pages) if page >= 0)}
    expected = [sorted(4 + e for c, e in pairs if c == chunk) for chunk in range(4)]
    expected += [sorted(c for c, e in pairs if e == entity) for entity in range(3)]
    citing, cited = (np.array([pair[end] for pair in cites], dtype=np.int64) for end in (0, 1))
    links = link(citing, cited, np.array(pages), 3)
    assert [links.row(node).tolist() for node in range(7)] == expected


def test_the_graph_of_an_empty_store_is_empty() -> None:
    """No chunks, no entities."""
    none = np.empty(0, dtype=np.int64)
    graph = make_adjacency([], [], link(none, none, none, 0), none)
    assert (graph.indptr.tolist(), graph.indices.tolist(), graph.own_chunks.tolist()) == ([0], [], [])


def test_uris_and_links_that_do_not_fit_are_refused() -> None:
    """As from a damaged file."""
    links = Csr(np.array([0, 1, 2]), np.array([1, 0], dtype=np.int32))
    found = make_adjacency(["A#chunk-1"], ["A"], links, np.array([0]))
    assert (found.chunk_rows, found.entity_rows, found.own_chunks.tolist()) == (
        {"A#chunk-1": 0},
        {"A": 0},
        [[0, 0], [0, 1]],
    )
    with pytest.raises(ValueError, match="expected links of 3 nodes, got 2 rows and 2 links"):
        make_adjacency(["A#chunk-1"], ["A", "B"], links, np.array([0]))
