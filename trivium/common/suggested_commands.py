"""Commands of this program that messages suggest."""

from __future__ import annotations

import shlex

_PLACE = "--store STORE"


def for_store(message: str, store: str) -> str:
    """Name the store in the commands that a message suggests, so that they can be pasted. Messages that may reach remote
    callers say ``STORE``, because where a store lies is not exposed to them.

    >>> for_store("2 of 3 texts are not embedded yet: run  trivium embed --store STORE", "my store")
    "2 of 3 texts are not embedded yet: run  trivium embed --store 'my store'"
    """
    return message.replace(_PLACE, f"--store {shlex.quote(store)}")
