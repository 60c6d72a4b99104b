"""One suite for every GraphStore: a new one joins with one line in STORES."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest

from tests.fakes.memory_store import MemoryStore
from trivium.graph.embedded import EmbeddedStore
from trivium.graph.store import GraphStore

MakeStore = Callable[[], GraphStore]

STORES: dict[str, Callable[[Path], GraphStore]] = {
    "memory": lambda _: MemoryStore(),
    "embedded": EmbeddedStore.create,
}


@pytest.fixture(params=STORES)
def make_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MakeStore]:
    """Makes empty stores of one kind; they are closed when the test ends."""
    make, numbers = STORES[request.param], count()
    root = tmp_path_factory.mktemp("stores")
    with ExitStack() as stack:
        yield lambda: stack.enter_context(make(root / str(next(numbers))))


@pytest.fixture
def store(make_store: MakeStore) -> GraphStore:
    """One empty store."""
    return make_store()
