"""What is kept between questions, and when it is dropped."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest

from trivium.errors import StoreNotFoundError
from trivium.graph.neo4j.memory import TRUST, Memory, Shelf, Standing
from trivium.graph.neo4j.recent import Recent
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
        return [[self.generation, "u", "toy", "1", 8, 70, 10]] if self.there else []


@pytest.fixture
def database() -> Any:
    return Database()


def test_a_shelf_keeps_the_values_asked_for_last() -> None:
    """Finding one counts as asking."""
    shelf: Shelf[str, int] = Shelf(2)
    shelf.keep(1, {"a": 1, "b": 2})
    assert shelf.find(1, ["a"]) == {"a": 1}
    shelf.keep(1, {"c": 3})
    assert shelf.find(1, ["a", "b", "c"]) == {"a": 1, "c": 3}


def test_a_shelf_holds_one_state() -> None:
    """The values of no other are given out, whichever came first: a database may be replaced by an older one."""
    shelf: Shelf[str, int] = Shelf(9)
    shelf.keep(2, {"a": 2})
    assert shelf.find(1, ["a"]) == shelf.find(3, ["a"]) == {}
    shelf.keep(1, {"a": 1})
    assert (shelf.find(1, ["a"]), shelf.find(2, ["a"])) == ({"a": 1}, {})
    shelf.keep(3, {"b": 3})
    assert shelf.find(3, ["a", "b"]) == {"b": 3}
    shelf.clear()
    assert shelf.find(3, ["b"]) == {}
    shelf.keep(1, {"a": 1})
    assert shelf.find(1, ["a"]) == {"a": 1}


def test_how_the_store_stands_is_asked_anew_when_trust_runs_out(
    database: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or at once, when it matters now or after a write of one's own."""
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    memory = Memory()
    expected = Standing(1, "u", EmbedderIdentity("toy", "1", 8), chunks=10, term_total=70)
    assert memory.standing(database) == memory.standing(database) == expected
    assert database.asked == 1
    database.generation = 2
    now += TRUST
    assert memory.standing(database).generation == 1
    now += 0.001
    assert memory.standing(database).generation == 2
    now += 0.001
    assert memory.standing(database, now=True).generation == 2
    memory.clear()
    assert memory.standing(database).generation == 2
    assert database.asked == 4


def test_a_store_that_is_gone_is_said_to_be(database: Any) -> None:
    """Not mistaken for an empty one."""
    database.there = False
    with pytest.raises(StoreNotFoundError, match="bolt://somewhere"):
        Memory().standing(database)


def test_of_threads_that_want_the_same_one_works_and_the_others_wait() -> None:
    """A second claim finds the first one's answer under way."""
    recent: Recent[str, int] = Recent(9)
    seen: list[int] = []
    with recent.claim(["a", "b"]) as (_, mine):
        assert list(mine) == ["a", "b"]

        def wait() -> None:
            with recent.claim(["b", "c"]) as (answers, own):
                assert list(own) == ["c"]
                own["c"].set_result(3)
            seen.extend(answer.result() for answer in answers)

        thread = threading.Thread(target=wait)
        thread.start()
        mine["a"].set_result(1)
        mine["b"].set_result(2)
    thread.join(timeout=10)
    assert seen == [2, 3]


def test_who_waits_for_a_failure_fails_and_the_next_one_tries_again() -> None:
    """What was answered before the failure stays."""
    recent: Recent[str, int] = Recent(9)
    with pytest.raises(ValueError, match="no"), recent.claim(["a", "b"]) as (answers, mine):
        mine["a"].set_result(1)
        raise ValueError("no")
    assert answers[0].result() == 1
    assert isinstance(answers[1].exception(), ValueError)
    with recent.claim(["a", "b"]) as (_, mine):
        assert list(mine) == ["b"]
        mine["b"].set_result(2)


def test_old_answers_make_way() -> None:
    """As many are kept as there is room for."""
    recent: Recent[str, int] = Recent(2)
    for key in ("a", "b", "c"):
        with recent.claim([key]) as (_, mine):
            mine[key].set_result(0)
    with recent.claim(["b", "c", "a"]) as (_, mine):
        assert list(mine) == ["a"]
        mine["a"].set_result(0)
