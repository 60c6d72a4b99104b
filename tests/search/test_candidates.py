"""The table unites what the retrievers found and scores it in every view."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from tests.fakes.memory_store import MemoryStore
from tests.retrievers.world import SOLAR, ask, store_of
from trivium.common.arrays import Floats
from trivium.common.idle_cores import Beside
from trivium.errors import ConfigurationError, FusionError, StoreError
from trivium.fusion.score_table import Table
from trivium.graph.records import Neighbour, Vectors
from trivium.graph.schema import Label
from trivium.retrievers.query import Candidate, Query
from trivium.retrievers.registry import RETRIEVERS, RetrieverSettings, make_retrievers
from trivium.retrievers.signals import SignalSettings
from trivium.retrievers.vector_retrievers import VectorSettings
from trivium.search.candidates import gather, of_each

COSINES = {
    "Mars": 0.8,
    "Mars#Moons": 0.7,
    "Phobos": 0.9,
    "Asaph Hall": 0.6,
    "Phobos#chunk-1": 0.85,
    "Mars#Moons#chunk-2": 0.75,
    "Earth#chunk-1": 0.3,
}
TEXT = "Who found the moon Phobos?"


def test_all_eight_are_there_in_the_order_of_the_names() -> None:
    assert tuple(make_retrievers()) == RETRIEVERS
    assert [retriever.name for retriever in make_retrievers().values()] == list(RETRIEVERS)
    assert list(make_retrievers(names=["walk", "vector"])) == ["vector", "walk"]


def test_an_unknown_retriever_is_refused_by_name() -> None:
    with pytest.raises(ConfigurationError, match="'telepathy'"):
        make_retrievers(names=["telepathy"])


def test_settings_reach_their_retriever() -> None:
    retrievers = make_retrievers(RetrieverSettings(vector=VectorSettings(chunks=2)))
    assert len(retrievers["vector"].retrieve(ask(store_of(SOLAR, {})))) == 2


def test_rows_are_the_union_by_uri_and_ranks_are_places_in_each_list() -> None:
    query, retrievers = ask(store_of(SOLAR, COSINES), TEXT), make_retrievers()
    table = gather(query, retrievers, 3)
    lists = {name: retriever.retrieve(query, 3) for name, retriever in retrievers.items()}
    assert table.columns == RETRIEVERS
    assert table.chunks == tuple(sorted({c.uri for found in lists.values() for c in found}))
    for name, found in lists.items():
        ranks = table.ranks[:, table.column(name)]
        assert {table.chunks[row]: int(ranks[row]) for row in np.flatnonzero(ranks)} == {
            candidate.uri: rank for rank, candidate in enumerate(found, 1)
        }
        for candidate in found:
            assert table.source_nodes[table.chunks.index(candidate.uri)][name] == candidate.source_node
    assert (table.returned == (table.ranks > 0)).all()
    assert all(
        set(source_node) == {c for c in RETRIEVERS if row[table.column(c)]}
        for source_node, row in zip(table.source_nodes, table.returned, strict=True)
    )


def test_incomplete_scores_are_there_exactly_where_the_chunk_was_returned() -> None:
    table = gather(ask(store_of(SOLAR, COSINES), TEXT), make_retrievers(), 2, complete=False)
    assert (np.isnan(table.raw) == ~table.returned).all()


def test_complete_scores_agree_with_returned_ones_and_fill_the_rest() -> None:
    """What a retriever returned has the same score either way; vector, page, section, path, lexical and walk
    have a score for everything; entity lacks it only for a chunk without citations."""
    query, retrievers = ask(store_of(SOLAR, COSINES), TEXT), make_retrievers()
    complete, partial = gather(query, retrievers, 3), gather(query, retrievers, 3, complete=False)
    np.testing.assert_allclose(complete.raw[partial.returned], partial.raw[partial.returned], rtol=1e-6)
    for name in ("vector", "page", "section", "path", "lexical", "walk"):
        assert not np.isnan(complete.raw[:, complete.column(name)]).any()
    without = [uri for uri in complete.chunks if not query.store.cited([uri])[uri]]
    entity = complete.raw[:, complete.column("entity")]
    assert [complete.chunks[row] for row in np.flatnonzero(np.isnan(entity))] == without


def test_four_views_share_one_call_for_similarities(monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_of(SOLAR, COSINES)
    calls: list[int] = []
    original = store.similarities
    monkeypatch.setattr(store, "similarities", lambda v, c: calls.append(len(c)) or original(v, c))
    table = gather(ask(store, TEXT), make_retrievers())
    assert calls == [len(table.chunks)]


def test_asking_all_at_once_gives_the_same_table_and_asks_nothing_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As for a store on a server, whose answers take a while."""
    store = store_of(SOLAR, COSINES)
    one_by_one = gather(ask(store, TEXT), make_retrievers())
    asked: list[tuple[object, ...]] = []
    nearest = store.nearest

    def slowly(labels: Sequence[Label], vector: Vectors, k: int, *, exact: bool = False) -> list[Neighbour]:
        asked.append((*labels, k))
        time.sleep(0.01)
        return nearest(labels, vector, k, exact=exact)

    monkeypatch.setattr(store, "nearest", slowly)
    monkeypatch.setattr(store, "remote", True)
    at_once = gather(ask(store, TEXT), make_retrievers())
    assert (at_once.chunks, at_once.columns, at_once.source_nodes) == (
        one_by_one.chunks,
        one_by_one.columns,
        one_by_one.source_nodes,
    )
    np.testing.assert_array_equal(at_once.raw, one_by_one.raw)
    np.testing.assert_array_equal(at_once.ranks, one_by_one.ranks)
    assert len(asked) == len(set(asked))


