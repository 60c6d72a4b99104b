"""What the standard library does not say of a thread."""

from __future__ import annotations

import threading


def has_ended(thread: threading.Thread) -> bool:
    """Whether a thread was started and has ended."""
    return thread.ident is not None and not thread.is_alive()
