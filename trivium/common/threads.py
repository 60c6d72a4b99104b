"""Threads that report whether they have ended."""

from __future__ import annotations

import threading


class Thread(threading.Thread):
    """A thread that records its end. :meth:`is_alive` is not sufficient, because it is also false for a moment while a
    thread is being started.
    """

    ended = False

    def run(self) -> None:
        try:
            super().run()
        finally:
            self.ended = True
