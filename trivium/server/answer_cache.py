"""Cache of recent answers, which hold as long as the store does not change."""

from __future__ import annotations

from pydantic import BaseModel

from trivium.common.cache import LruCache
from trivium.server.question_kinds import Reply

_PART = 16
"""An answer larger than one part in this many of the cache is not kept: it would displace too many others."""
_ENTRY_BYTES = 500
"""About what an entry needs beside its key and its answer."""

Key = tuple[str, str]


class AnswerCache:
    """The answers used last, at most ``capacity`` bytes of them; 0 disables it.

    A search without live sources, rerankers and language models always gives the same answer on the same state of a
    store. When the state changes, all answers are dropped.
    """

    def __init__(self, capacity: int) -> None:
        self._largest = capacity // _PART
        self._replies: LruCache[Key, Reply] | None = LruCache(capacity, _size) if capacity else None

    @property
    def bytes(self) -> int:
        """Size of the answers that are kept."""
        return 0 if self._replies is None else self._replies.taken

    def key(self, kind: str, given: BaseModel, state: str | None) -> Key | None:
        """Return what identifies a question; None if its answer is not to be kept: without a state, and for questions
        that ask others than the store.
        """
        if self._replies is None or state is None:
            return None
        if getattr(given, "sources", None) or getattr(given, "rerank", None):
            return None
        return kind, given.model_dump_json(exclude_defaults=True)

    def find(self, state: str | None, key: Key) -> Reply | None:
        """Return the answer given on this state, if it is kept."""
        return None if self._replies is None else self._replies.find(state, [key]).get(key)

    def put(self, state: str | None, key: Key, reply: Reply) -> None:
        """Keep an answer given on this state, and drop those of other states."""
        if self._replies is not None:
            self._replies.put(state, {key: reply} if _size(key, reply) <= self._largest else {})


def _size(key: Key, reply: Reply) -> int:
    return _ENTRY_BYTES + len(key[1]) + len(reply.body)
