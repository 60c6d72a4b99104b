"""Personalised PageRank on dense graphs is that of NetworkX, exactly and by iteration."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from trivium.errors import ConfigurationError, InputError
from trivium.graph.records import Floats
from trivium.retrievers.pagerank import Method, pagerank_dense

METHODS: tuple[Method, ...] = ("solve", "power")


def networkx_pagerank(weights: Floats, seeds: Floats, damping: float) -> Floats:
    graph = nx.from_numpy_array(weights, create_using=nx.DiGraph)
    personalization = dict(enumerate(seeds.tolist())) if seeds.sum() > 0 else None
    ranks = nx.pagerank(graph, damping, personalization, max_iter=10_000, tol=1e-13)
    return np.array([ranks[node] for node in range(len(seeds))])


@pytest.mark.parametrize("method", METHODS)
def test_two_nodes_by_hand(method: Method) -> None:
    """p = (1-d) s + d P'p with d = 1/2 on one edge: p1 = 1/2 + p2/2, p2 = p1/2, so p = (2/3, 1/3)."""
    edge = np.array([[0.0, 3.0], [3.0, 0.0]])
    ranks = pagerank_dense(edge, np.array([5.0, 0.0]), damping=0.5, method=method)
    np.testing.assert_allclose(ranks, [2 / 3, 1 / 3], atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_equal_to_networkx(method: Method, data: st.DataObject) -> None:
    """Within 1e-6 on any weighted directed graph, nodes without edges and all-zero seeds included."""
    size = data.draw(st.integers(1, 9))
    numbers = st.floats(0.01, 1) | st.just(0.0)
    weights = data.draw(arrays(np.float64, (size, size), elements=numbers))
    seeds = data.draw(arrays(np.float64, size, elements=numbers))
    damping = data.draw(st.sampled_from([0.3, 0.85, 0.95]))
    ranks = pagerank_dense(weights, seeds, damping, method)
    np.testing.assert_allclose(ranks, networkx_pagerank(weights, seeds, damping), atol=1e-6)
    assert ranks.sum() == pytest.approx(1)


def test_a_node_without_edges_sends_the_walker_to_the_seeds() -> None:
    """Two nodes, no edges: only the seed is ever visited."""
    assert pagerank_dense(np.zeros((2, 2)), np.array([0.0, 1.0])).tolist() == [0.0, 1.0]


def test_damping_zero_gives_back_the_seeds() -> None:
    seeds = np.array([3.0, 1.0])
    assert pagerank_dense(np.ones((2, 2)), seeds, damping=0).tolist() == [0.75, 0.25]


def test_power_keeps_its_promise_on_precision() -> None:
    """The iteration ends within tol (L1) of the exact solution, also when tol is coarse and the walker goes
    round and round: a ring of 30 mixes slowly."""
    ring = np.roll(np.eye(30), 1, axis=1)
    seeds = np.eye(30)[0]
    exact = pagerank_dense(ring, seeds, 0.95, method="solve")
    for tol in (1e-2, 1e-5, 1e-9):
        apart = np.abs(pagerank_dense(ring, seeds, 0.95, method="power", tol=tol) - exact).sum()
        assert apart <= tol + 1e-12


def test_no_nodes_have_no_ranks() -> None:
    assert pagerank_dense(np.zeros((0, 0)), np.zeros(0)).shape == (0,)


@pytest.mark.parametrize(
    ("weights", "seeds"),
    [
        (np.ones((2, 3)), np.ones(2)),
        (np.ones((2, 2)), np.ones((2, 1))),
        (np.array([[0.0, -1.0], [1.0, 2.0]]), np.ones(2)),
        (np.array([[0.0, np.nan], [1.0, 0.0]]), np.ones(2)),
        (np.ones((2, 2)), np.array([2.0, -1.0])),
        (np.ones((2, 2)), np.array([np.inf, 1.0])),
    ],
)
def test_graphs_that_are_none_are_refused(weights: Floats, seeds: Floats) -> None:
    with pytest.raises(InputError):
        pagerank_dense(weights, seeds)


def test_settings_out_of_range_are_refused() -> None:
    weights, seeds = np.ones((2, 2)), np.ones(2)
    for damping in (-0.1, 1.0, float("nan")):
        with pytest.raises(ConfigurationError, match="damping"):
            pagerank_dense(weights, seeds, damping)
    with pytest.raises(ConfigurationError, match="method"):
        pagerank_dense(weights, seeds, method="guess")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="tol"):
        pagerank_dense(weights, seeds, method="power", tol=0)
