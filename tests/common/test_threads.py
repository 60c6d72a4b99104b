"""What is known of a thread."""

from __future__ import annotations

import threading

from trivium.common.threads import Thread


def test_a_thread_that_is_being_started_has_not_ended() -> None:
    """It has a number before it counts as alive: in between the two are the same as of one that has ended."""
    thread = Thread(target=lambda: None)
    thread._set_ident()  # type: ignore[attr-defined]
    assert thread.ident is not None and not thread.is_alive()
    assert not thread.ended


def test_a_thread_has_ended_when_its_work_is_done() -> None:
    begun, go = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go.wait(60)

    thread = Thread(target=work)
    thread.start()
    assert begun.wait(60) and not thread.ended
    go.set()
    thread.join(60)
    assert thread.ended
