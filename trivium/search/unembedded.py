"""What is said of a store whose texts are not all embedded."""

from __future__ import annotations

from trivium.graph.records import WaitingTexts


def waiting_warning(numbers: WaitingTexts) -> str | None:
    """Return a warning if texts have no vector yet, so that searches cannot find them by meaning.

    >>> waiting_warning(WaitingTexts(2, 1614))
    '2 of 1,614 texts are not embedded yet: run  trivium embed --store STORE'
    """
    if not numbers.waiting:
        return None
    return f"{numbers.waiting:,} of {numbers.texts:,} texts are not embedded yet: run  trivium embed --store STORE"
