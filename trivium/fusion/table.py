"""What retrieval hands to fusion: the raw scores of one question's candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from trivium.errors import FusionError
from trivium.types import SourceNode


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Candidates of one question: n chunks in rows (by uri), m retrievers in columns.

    ``raw`` (n x m) holds scores in each retriever's own unit, higher is better, NaN where there is none.
    ``ranks`` (n x m) is the place in the retriever's list from 1, and 0 where it did not return the chunk.
    ``source_nodes`` has for each chunk, by retriever that returned it, what led there (empty: nothing did).
    ``signals`` are further columns (n,) by name, NaN where there is nothing to say, and ``question`` numbers of the
    question itself: both only where a fusion asks for them (:attr:`trivium.fusion.base.Fusion.needs_signals`).
    Raises FusionError when the shapes do not fit.
    """

    chunks: tuple[str, ...]
    columns: tuple[str, ...]
    raw: NDArray[np.float64]
    ranks: NDArray[np.int64]
    source_nodes: tuple[Mapping[str, SourceNode], ...]
    signals: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    question: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shape = (len(self.chunks), len(self.columns))
        if self.raw.shape != shape or self.ranks.shape != shape or len(self.source_nodes) != len(self.chunks):
            raise FusionError(
                f"a table of {shape[0]} chunks x {shape[1]} retrievers needs scores and ranks of that shape "
                f"and one map of source nodes a chunk, got {self.raw.shape}, "
                f"{self.ranks.shape} and {len(self.source_nodes)}"
            )
        wrong = [name for name, values in self.signals.items() if values.shape != shape[:1]]
        if wrong:
            raise FusionError(
                f"expected one number a chunk in every signal, got others in {', '.join(wrong)}"
            )

    def take(self, rows: Sequence[int]) -> Table:
        """The table of some candidates."""
        some = list(rows)
        return Table(
            chunks=tuple(self.chunks[row] for row in some),
            columns=self.columns,
            raw=self.raw[some],
            ranks=self.ranks[some],
            source_nodes=tuple(self.source_nodes[row] for row in some),
            signals={name: values[some] for name, values in self.signals.items()},
            question=self.question,
        )

    @property
    def returned(self) -> NDArray[np.bool_]:
        """(n x m): did the retriever return the chunk?"""
        answer: NDArray[np.bool_] = self.ranks > 0
        return answer

    def column(self, name: str) -> int:
        """Number of a retriever's column. Raises FusionError when it is not there."""
        if name not in self.columns:
            raise FusionError(f"the table has no column {name!r}, only {', '.join(self.columns)}")
        return self.columns.index(name)


def joined(first: Table, later: Table) -> Table:
    """The candidates of one table, then those of another, both of the same retrievers and signals. The numbers of the
    question are the first one's."""
    return Table(
        chunks=first.chunks + later.chunks,
        columns=first.columns,
        raw=np.concatenate([first.raw, later.raw]),
        ranks=np.concatenate([first.ranks, later.ranks]),
        source_nodes=first.source_nodes + later.source_nodes,
        signals={
            name: np.concatenate([values, later.signals[name]]) for name, values in first.signals.items()
        },
        question=first.question,
    )
