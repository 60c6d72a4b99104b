"""What conditions test of each chunk beside its page: its kind, and the pages of a document that it stands on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trivium.common import stopping
from trivium.graph.arrays.row_moves import Moves
from trivium.graph.arrays.row_source import DetailRow
from trivium.graph.arrays.topology import Nodes
from trivium.graph.filter_matching import Coded


@dataclass(frozen=True, slots=True)
class ChunkDetails:
    """The ``kinds`` of all chunks (n,), and the first and last page (n, 2) that each stands on, 0 if it has none. Chunks
    never change under their number.
    """

    kinds: Coded
    pages: NDArray[np.int32]

    @classmethod
    def of(cls, chunks: Nodes, blocks: Iterable[Sequence[DetailRow]]) -> ChunkDetails:
        """Gather those of all chunks."""
        count = len(chunks.ids)
        none = cls(Coded([], np.zeros(count, dtype=np.int32)), np.zeros((count, 2), dtype=np.int32))
        return none._with(chunks, blocks)

    def patched(self, moves: Moves, chunks: Nodes, new: Sequence[DetailRow]) -> ChunkDetails:
        """Return the details after changes. ``moves`` says where old chunks are among ``chunks``."""
        kinds = Coded(self.kinds.names, moves.carry(self.kinds.codes, 0))
        kept = ChunkDetails(kinds, moves.carry(self.pages, 0))
        return kept._with(chunks, [new]) if len(moves.added) else kept

    def _with(self, chunks: Nodes, blocks: Iterable[Sequence[DetailRow]]) -> ChunkDetails:
        """Fill in those of chunks whose rows nobody else has seen yet."""
        known = {name: code for code, name in enumerate(self.kinds.names)}
        for block in stopping.each(blocks, 1):
            rows = chunks.rows_of(np.array([row[0] for row in block], dtype=np.int64))
            self.kinds.codes[rows] = [known.setdefault(row[1], len(known)) for row in block]
            self.pages[rows] = np.array([row[2:] for row in block], dtype=np.int32).reshape(-1, 2)
        return ChunkDetails(Coded(list(known), self.kinds.codes), self.pages)
