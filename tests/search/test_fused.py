"""Fused candidates: however many are asked for, the first ones are the same."""

from __future__ import annotations

import numpy as np
import pytest

from tests.fakes.memory_store import MemoryStore
from tests.retrievers.world import ask, page, store_of
from trivium.fusion.convex import Convex
from trivium.fusion.features import Layout
from trivium.fusion.network import Network, NetworkFusion
from trivium.fusion.rrf import ReciprocalRank
from trivium.fusion.score_table import Fusion
from trivium.retrievers.registry import RETRIEVERS, make_retrievers
from trivium.retrievers.signals import SignalSettings
from trivium.search.candidates import DEPTH, gather
from trivium.search.fuse import STEP, fuse_candidates
from trivium.search.ranking import order, probability

NAMES = [f"Page {number:03}" for number in range(200)]
STORE = store_of(
    [
        page(name, lead=[(f"Word {number} of {name}.", [NAMES[number * 7 % 200]])])
        for number, name in enumerate(NAMES)
    ],
    {f"{name}#chunk-1": np.sqrt(number / 400) for number, name in enumerate(NAMES)},
)
LAYOUT = Layout(retrievers=RETRIEVERS)


def network(competition: float = 0.0) -> NetworkFusion:
    generator = np.random.default_rng(5)
    width = len(LAYOUT.columns)
    weights = generator.normal(size=(1, width, 1)).astype(np.float32)
    one = np.ones(width, dtype=np.float32)
    net = Network(0 * one, one, ((weights, np.zeros((1, 1), dtype=np.float32)),))
    return NetworkFusion(net, LAYOUT, f"network {competition:g}", competition)


FUSIONS = [network(), network(0.5), Convex({"vector": 0.7, "walk": 0.3}, ("walk",)), ReciprocalRank()]
Row = tuple[str, float, list[float], dict[str, str]]


def ranking(fusion: Fusion, count: int) -> list[Row]:
    """The best candidates with everything a hit tells of them."""
    table, fused = fuse_candidates(ask(STORE, "Word of Page 150"), make_retrievers(), fusion, count)
    best = order(table.chunks, fused.scores)[:count]
    shares = fused.explain(best)
    np.testing.assert_allclose(fused.baseline + shares.sum(axis=1), fused.scores[best], atol=1e-9)
    return [
        (table.chunks[row], float(fused.scores[row]), own, dict(table.source_nodes[row]))
        for row, own in zip(best, shares.tolist(), strict=True)
    ]


@pytest.mark.parametrize("fusion", FUSIONS, ids=lambda fusion: fusion.name)
def test_a_short_list_is_the_beginning_of_a_long_one(fusion: Fusion) -> None:
    """Uri, score, explanation and source nodes of every hit; in the end all chunks are there, once."""
    longest = ranking(fusion, 1000)
    assert sorted(row[0] for row in longest) == sorted(STORE.chunk_uris())
    for count in (1, DEPTH, 60, 199):
        assert ranking(fusion, count) == longest[:count]


@pytest.mark.parametrize("fusion", FUSIONS, ids=lambda fusion: fusion.name)
def test_the_first_round_is_the_fusion_of_lists_of_the_usual_depth(fusion: Fusion) -> None:
    signals = SignalSettings() if fusion.needs_signals else None
    table = gather(ask(STORE, "Word of Page 150"), make_retrievers(), DEPTH, signals=signals)
    scores = fusion.fuse(table).scores
    expected = [(table.chunks[row], float(scores[row])) for row in order(table.chunks, scores)]
    assert DEPTH < len(expected) < len(NAMES)
    assert [row[:2] for row in ranking(fusion, 1000)[: len(expected)]] == expected
    following = ranking(fusion, 1000)[len(expected)][1]
    assert following <= expected[-1][1] - STEP


def test_a_store_without_anything_gives_no_candidates() -> None:
    table, fused = fuse_candidates(ask(MemoryStore()), make_retrievers(), network(), 100)
    assert table.chunks == () and len(fused.scores) == 0


def test_probability_by_hand() -> None:
    """Even odds are one half; nothing overflows."""
    assert (probability(0.0), probability(np.log(3))) == (0.5, 0.75)
    assert 0 < probability(-1e9) < 1e-20 and probability(1e9) == 1.0
