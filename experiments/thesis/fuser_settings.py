"""How the fuser of the thesis is trained."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from trivium.datasets.cross_validation import folds
from trivium.errors import ConfigurationError
from trivium.training.settings import check_minimum

_STANDARDISATIONS = ("local", "global", "none")
MININGS = ("none", "hard", "global", "mixed")
SAMPLINGS = ("balanced", "share")
SPLITS = ("document", "question")


@dataclass(frozen=True)
class ThesisSettings:
    """The fuser of the thesis *Unveiling Hidden Information in Unstructured Documents* (Milano-Bicocca, 2024).

    Features: one column per retriever in ``retrievers``. ``depths`` limits a retriever's list to its best hits (by
    default all count). A candidate that a retriever did not return has the value ``floor`` in its column (the thesis:
    .75, below its lowest score of .81); None: the hundredth just below the lowest score of the training data, since
    cosines of other embedders lie elsewhere. ``standardisation``: columns are standardised over the candidates of a
    question ("local"), over the training data ("global"), or not ("none").

    Negatives: a first network is trained on all gold and a random sample of the other candidates: as many as there
    are gold ones (``sampling`` "balanced", as in the thesis), or a ``share`` of them, in (0, 1] ("share"). It then
    scores everything the retrievers returned. ``mining`` "hard", as in the thesis: of each question the ``share`` of
    the other candidates with the highest scores is kept, and the second network is trained on all gold and as many
    random ones of these. "global": on all gold and the ``share`` with the highest scores among the candidates of all
    questions together; such a network has seen no easy negatives, and few of most questions. "mixed": on these and the
    random sample. "none": there is no second network.

    Model: ``hidden`` are the units of the dense ReLU layers, with an ``l2`` penalty on their weights, batch
    normalisation, and ``dropout`` rates in [0, 1), one per layer.

    Optimiser: Adam with learning rate ``rate``, batches of ``batch`` candidates, at most ``epochs`` epochs. A share
    ``validation``, in [0, 1), of the sampled candidates is for validation. When the validation loss has not fallen for
    ``plateau`` epochs, the rate is multiplied by ``factor``, down to ``least_rate``; after ``patience`` epochs training
    stops. The best weights are kept.

    A fusion is the mean of ``members`` networks with different seeds, starting at ``seed``, which determines samples
    and first weights. It is evaluated by cross-fitting in ``folds`` folds, drawn by ``split_seed``: of questions
    (``split`` "question", as in the thesis) or of questions that share no page ("document"). Raises
    ConfigurationError for values out of range.
    """

    retrievers: tuple[str, ...] = ("vector", "page", "section", "entity", "path")
    depths: Mapping[str, int] = field(default_factory=lambda: {"vector": 10})
    standardisation: str = "local"
    sampling: str = "balanced"
    mining: str = "hard"
    share: float = 0.1
    floor: float | None = None
    hidden: tuple[int, ...] = (254, 128, 64)
    dropout: tuple[float, ...] = (0.2, 0.3, 0.4)
    l2: float = 0.01
    rate: float = 1e-3
    factor: float = 0.2
    least_rate: float = 1e-4
    plateau: int = 5
    patience: int = 10
    batch: int = 64
    epochs: int = 100
    validation: float = 0.2
    members: int = 1
    folds: int = 5
    seed: int = 0
    split: str = "document"
    split_seed: int = 0

    def __post_init__(self) -> None:
        check_minimum(self, plateau=1, patience=1, batch=2, epochs=1, members=1, folds=2)
        check_minimum(self, seed=0, split_seed=0)
        for name, known in (
            ("standardisation", _STANDARDISATIONS),
            ("sampling", SAMPLINGS),
            ("mining", MININGS),
            ("split", SPLITS),
        ):
            if getattr(self, name) not in known:
                raise ConfigurationError(
                    f"expected a {name} of {', '.join(known)}, got {getattr(self, name)}"
                )
        if len(self.dropout) != len(self.hidden) or not all(units >= 1 for units in self.hidden):
            raise ConfigurationError(
                f"expected layers of 1 unit or more with a dropout each, got {self.hidden} and {self.dropout}"
            )
        if not (
            all(0 <= part < 1 for part in (*self.dropout, self.validation))
            and 0 < self.share <= 1
            and 0 < self.factor < 1
        ):
            raise ConfigurationError(
                "expected dropouts and a validation in [0, 1), a share in (0, 1] and a factor between 0 and 1"
            )
        if not (self.floor is None or math.isfinite(self.floor)):
            raise ConfigurationError(f"expected a finite floor, got {self.floor}")
        if not (self.rate > 0 and self.least_rate > 0 and self.l2 >= 0):
            raise ConfigurationError("expected positive rates and a penalty of 0 or more")

    def fold_of(self, pages: Sequence[Sequence[str]]) -> NDArray[np.int64]:
        """The fold (questions,) of each question, given the pages of its gold. Raises InputError when there are fewer
        questions, or groups of questions that share no page, than folds.
        """
        groups = pages if self.split == "document" else [[f"{place:09}"] for place in range(len(pages))]
        return folds(groups, self.folds, self.split_seed)
