"""The default fusion of a store, decided on its user's own questions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from trivium.errors import FusionError


@dataclass(frozen=True, slots=True)
class Decision:
    """``fusion`` is the name of a fusion or the folder of a trained one, ``because`` the reason as a sentence,
    ``questions`` the number of questions it was judged on, and ``figures`` the gate's figures (plain JSON values).
    """

    fusion: str
    because: str
    questions: int
    figures: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """Serialise the decision for storage."""
        return json.dumps(asdict(self), ensure_ascii=False)


def read_decision(text: str) -> Decision:
    """Parse a stored decision. Raises FusionError when it is malformed."""
    try:
        values = json.loads(text)
        return Decision(
            fusion=str(values["fusion"]),
            because=str(values["because"]),
            questions=int(values["questions"]),
            figures=dict(values["figures"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise FusionError(
            f"the store's decision on its fusion is damaged ({error!r}): decide again with"
            "  trivium evaluate QUESTIONS --store STORE --activate"
        ) from error
