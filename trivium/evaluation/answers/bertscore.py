"""BERTScore (Zhang et al., ICLR 2020), using its authors' package.

It compares contextual token embeddings, so values are comparable only for the same model and layer: the package's
signature is reported with them. The weights are downloaded from Hugging Face, or read from a folder.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

from trivium.errors import EmbeddingError, MissingExtraError

DEFAULT_MODEL = "roberta-large"
"""The package's default for English."""


class BertScore:
    """F1 in about [0, 1], higher is better, not rescaled. With several known answers the best value counts."""

    def __init__(self, model: str = DEFAULT_MODEL, layers: int | None = None) -> None:
        """``model`` is a name known to the package, or the folder of another model with the number of ``layers`` to
        use. Raises MissingExtraError without the package, EmbeddingError if the model is unavailable.
        """
        try:
            from bert_score import BERTScorer
        except ImportError as error:
            raise MissingExtraError("BERTScore", "bertscore") from error
        try:
            self._scorer: Any = BERTScorer(model_type=model, num_layers=layers)
        except (OSError, KeyError, ValueError, AssertionError) as error:
            raise EmbeddingError(
                f"BERTScore cannot load {model!r}: expected a name it knows and a way to Hugging Face, or the folder of a"
                f" model and the number of its layers to take ({error})"
            ) from error
        self.model = model

    @classmethod
    def named(cls, name: str) -> Self:
        """Return that of a model by name, or of ``FOLDER:LAYERS``. Raises as the constructor."""
        folder, colon, layers = name.rpartition(":")
        return cls(folder, int(layers)) if colon and layers.isdigit() else cls(name)

    @property
    def signature(self) -> str:
        """Model, layer and versions, in the package's format."""
        return str(self._scorer.hash)

    def scores(self, answers: Sequence[str], gold: Sequence[Sequence[str]]) -> list[float]:
        """Return the F1 of each answer with its closest known answer; NaN for an empty one."""
        places = [place for place, answer in enumerate(answers) if answer.strip()]
        values = [math.nan] * len(answers)
        if places:
            _, _, f1 = self._scorer.score(
                [answers[place] for place in places], [list(gold[place]) for place in places]
            )
            for place, value in zip(places, f1.tolist(), strict=True):
                values[place] = float(value)
        return values
