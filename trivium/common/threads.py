"""What the standard library does not say of a thread."""

from __future__ import annotations

import threading


class Thread(threading.Thread):
    """A thread of which is known that it has ended. :meth:`is_alive` does not tell: it is also false for a moment while a
    thread is being started."""

    ended = False

    def run(self) -> None:
        try:
            super().run()
        finally:
            self.ended = True
