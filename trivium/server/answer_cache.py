"""Cache of recent answers, which hold as long as the store does not change."""

from __future__ import annotations

from collections import OrderedDict

from pydantic import BaseModel

from trivium.server.questions import Reply

_PART = 16
"""An answer larger than one part in this many of the cache is not kept: it would displace too many others."""
_ENTRY_BYTES = 500
"""About what an entry needs beside its key and its answer."""

Key = tuple[str, str]


class AnswerCache:
    """The answers used last, at most ``capacity`` bytes of them; 0 disables it. It belongs to one event loop and must
    only be used from there.

    A search without live sources, rerankers and language models always gives the same answer on the same state of a
    store. When the state changes, all answers are dropped.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._state: str | None = None
        self._replies: OrderedDict[Key, Reply] = OrderedDict()
        self._bytes = 0

    def key(self, kind: str, given: BaseModel, state: str | None) -> Key | None:
        """Return what identifies a question; None if its answer is not to be kept: without a state, and for questions
        that ask others than the store.
        """
        if not self._capacity or state is None:
            return None
        if getattr(given, "sources", None) or getattr(given, "rerank", None):
            return None
        return kind, given.model_dump_json(exclude_defaults=True)

    def find(self, state: str | None, key: Key) -> Reply | None:
        """Return the answer given on this state, if it is kept."""
        if state != self._state or key not in self._replies:
            return None
        self._replies.move_to_end(key)
        return self._replies[key]

    def put(self, state: str | None, key: Key, reply: Reply) -> None:
        """Keep an answer given on this state, and drop those of other states."""
        if state != self._state:
            self._replies.clear()
            self._state, self._bytes = state, 0
        size = _size(key, reply)
        if size > self._capacity // _PART:
            return
        before = self._replies.pop(key, None)
        self._bytes += size - (0 if before is None else _size(key, before))
        self._replies[key] = reply
        while self._bytes > self._capacity:
            self._bytes -= _size(*self._replies.popitem(last=False))


def _size(key: Key, reply: Reply) -> int:
    return _ENTRY_BYTES + len(key[1]) + len(reply.body)
