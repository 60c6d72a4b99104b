"""What is kept between questions, and when it is dropped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from trivium.errors import StoreNotFoundError
from trivium.graph.neo4j.store_cache import STATE_SECONDS, StoreCache, StoreState
from trivium.types import EmbedderIdentity


class Database:
    """Answers like a connection, and counts how often it is asked."""

    address = "bolt://somewhere"

    def __init__(self) -> None:
        self.generation = 1
        self.asked = 0
        self.there = True

    def read(self, query: str, parameters: Mapping[str, Any] | None = None) -> list[list[Any]]:
        self.asked += 1
        return [[self.generation, "u", "toy", "1", 8, 70, 10, None, None]] if self.there else []


@pytest.fixture
def database() -> Any:
    return Database()


def test_the_state_of_the_store_is_read_anew_after_a_while(
    database: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or at once, when it matters now or after a write of one's own."""
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    cache = StoreCache()
    expected = StoreState(1, "u", EmbedderIdentity("toy", "1", 8), chunks=10, term_total=70)
    assert cache.state(database) == cache.state(database) == expected
    assert database.asked == 1
    database.generation = 2
    now += STATE_SECONDS
    assert cache.state(database).version == 1
    now += 0.001
    assert cache.state(database).version == 2
    now += 0.001
    assert cache.state(database, now=True).version == 2
    cache.clear()
    assert cache.state(database).version == 2
    assert database.asked == 4


def test_a_store_that_is_gone_is_said_to_be(database: Any) -> None:
    """Not mistaken for an empty one."""
    database.there = False
    with pytest.raises(StoreNotFoundError, match="bolt://somewhere"):
        StoreCache().state(database)


def test_the_state_is_read_while_a_question_is_embedded(
    database: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By whom it was filled is taken from the state before, however old; what is read is of the state now."""
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    cache = StoreCache()
    cache.state(database)
    now += 60
    database.generation = 2
    with cache.reading(database) as state:
        assert cache.embedder(database) == EmbedderIdentity("toy", "1", 8)
        assert state().version == 2
    assert cache.state(database).version == 2
    assert database.asked == 2
    now += 60
    assert cache.embedder(database) is not None
    assert database.asked == 3


def test_what_goes_wrong_with_the_state_is_said_where_it_is_waited_for(database: Any) -> None:
    """Only calls that read raise the error."""
    database.there = False
    with StoreCache().reading(database) as state, pytest.raises(StoreNotFoundError, match="bolt://somewhere"):
        state()
    with StoreCache().reading(database):
        pass