def test_when_one_of_them_fails_its_error_comes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_of(SOLAR, COSINES)
    monkeypatch.setattr(store, "remote", True)

    def broken(terms: object, k: int) -> list[str]:
        raise StoreError("no words today")

    monkeypatch.setattr(store, "keyword_search", broken)
    with pytest.raises(StoreError, match="no words today"):
        gather(ask(store, TEXT), make_retrievers())


@pytest.mark.parametrize(
    ("names", "signals", "handed_over"),
    [
        (["page", "entity"], False, 0),
        (["page", "lexical"], False, 1),
        (["page", "walk"], False, 1),
        (["page", "entity"], True, 2),
        (list(RETRIEVERS), True, 2),
    ],
)
def test_only_what_there_is_to_do_is_handed_to_another_thread(
    names: list[str], signals: bool, handed_over: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words while the question is embedded; then retrievers that start from the nearest chunks, and walks."""
    begun: list[Callable[[], object]] = []
    monkeypatch.setattr(Beside, "begin", lambda _, work: bool(begun.append(work)))
    gather(
        ask(store_of(SOLAR, COSINES), TEXT),
        make_retrievers(names=names),
        signals=SignalSettings() if signals else None,
    )
    assert len(begun) == handed_over


def test_what_prepares_later_work_needs_no_retriever_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: list[str] = []
    monkeypatch.setattr(Beside, "begin", lambda _, work: bool(work()))
    with Beside() as beside:
        of_each(ask(MemoryStore()), {}, lambda _: None, beside, then=lambda: prepared.append("walks"))
    assert prepared == ["walks"]


@pytest.mark.parametrize("complete", [True, False])
def test_a_retriever_may_return_nothing_or_a_chunk_twice(complete: bool) -> None:
    """The later place of two counts."""

    class Own:
        def __init__(self, name: str, found: list[Candidate]) -> None:
            self.name, self._found = name, found

        def retrieve(self, query: Query, depth: int | None = None) -> list[Candidate]:
            return self._found

        def score(self, query: Query, chunks: Sequence[str]) -> Floats:
            return np.arange(len(chunks), dtype=np.float64)

    mars, moon = "Mars#chunk-1", "Phobos#chunk-1"
    twice = [Candidate(mars, 3.0, "Mars"), Candidate(moon, 2.0), Candidate(mars, 1.0, "Sun")]
    retrievers = {"none": Own("none", []), "twice": Own("twice", twice)}
    table = gather(ask(store_of(SOLAR, COSINES), TEXT), retrievers, complete=complete)
    assert table.chunks == (mars, moon)
    assert table.ranks.tolist() == [[0, 3], [0, 2]]
    assert table.source_nodes == ({"twice": "Sun"}, {"twice": ""})
    expected = [[0, 0], [1, 1]] if complete else [[np.nan, 1], [np.nan, 2]]
    np.testing.assert_array_equal(table.raw, expected)
    empty = gather(ask(store_of(SOLAR, COSINES), TEXT), {"none": Own("none", [])}, complete=complete)
    assert (empty.chunks, empty.raw.shape, empty.ranks.shape) == ((), (0, 1), (0, 1))


def test_what_is_remembered_is_made_once_however_many_ask() -> None:
    """Those who come while it is made wait for it; they all get the error when it fails."""
    query, made = ask(MemoryStore(), TEXT), []

    def make() -> int:
        time.sleep(0.02)
        made.append(1)
        return len(made)

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(lambda _: query.memoize("key", make), range(8))) == {1}
    with pytest.raises(ZeroDivisionError):
        query.memoize("other", lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        query.memoize("other", lambda: 1)


def test_an_empty_store_gives_an_empty_table() -> None:
    table = gather(ask(MemoryStore(), TEXT), make_retrievers())
    assert table.chunks == () and table.raw.shape == (0, 8)


def test_a_table_whose_shapes_do_not_fit_is_refused() -> None:
    with pytest.raises(FusionError, match="1 chunks x 1 retrievers"):
        Table(("a",), ("vector",), np.zeros((1, 2)), np.zeros((1, 1), dtype=np.int64), ({},))


def test_a_column_that_is_not_there_is_an_error_that_names_those_that_are() -> None:
    table = gather(ask(store_of(SOLAR, COSINES), TEXT), make_retrievers(names=["vector"]))
    with pytest.raises(FusionError, match="no column 'walk', only vector"):
        table.column("walk")


_PROBE = """
import hashlib
from tests.retrievers.world import SOLAR, ask, store_of
from tests.search.test_candidates import COSINES, TEXT
from trivium.search.candidates import gather
from trivium.retrievers.registry import make_retrievers
table = gather(ask(store_of(SOLAR, COSINES), TEXT), make_retrievers())
said = repr((table.chunks, table.columns, table.source_nodes)).encode() + table.raw.tobytes() + table.ranks.tobytes()
print(hashlib.sha256(said).hexdigest())
"""


def test_two_processes_gather_the_same_table_bit_for_bit() -> None:
    """Whatever the hash seed, so no order hangs on that of a set."""
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    answers = {
        subprocess.run(
            [sys.executable, "-c", _PROBE],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": path},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1
