"""Which chunks of a store a condition leaves."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trivium.graph.filter_values import ChunkFacts, Mask, matching, unknown_names
from trivium.graph.filters import Condition
from trivium.graph.schema import page_of, section_of


@dataclass(frozen=True)
class Allowed:
    """The chunks that match: ``mask`` (n,) over ``chunks``, which are all there are, in uri order."""

    condition: Condition
    chunks: Sequence[str]
    mask: Mask
    hints: tuple[str, ...] = ()
    """Why nothing matches, for people; none where something does."""
    beside: frozenset[str] = frozenset()
    """Further chunks that match, of live sources: not of the store, and in none of the rest but ``has`` and ``count``."""

    @classmethod
    def of(cls, condition: Condition, facts: ChunkFacts) -> Allowed:
        """The chunks that match, of all that ``facts`` knows of."""
        mask = matching(condition, facts)
        found = () if mask.any() else ("no passage fulfils the condition", *unknown_names(condition, facts))
        return cls(condition, facts.chunks, mask, found)

    @cached_property
    def rows(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Which chunks match, ascending."""
        return np.flatnonzero(self.mask)

    @property
    def count(self) -> int:
        """How many chunks match."""
        return len(self.rows) + len(self.beside)

    def has(self, uri: str) -> bool:
        """Whether a chunk is there and matches. Makes no set of all of them."""
        if uri in self.beside:
            return True
        row = bisect_left(self.chunks, uri)
        return row < len(self.chunks) and self.chunks[row] == uri and bool(self.mask[row])

    @cached_property
    def uris(self) -> list[str]:
        """Of the chunks that match, in uri order."""
        return [self.chunks[row] for row in self.rows.tolist()]

    @cached_property
    def uri_set(self) -> frozenset[str]:
        """The same as a set."""
        return frozenset(self.uris)

    @cached_property
    def parents(self) -> frozenset[str]:
        """Pages and sections directly above chunks that match."""
        return frozenset(map(section_of, self.uris))

    @cached_property
    def pages(self) -> frozenset[str]:
        """Pages of chunks that match."""
        return frozenset(map(page_of, self.uris))
