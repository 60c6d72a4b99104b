"""One suite for every GraphStore: a new one joins with one line in STORES.

A server of Neo4j has one database, which is emptied for each test; tests that need two stores at once are marked
``two_stores`` and run on the other stores only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest

from tests.fakes.dict_store import DictStore
from tests.neo4j_servers import Server, log_in
from tests.neo4j_wipe import wipe
from trivium.graph.neo4j import Neo4jStore
from trivium.graph.protocols import GraphStore
from trivium.graph.sqlite import EmbeddedStore

MakeStore = Callable[[], GraphStore]


STORES: dict[str, Callable[[Path], GraphStore]] = {
    "dict": lambda _: DictStore(),
    "embedded": EmbeddedStore.create,
}
SERVERS = {"neo4j-5.26": "neo4j_5", "neo4j-2026.08": "neo4j_2026"}
"""Stores in a server's database, by the fixture of the server."""
OLDER = "neo4j-5.26"
DIFFERS = ("filters", "words")
"""Files of tests about what the two versions do in different ways: of the older version only these are not slow."""
DRAWN = ("enrichment", "relations", "structure")
"""Files of tests whose claims tests/graph/neo4j asks of drawn pages and histories of changes, node by node and read by
read, against a store that is obviously right: on servers they are slow."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each test once for every store it can run on."""
    if "make_store" in metafunc.fixturenames:
        two = metafunc.definition.get_closest_marker("two_stores") is not None
        module = metafunc.module.__name__.rpartition(".test_store_")[2]
        quick = [name for name in SERVERS if module not in DRAWN and (name != OLDER or module in DIFFERS)]
        servers = [name if name in quick else pytest.param(name, marks=pytest.mark.slow) for name in SERVERS]
        metafunc.parametrize("make_store", list(STORES) if two else [*STORES, *servers], indirect=True)


@pytest.fixture
def make_store(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[MakeStore]:
    """Makes empty stores of one kind; they are closed when the test ends."""
    make, numbers = STORES.get(request.param), count()
    root = tmp_path_factory.mktemp("stores")
    monkeypatch.setenv("TRIVIUM_HOME", str(root / "home"))
    with ExitStack() as stack:
        if make is None:
            server: Server = request.getfixturevalue(SERVERS[request.param])
            log_in(monkeypatch, server)
            wipe(server)
            yield lambda: stack.enter_context(Neo4jStore.create(server.bolt))
        else:
            yield lambda: stack.enter_context(make(root / str(next(numbers))))


@pytest.fixture
def store(make_store: MakeStore) -> GraphStore:
    """One empty store."""
    return make_store()
