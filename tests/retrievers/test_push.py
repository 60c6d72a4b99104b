"""Forward push is personalised PageRank within its bound, whatever the graph."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import deque
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from trivium.common.arrays import Integers
from trivium.errors import ConfigurationError, InputError
from trivium.graph.records import Floats
from trivium.retrievers.pagerank import pagerank_dense, settled

Pairs = list[tuple[int, int]]


def csr(size: int, pairs: Pairs) -> sp.csr_array:
    """Symmetric, unweighted, without self loops."""
    matrix = sp.lil_array((size, size))
    for a, b in pairs:
        if a != b:
            matrix[a, b] = matrix[b, a] = 1.0
    return sp.csr_array(matrix)


def push(indptr: Integers, indices: NDArray[np.int32], *arguments: Any, **named: Any) -> Floats:
    """The mass of every node."""
    nodes, masses = settled(indptr, indices, *arguments, **named)
    mass = np.zeros(indptr.size - 1)
    mass[nodes] = masses
    return mass


def run(matrix: sp.csr_array, seeds: dict[int, float], damping: float = 0.5, eps: float = 1e-6) -> Floats:
    nodes = np.array(list(seeds), dtype=np.int64)
    masses = np.array(list(seeds.values()), dtype=np.float64)
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    return push(indptr, indices, nodes, masses, damping, eps)


def power(matrix: sp.csr_array, seeds: dict[int, float], damping: float) -> Floats:
    """The oracle: p <- (1 - d) s + d W p with the mass of dead ends sent back to the seeds."""
    size = matrix.shape[0]
    start = np.zeros(size)
    start[list(seeds)] = list(seeds.values())
    degree = np.asarray(matrix.sum(axis=1)).ravel()
    step = sp.csr_array(matrix.T @ sp.diags_array(1 / np.where(degree > 0, degree, 1)))
    mass = start
    for _ in range(400):
        mass = (1 - damping) * start + damping * (step @ mass + mass[degree == 0].sum() * start)
    return mass


def degrees(matrix: sp.csr_array) -> NDArray[np.int64]:
    return np.diff(matrix.indptr)


def test_one_edge_by_hand() -> None:
    """Seed on one end of an edge, damping 1/2: (2/3, 1/3)."""
    np.testing.assert_allclose(run(csr(2, [(0, 1)]), {0: 1.0}, eps=1e-9), [2 / 3, 1 / 3], atol=1e-8)


def test_a_walk_leaves_nothing_behind_for_the_next() -> None:
    """Also where a damping of 0 spreads nothing, and over graphs of several sizes."""
    rng = np.random.default_rng(5)
    for size in (3, 40, 40, 7, 40):
        matrix = csr(size, [(int(a), int(b)) for a, b in rng.integers(0, size, (3 * size, 2))])
        seeds = {0: 0.25, size - 1: 0.75}
        for damping in (0.7, 0.0, 0.3):
            mass = run(matrix, seeds, damping, 1e-9)
            np.testing.assert_allclose(mass, power(matrix, seeds, damping), atol=1e-6)


def plain(
    matrix: sp.csr_array,
    seeds: dict[int, float],
    damping: float,
    eps: float,
    own: Floats,
    weight: float,
    names: int | None,
    name_weight: float,
) -> Floats:
    """The same pushes, one Python statement a step."""
    indptr, indices = matrix.indptr.tolist(), matrix.indices.tolist()
    size = len(indptr) - 1
    mass, residual = np.zeros(size), np.zeros(size)
    for node, amount in seeds.items():
        residual[node] = amount
    waiting = deque(node for node in seeds if residual[node] > eps * (indptr[node + 1] - indptr[node]))
    lost = 0.0
    while waiting:
        node = waiting.popleft()
        amount, residual[node] = residual[node], 0.0
        mass[node] += (1 - damping) * amount
        neighbours = indices[indptr[node] : indptr[node + 1]]
        home = [own[node, 0] <= one < own[node, 1] for one in neighbours]
        if not neighbours:
            lost += damping * amount
            continue
        rarity = [1.0] * len(neighbours)
        if names is not None and node < names:
            rarity = [
                1.0
                if one < names or own[one, 0] < own[one, 1]
                else name_weight / math.sqrt(indptr[one + 1] - indptr[one])
                for one in neighbours
            ]
        total = float(len(neighbours))
        for each in rarity:
            total += each - 1
        for one in home:
            total += weight - 1 if one else 0
        share = damping * amount / total
        for one, is_home, each in zip(neighbours, home, rarity, strict=True):
            residual[one] += (share * weight if is_home else share) * each
            if one not in waiting and residual[one] > eps * (indptr[one + 1] - indptr[one]):
                waiting.append(one)
    return mass / (1 - lost) if lost > 0 else mass


@settings(max_examples=80, deadline=None)
@given(
    size=st.integers(2, 25),
    pairs=st.lists(st.tuples(st.integers(0, 24), st.integers(0, 24)), max_size=60),
    starts=st.lists(st.integers(0, 24), min_size=1, max_size=5, unique=True),
    homes=st.lists(st.tuples(st.integers(0, 24), st.integers(0, 5)), min_size=25, max_size=25),
    damping=st.sampled_from([0.0, 0.5, 0.85]),
    eps=st.sampled_from([0.1, 1e-2, 1e-5]),
    weight=st.sampled_from([0.5, 1.0, 8.0]),
    names=st.none() | st.integers(0, 25),
    name_weight=st.sampled_from([0.25, 1.0, 3.0]),
)
def test_the_same_bits_as_pushes_in_python(
    size: int,
    pairs: Pairs,
    starts: list[int],
    homes: Pairs,
    damping: float,
    eps: float,
    weight: float,
    names: int | None,
    name_weight: float,
) -> None:
    matrix = csr(size, [(a % size, b % size) for a, b in pairs])
    own = np.array([(begin % size, min(size, begin % size + length)) for begin, length in homes[:size]])
    nodes = list(dict.fromkeys(start % size for start in starts))
    seeds = dict.fromkeys(nodes, 1 / len(nodes))
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    names = None if names is None else min(names, size)
    masses = np.array(list(seeds.values()))
    mass = push(indptr, indices, np.array(nodes), masses, damping, eps, own, weight, names, name_weight)
    expected = plain(matrix, seeds, damping, eps, own, weight, names, name_weight)
    np.testing.assert_array_equal(mass, expected)


def test_first_pushes_by_hand() -> None:
    """Seed amid a path of three, eps 0.2: the middle settles 1/2 and sends 1/4 each way; both ends
    (0.25 > 0.2) settle 1/8 and send back 1/8 each; the middle now holds 0.25 <= 0.2 x 2 and is left alone."""
    assert run(csr(3, [(0, 1), (1, 2)]), {1: 1.0}, eps=0.2).tolist() == [0.125, 0.5, 0.125]


@settings(max_examples=60, deadline=None)
@given(
    size=st.integers(2, 25),
    pairs=st.lists(st.tuples(st.integers(0, 24), st.integers(0, 24)), max_size=60),
    starts=st.sets(st.integers(0, 24), min_size=1, max_size=5),
    damping=st.sampled_from([0.0, 0.5, 0.85]),
    eps=st.sampled_from([1e-2, 1e-4, 1e-8]),
)
def test_within_the_bound_of_power_iteration(
    size: int, pairs: Pairs, starts: set[int], damping: float, eps: float
) -> None:
    """0 <= exact - mass <= eps x degree at every node when no seed is a dead end."""
    matrix = csr(size, [(a % size, b % size) for a, b in pairs])
    nodes = sorted({s % size for s in starts} & set(np.flatnonzero(degrees(matrix)).tolist()))
    if not nodes:
        return
    seeds = dict.fromkeys(nodes, 1 / len(nodes))
    missing = power(matrix, seeds, damping) - run(matrix, seeds, damping, eps)
    assert missing.min() >= -1e-12
    assert (missing <= eps * degrees(matrix) + 1e-12).all()


@pytest.mark.parametrize("alone", [0.0, 0.25, 1.0])
def test_from_an_isolated_seed_the_walker_returns_to_the_seeds(alone: float) -> None:
    """Mass of a node without neighbours is not lost: the total stays 1, as NetworkX has it."""
    matrix = csr(4, [(0, 1), (1, 2)])
    seeds = {node: mass for node, mass in ((0, 1 - alone), (3, alone)) if mass > 0}
    mass = run(matrix, seeds, eps=1e-10)
    np.testing.assert_allclose(mass, power(matrix, seeds, 0.5), atol=1e-8)
    assert mass.sum() == pytest.approx(1, abs=1e-8)


def test_what_is_not_connected_gets_nothing() -> None:
    assert run(csr(4, [(0, 1), (2, 3)]), {0: 1.0}).tolist()[2:] == [0.0, 0.0]


def test_the_queue_may_wrap_around() -> None:
    """A ring of 50 nodes pushed to precision 1e-9 puts every node in the queue many times."""
    matrix = csr(50, [(i, (i + 1) % 50) for i in range(50)])
    np.testing.assert_allclose(run(matrix, {0: 1.0}, 0.9, 1e-9), power(matrix, {0: 1.0}, 0.9), atol=3e-9)


def test_home_by_hand() -> None:
    """The middle of a star settles 1/2; of the other half, three parts of five go to its own chunk, one to each other."""
    matrix = csr(4, [(0, 1), (0, 2), (0, 3)])
    own_chunks = np.array([[2, 3], [0, 0], [0, 0], [0, 0]])
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    mass = push(indptr, indices, np.array([0]), np.array([1.0]), 0.5, 0.2, own_chunks, 3.0)
    assert mass.tolist() == pytest.approx([0.5, 0.0, 0.15, 0.0])


def test_a_step_to_a_name_counts_less_the_more_passages_have_it() -> None:
    """PageRank of the graph in which a step from the chunks 0 to 2 to the page 3 weighs 1, to the name 4 that one of them
    has .6, and to the name 5 that all have .6 / sqrt(3)."""
    matrix = csr(6, [(0, 3), (0, 4), (0, 5), (1, 5), (2, 5), (1, 3)])
    own_chunks = np.array([[0, 0]] * 3 + [[0, 1]] + [[0, 0]] * 2)
    weights = matrix.toarray()
    weights[3, 0] = 8.0
    weights[:3, 4] *= 0.6
    weights[:3, 5] *= 0.6 / math.sqrt(3)
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    mass = push(indptr, indices, np.array([1]), np.array([1.0]), 0.7, 1e-10, own_chunks, 8.0, 3, 0.6)
    np.testing.assert_allclose(mass, pagerank_dense(weights, np.eye(6)[1], 0.7, "solve"), atol=1e-8)


def test_no_seeds_no_mass() -> None:
    assert run(csr(2, [(0, 1)]), {}).tolist() == [0.0, 0.0]


def test_seeds_that_are_no_nodes_are_refused() -> None:
    """Compiled code does not check bounds, so this must."""
    for node in (-1, 2):
        with pytest.raises(InputError, match=r"0\.\.1"):
            run(csr(2, [(0, 1)]), {node: 1.0})
    indptr, indices = np.array([0, 1, 2]), np.array([1, 0], dtype=np.int32)
    with pytest.raises(InputError, match="distinct"):
        push(indptr, indices, np.array([0, 0]), np.array([0.5, 0.5]))
    with pytest.raises(InputError, match="both"):
        push(indptr, indices, np.array([0, 1]), np.array([1.0]))
    with pytest.raises(InputError, match=r"\(n, 2\)"):
        push(indptr, indices, np.array([0]), np.array([1.0]), own_chunks=np.zeros((1, 2), dtype=np.int64))
    with pytest.raises(ConfigurationError, match="own_page_weight"):
        push(indptr, indices, np.array([0]), np.array([1.0]), own_page_weight=0)
    with pytest.raises(ConfigurationError, match="eps"):
        run(csr(2, [(0, 1)]), {0: 1.0}, eps=0)
    with pytest.raises(ConfigurationError, match="damping"):
        run(csr(2, [(0, 1)]), {0: 1.0}, damping=1)


_PROBE = """
import hashlib, numpy as np
from trivium.retrievers.pagerank import pagerank_dense, settled
rng = np.random.default_rng(3)
ends = rng.integers(0, 500, (2, 3000))
import scipy.sparse as sp
m = sp.coo_array((np.ones(3000), ends), shape=(500, 500)).tocsr()
m = sp.csr_array(((m + m.T) > 0).astype(float))
_, mass = settled(m.indptr.astype(np.int64), m.indices.astype(np.int32), np.array([5, 9]), np.array([0.3, 0.7]))
print(hashlib.sha256(mass.tobytes()).hexdigest())
"""


def probe(code: str, **env: str) -> str:
    """What another process prints."""
    env = {"PYTHONPATH": ":".join(sys.path), **env}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    return run.stdout


def test_processes_agree_to_the_last_bit() -> None:
    """With another seed of hashes: the same bytes."""
    assert len({probe(_PROBE, PYTHONHASHSEED="1"), probe(_PROBE, PYTHONHASHSEED="2")}) == 1
