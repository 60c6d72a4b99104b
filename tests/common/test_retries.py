"""How long the package waits before it asks again."""

from __future__ import annotations

import pytest
from tenacity import Future, RetryCallState, Retrying

from trivium.common.retries import PassingError, wait_between


def state(attempt: int, error: BaseException) -> RetryCallState:
    """After an attempt that failed."""
    made = RetryCallState(Retrying(), None, (), {})
    made.attempt_number = attempt
    made.outcome = Future(attempt)
    made.outcome.set_exception(error)
    return made


@pytest.mark.parametrize(
    ("attempt", "least", "most"), [(1, 0.25, 0.5), (2, 0.5, 1.0), (4, 2.0, 4.0), (9, 15.0, 30.0)]
)
def test_waits_double_up_to_the_longest(attempt: int, least: float, most: float) -> None:
    """Half a second first, half of the wait by chance, 30 seconds at most."""
    waits = [wait_between(30.0)(state(attempt, PassingError("busy"))) for _ in range(50)]
    assert least <= min(waits) and max(waits) <= most
    assert len(set(waits)) > 1


@pytest.mark.parametrize(("asked", "waited"), [(0.0, 0.0), (7.0, 7.0), (3600.0, 30.0)])
def test_what_the_server_asks_for_is_waited(asked: float, waited: float) -> None:
    """Also nothing, and no more than the longest wait."""
    assert wait_between(30.0)(state(5, PassingError("busy", asked))) == waited
