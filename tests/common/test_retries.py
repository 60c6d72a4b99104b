"""How long the package waits before it asks again."""

from __future__ import annotations

import pytest

from trivium.common.retries import PassingError, retried, wait_between


@pytest.mark.parametrize(
    ("attempt", "least", "most"), [(1, 0.25, 0.5), (2, 0.5, 1.0), (4, 2.0, 4.0), (9, 15.0, 30.0)]
)
def test_waits_double_up_to_the_longest(attempt: int, least: float, most: float) -> None:
    """Half a second first, half of the wait by chance, 30 seconds at most."""
    waits = [wait_between(30.0)(PassingError("busy"), attempt) for _ in range(50)]
    assert least <= min(waits) and max(waits) <= most
    assert len(set(waits)) > 1


@pytest.mark.parametrize(("asked", "waited"), [(0.0, 0.0), (7.0, 7.0), (3600.0, 30.0)])
def test_what_the_server_asks_for_is_waited(asked: float, waited: float) -> None:
    """Also nothing, and no more than the longest wait."""
    assert wait_between(30.0)(PassingError("busy", asked), 5) == waited


def test_attempts_end_with_success_or_with_the_last_error() -> None:
    """After as many retries as were allowed, at once where another would be no use, and with any other error."""

    def failing(times: int, error: type[Exception] = PassingError) -> list[int]:
        made: list[int] = []

        def attempt() -> str:
            made.append(len(made))
            if len(made) <= times:
                raise error(f"failure {len(made)}")
            return "done"

        slept: list[float] = []
        try:
            found = retried(
                attempt,
                3,
                lambda _, number: 10.0 * number,
                sleep=slept.append,
                again=lambda *_: times != 9,
            )
        except PassingError as last:
            assert str(last) == f"failure {last.attempts}" and last.attempts == len(made)
        except ValueError:
            assert error is ValueError and made == [0]
        else:
            assert found == "done"
        assert slept == [10.0 * number for number in range(1, len(made))]
        return made

    assert [len(failing(times)) for times in (0, 1, 3, 4, 9)] == [1, 2, 4, 4, 1]
    assert len(failing(1, ValueError)) == 1
