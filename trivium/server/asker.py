"""Who answers questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from trivium.answering.events import AnswerEvent
from trivium.engine import Engine
from trivium.llm.base import ChatModel
from trivium.types import Turn


class Asker(Protocol):
    """Answers from a collection; :class:`~trivium.engine.Engine` is one."""

    def ask_stream(
        self,
        question: str,
        *,
        k: int = 6,
        history: Sequence[Turn] = (),
        model: ChatModel | None = None,
        retrievers: Sequence[str] | None = None,
        fusion: str | None = None,
    ) -> Iterator[AnswerEvent]:
        """The answer as it comes about: Found once, Pieces, Done once. Closed early, it stops writing. Raises
        InputError, StoreError and ChatModelError as it goes."""
        ...


def itself(engine: Engine) -> Asker:
    """The engine, as who answers."""
    return engine
