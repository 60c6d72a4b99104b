"""What is kept in memory, when it is dropped, and who works when several want the same."""

from __future__ import annotations

import threading

import pytest

from trivium.common.cache import LruCache, SingleFlight


def test_the_values_used_last_are_kept() -> None:
    """Finding a value counts as using it."""
    cache: LruCache[str, int] = LruCache(2)
    cache.put(1, {"a": 1, "b": 2})
    assert cache.find(1, ["a"]) == {"a": 1}
    cache.put(1, {"c": 3})
    assert cache.find(1, ["a", "b", "c"]) == {"a": 1, "c": 3}


def test_a_cache_holds_the_values_of_one_state() -> None:
    """The values of another are never given out, whichever came first: a database may be replaced by an older one."""
    cache: LruCache[str, int] = LruCache(9)
    cache.put(2, {"a": 2})
    assert cache.find(1, ["a"]) == cache.find(3, ["a"]) == {}
    cache.put(1, {"a": 1})
    assert (cache.find(1, ["a"]), cache.find(2, ["a"])) == ({"a": 1}, {})
    cache.put(3, {"b": 3})
    assert cache.find(3, ["a", "b"]) == {"b": 3}
    cache.clear()
    assert cache.find(3, ["b"]) == {}
    cache.put(1, {"a": 1})
    assert cache.find(1, ["a"]) == {"a": 1}


def test_a_capacity_below_one_is_refused() -> None:
    """A cache that keeps nothing is a mistake."""
    with pytest.raises(ValueError, match="at least 1, got 0"):
        LruCache(0)
    with pytest.raises(ValueError, match="at least 1, got 0"):
        SingleFlight(0)


def test_an_answer_is_worked_out_once_however_many_threads_ask() -> None:
    """The second thread asks while the first is at work, and gets the first one's answer."""
    flight: SingleFlight[str, int] = SingleFlight()
    begun, finish, seen = threading.Event(), threading.Event(), list[int]()

    def work() -> int:
        begun.set()
        assert finish.wait(10)
        return 1

    threads = [threading.Thread(target=lambda: seen.append(flight.get("a", work)))]
    threads[0].start()
    assert begun.wait(10)
    threads.append(threading.Thread(target=lambda: seen.append(flight.get("a", lambda: 2))))
    threads[1].start()
    finish.set()
    for thread in threads:
        thread.join(10)
    assert seen == [1, 1]
    assert flight.get("a", lambda: 3) == 1


def test_after_a_failure_the_next_one_tries_again() -> None:
    """The error is not kept."""
    flight: SingleFlight[str, int] = SingleFlight()
    with pytest.raises(ZeroDivisionError):
        flight.get("a", lambda: 1 // 0)
    assert flight.get("a", lambda: 1) == 1


def test_a_thread_waits_only_for_what_another_works_on() -> None:
    """A second claim finds the first one's answer under way, and is given the rest to do."""
    flight: SingleFlight[str, int] = SingleFlight(9)
    seen: list[int] = []
    with flight.claim(["a", "b"]) as (_, mine):
        assert list(mine) == ["a", "b"]

        def wait() -> None:
            with flight.claim(["b", "c"]) as (answers, own):
                assert list(own) == ["c"]
                own["c"].set_result(3)
            seen.extend(answer.result() for answer in answers)

        thread = threading.Thread(target=wait)
        thread.start()
        mine["a"].set_result(1)
        mine["b"].set_result(2)
    thread.join(timeout=10)
    assert seen == [2, 3]


def test_threads_that_wait_for_a_failure_get_its_error() -> None:
    """What was answered before the failure stays."""
    flight: SingleFlight[str, int] = SingleFlight(9)
    with pytest.raises(ValueError, match="no"), flight.claim(["a", "b"]) as (answers, mine):
        mine["a"].set_result(1)
        raise ValueError("no")
    assert answers[0].result() == 1
    assert isinstance(answers[1].exception(), ValueError)
    with flight.claim(["a", "b"]) as (_, mine):
        assert list(mine) == ["b"]
        mine["b"].set_result(2)


def test_old_answers_are_dropped() -> None:
    """As many are kept as there is room for."""
    flight: SingleFlight[str, int] = SingleFlight(2)
    for key in ("a", "b", "c"):
        flight.get(key, lambda: 0)
    with flight.claim(["b", "c", "a"]) as (_, mine):
        assert list(mine) == ["a"]
        mine["a"].set_result(0)


def test_values_may_count_by_their_size() -> None:
    """A value that is replaced counts once, and one that is larger than all is not kept."""
    cache: LruCache[str, str] = LruCache(6, lambda key, value: len(key) + len(value))
    cache.put(1, {"a": "12", "b": "1"})
    cache.put(1, {"a": "1"})
    assert cache.taken == 4
    cache.put(1, {"c": "123"})
    assert cache.find(1, "abc") == {"a": "1", "c": "123"}
    cache.put(1, {"d": "1234567"})
    assert cache.find(1, "abcd") == {} and cache.taken == 0
    cache.put(1, {"a": "1"})
    cache.put(2, {})
    assert cache.find(2, "a") == {} and cache.taken == 0
