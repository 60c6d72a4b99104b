"""Shared parts of the rerankers with language models: prompts that fit the context window, and validation of replies."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trivium.answering.prompting import SLACK, quoted
from trivium.errors import RerankError
from trivium.llm.base import ChatModel, Message
from trivium.rerank.base import RerankCandidate

MAX_CHARACTERS = 1500
"""Maximum number of characters of a passage shown to a model."""
MIN_CHARACTERS = 120
"""A passage is not truncated below this length, because too little would remain of its content."""
_SHRINK = 0.8


def shown(candidate: RerankCandidate, characters: int) -> str:
    """Format a passage under its headings, truncated, as quoted data."""
    text = quoted(candidate.full_text)
    return text if len(text) <= characters else f"{text[:characters]} …"


def fitting(
    model: ChatModel,
    candidates: Sequence[RerankCandidate],
    prompt: Callable[[Sequence[RerankCandidate], int], Sequence[Message]],
    reply_tokens: Callable[[int], int],
) -> tuple[Sequence[Message], int]:
    """Return the prompt with as many of the candidates (best first) as fit the model's context window, and their
    number. Passages are shortened before any is left out. Raises RerankError when not even one fits.
    """
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
    """Create the error for a malformed reply."""
    return RerankError(f"{model.name}: expected {expected}, got {quoted(reply)[:60]!r}")
