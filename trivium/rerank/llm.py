"""What the language models that judge passages share: prompts that fit, and replies that are data."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trivium.answering.prompting import SLACK, quoted
from trivium.errors import RerankError
from trivium.llm.base import ChatModel, Message
from trivium.rerank.base import RerankCandidate

MAX_CHARACTERS = 1500
"""Of a passage that a model is shown."""
MIN_CHARACTERS = 120
"""Less of a passage says too little of it."""
_SHRINK = 0.8


def shown(candidate: RerankCandidate, characters: int) -> str:
    """A passage under its headings, cut, as quoted data."""
    text = quoted(candidate.full_text)
    return text if len(text) <= characters else f"{text[:characters]} …"


def fitting(
    model: ChatModel,
    candidates: Sequence[RerankCandidate],
    prompt: Callable[[Sequence[RerankCandidate], int], Sequence[Message]],
    reply_tokens: Callable[[int], int],
) -> tuple[Sequence[Message], int]:
    """The prompt of as many of the candidates (best first) as the model's window holds, and their number. Passages are
    cut shorter before any is left out. Raises RerankError where not even one fits."""
    count, characters = len(candidates), float(MAX_CHARACTERS)
    while count > 0:
        messages = prompt(candidates[:count], int(characters))
        taken = sum(model.count_tokens(message.content) for message in messages)
        if taken + reply_tokens(count) + SLACK <= model.context_tokens:
            return messages, count
        if characters * _SHRINK >= MIN_CHARACTERS:
            characters *= _SHRINK
        else:
            count = int(count * _SHRINK)
    raise RerankError(
        f"{model.name} reads {model.context_tokens:,} tokens, in which not even one passage fits"
    )


def malformed(model: ChatModel, expected: str, reply: str) -> RerankError:
    """That a reply is not as asked for."""
    return RerankError(f"{model.name}: expected {expected}, got {quoted(reply)[:60]!r}")
