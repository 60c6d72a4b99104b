"""BERTScore (Zhang et al., ICLR 2020), by the package of its authors.

It compares tokens in context, so its values mean something only with the model and layer they were made with: the
package's signature is reported with them. Its weights come from Hugging Face, or lie in a folder.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from trivium.errors import EmbeddingError, MissingExtraError

DEFAULT_MODEL = "roberta-large"
"""What the package takes for English."""


class BertScore:
    """F1 in about [0, 1], higher is better, not rescaled; of several known answers the best."""

    def __init__(self, model: str = DEFAULT_MODEL, layers: int | None = None) -> None:
        """``model`` is a name the package knows, or the folder of another model with the number of ``layers`` to take.
        Raises MissingExtraError without the package, EmbeddingError where the model cannot be had."""
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

    @property
    def signature(self) -> str:
        """Model, layer and versions, as the package writes them."""
        return str(self._scorer.hash)

    def scores(self, answers: Sequence[str], gold: Sequence[Sequence[str]]) -> list[float]:
        """F1 of each answer with the closest of its known answers; NaN for an empty one."""
        places = [place for place, answer in enumerate(answers) if answer.strip()]
        values = [math.nan] * len(answers)
        if places:
            _, _, f1 = self._scorer.score(
                [answers[place] for place in places], [list(gold[place]) for place in places]
            )
            for place, value in zip(places, f1.tolist(), strict=True):
                values[place] = float(value)
        return values
