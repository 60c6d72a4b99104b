"""What conditions test of each chunk beside its page: its kind, and the pages of a document that it stands on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trivium.common import stopping
from trivium.graph.embedded.connection import Connection
from trivium.graph.embedded.topology import Nodes
from trivium.graph.filter_values import Coded
from trivium.graph.moves import Moves

_BLOCK = 50_000
_KINDS = "SELECT id, kind FROM chunk WHERE id > ?"
_PAGES = "SELECT chunk_id, first_page, last_page FROM chunk_pages WHERE chunk_id > ?"


@dataclass(frozen=True, slots=True)
class ChunkDetails:
    """The ``kinds`` of all chunks (n,), and the first and last page (n, 2) that each stands on, 0 if it has none. Chunks
    never change under their number.
    """

    kinds: Coded
    pages: NDArray[np.int32]

    @classmethod
    def read(cls, connection: Connection, chunks: Nodes) -> ChunkDetails:
        """Read those of all chunks."""
        count = len(chunks.ids)
        none = cls(Coded([], np.zeros(count, dtype=np.int32)), np.zeros((count, 2), dtype=np.int32))
        return none._with_new(connection, chunks, 0)

    def patched(self, connection: Connection, moves: Moves, chunks: Nodes, after: int) -> ChunkDetails:
        """Return the details after changes. ``moves`` says where old chunks are among ``chunks``; new ones have numbers
        above ``after``.
        """
        kinds = Coded(self.kinds.names, moves.carry(self.kinds.codes, 0))
        kept = ChunkDetails(kinds, moves.carry(self.pages, 0))
        return kept._with_new(connection, chunks, after) if len(moves.added) else kept

    def _with_new(self, connection: Connection, chunks: Nodes, after: int) -> ChunkDetails:
        """Fill in those of the chunks above a number, whose rows nobody else has seen yet."""
        known = {name: code for code, name in enumerate(self.kinds.names)}
        cursor = connection.execute(_KINDS, [after])
        while found := cursor.fetchmany(_BLOCK):
            stopping.check()
            rows = chunks.rows_of(np.array([number for number, _ in found], dtype=np.int64))
            self.kinds.codes[rows] = [known.setdefault(kind, len(known)) for _, kind in found]
        cursor = connection.execute(_PAGES, [after])
        while found := cursor.fetchmany(_BLOCK):
            stopping.check()
            numbers = np.array(found, dtype=np.int64)
            self.pages[chunks.rows_of(numbers[:, 0])] = numbers[:, 1:]
        return ChunkDetails(Coded(list(known), self.kinds.codes), self.pages)
