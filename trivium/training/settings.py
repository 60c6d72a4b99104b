"""How a fusion is trained."""

from __future__ import annotations

from dataclasses import dataclass

from trivium.errors import ConfigurationError

FEWEST = 50
"""With so many questions adapting the network that ships is worth it (experiments/fusion)."""
MOST = 1000
"""With fewer questions the network that ships is adapted instead of a new one trained (experiments/fusion)."""


def check_minimum(settings: object, **minimum: int) -> None:
    """Raise ConfigurationError unless each named setting is at least its minimum."""
    low = [f"{name} of {n} or more" for name, n in minimum.items() if getattr(settings, name) < n]
    if low:
        raise ConfigurationError(f"training needs {', '.join(low)}")


@dataclass(frozen=True, slots=True)
class Settings:
    """How a network is trained.

    Model: ``hidden`` are the numbers of units of the hidden layers, ``dropout`` their dropout rate in [0, 1). ``start``
    times the convex combination of the retrievers is added to the output: the layers learn what to change of it.

    What kinds of documents that the training does not know need, and others do not mind (experiments/fusion), is added
    after it: ``convex`` times the same combination, and ``title_time`` times that signal, whether the title has the years
    and quarters of the question. Where candidates link to each other the layers know better: there the sum of both
    counts only as far as it is beyond ``fading``.

    Optimiser: AdamW with learning rate ``rate``, which falls to zero over ``epochs`` along a cosine, weight decay
    ``decay``, and batches of ``batch`` questions.

    Data: up to ``candidates`` candidates per question, of which at most a quarter are gold, drawn anew every ``redrawn``
    epochs. One page in ``watched`` is held out for validation, which decides the best epoch.

    A fusion is the mean of ``members`` networks with different seeds, starting at ``seed``. It is evaluated by
    cross-fitting in ``folds`` folds. Raises ConfigurationError for values out of range.
    """

    hidden: tuple[int, ...] = (128, 64)
    dropout: float = 0.2
    rate: float = 2e-3
    decay: float = 1e-2
    epochs: int = 14
    batch: int = 64
    candidates: int = 64
    redrawn: int = 5
    watched: int = 8
    start: float = 4.0
    convex: float = 1.0
    title_time: float = 0.5
    fading: float = 0.8
    members: int = 5
    folds: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        check_minimum(self, epochs=1, batch=1, candidates=4, redrawn=1, watched=2, members=1, folds=2, seed=0)
        if not all(units >= 1 for units in self.hidden):
            raise ConfigurationError(f"layers need 1 unit or more, got {self.hidden}")
        for name in ("start", "convex", "title_time", "fading"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ConfigurationError(f"{name} must be 0 or a positive number, got {getattr(self, name)}")
        if not (0 <= self.dropout < 1 and self.rate > 0 and self.decay >= 0):
            raise ConfigurationError("expected a dropout in [0, 1), a positive rate and a decay of 0 or more")
