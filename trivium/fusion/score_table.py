"""What a fusion takes, the raw scores of the candidates of one question, and what it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats
from trivium.errors import FusionError
from trivium.types import SourceNode


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Candidates of one question: n chunks in rows (sorted by uri), m retrievers in columns.

    - ``raw`` (n, m): scores in each retriever's own unit; higher is better, NaN where there is none.
    - ``ranks`` (n, m): rank in the retriever's list, counted from 1; 0 where it did not return the chunk.
    - ``source_nodes``: for each chunk, what led each retriever that returned it there (empty: found directly).
    - ``signals``: additional columns (n,) by name, NaN where undefined; ``question``: features of the question. Both
      are filled only for fusions that need them (:attr:`trivium.fusion.score_table.Fusion.needs_signals`).

    Raises FusionError when the shapes do not match.
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
        """Return the table of some candidates."""
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
        """Whether the retriever returned the chunk (n, m)."""
        answer: NDArray[np.bool_] = self.ranks > 0
        return answer

    def column(self, name: str) -> int:
        """Return the number of a retriever's column. Raises FusionError when it does not exist."""
        if name not in self.columns:
            raise FusionError(f"the table has no column {name!r}, only {', '.join(self.columns)}")
        return self.columns.index(name)


def joined(first: Table, later: Table) -> Table:
    """Concatenate the candidates of two tables with the same retrievers and signals. Question features are those of
    the first.
    """
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


@dataclass(frozen=True, slots=True)
class Fused:
    """The fused scores of one question's candidates.

    ``scores`` (n,): higher is better. ``baseline`` is the score of an average candidate (SHAP's base value), and
    ``explain(rows)`` (r, m) what each column of the table adds to it in these rows: ``baseline +
    explain(rows).sum(axis=1) == scores[rows]``.
    """

    scores: Floats
    explain: Callable[[Sequence[int]], Floats]
    baseline: float = 0.0


class Fusion(Protocol):
    """Turns a table of raw scores into one score per candidate."""

    @property
    def name(self) -> str: ...

    @property
    def needs_signals(self) -> bool:
        """Whether it uses the signals of a table, which take time to compute."""
        ...

    @property
    def log_odds(self) -> bool:
        """Whether its scores are log-odds of relevance, calibrated on the training data."""
        ...

    def fuse(self, table: Table) -> Fused: ...
