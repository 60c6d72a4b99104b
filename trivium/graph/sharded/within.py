"""Several stores restricted by a condition: what it leaves of each, searched as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from trivium.common import stopping
from trivium.graph.allowed import Allowed
from trivium.graph.filters import Condition
from trivium.graph.protocols import SearchStore
from trivium.graph.records import Neighbour, Reached, Vectors
from trivium.graph.schema import Hop, Label
from trivium.graph.sharded import searches
from trivium.graph.sharded.joined import JoinedState, JoinedStrings
from trivium.graph.within import Within


class ShardedWithin(Within):
    """See :class:`trivium.graph.within.Within`."""

    def __init__(
        self,
        store: SearchStore,
        condition: Condition,
        shards: Sequence[Within],
        state: Callable[[], JoinedState],
    ) -> None:
        super().__init__(store, condition)
        self._shards = shards
        self._state = state

    @property
    def allowed(self) -> Allowed:
        state = self._state()
        known = state.conditions.find(None, [self._condition]).get(self._condition)
        if known is None:
            known = self._join(state, [shard.allowed for shard in stopping.each(self._shards, 1)])
            state.conditions.put(None, {self._condition: known})
        return known

    def _join(self, state: JoinedState, parts: Sequence[Allowed]) -> Allowed:
        chunks = state.adjacency.chunks
        assert isinstance(chunks, JoinedStrings)
        mask = np.zeros(len(chunks), dtype=np.bool_)
        for part, places in zip(parts, chunks.places, strict=True):
            mask[places] = part.mask
        # What one shard does not know another one may.
        hints = () if mask.any() else min((part.hints for part in parts), key=len)
        return Allowed(self._condition, chunks, mask, hints)

    def nearest(
        self, labels: Sequence[Label], vector: Vectors, k: int, *, exact: bool = False
    ) -> list[Neighbour]:
        return searches.nearest(self._shards, labels, vector, k, exact=exact)

    def expand_nearest(
        self,
        labels: Sequence[Label],
        vector: Vectors,
        nodes: int,
        hop: Hop,
        limit: int | None,
        *,
        exact: bool = False,
    ) -> list[Reached]:
        return searches.expand_nearest_matching(self._shards, labels, vector, nodes, hop, limit, exact=exact)

    def keyword_search(self, terms: Sequence[str], k: int) -> list[str]:
        wanted = list(dict.fromkeys(terms))
        return searches.keyword_search(self._shards, wanted, k, self._store.term_statistics(wanted))

    def expand(self, uris: Sequence[str], hop: Hop) -> dict[str, list[str]]:
        return searches.expand(self._shards, uris, hop)

    def outline(self, pages: Sequence[str]) -> dict[str, list[str]]:
        return searches.outline(self._shards, pages)
