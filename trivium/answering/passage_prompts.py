"""Asks a language model about passages: quoted as data, shortened until they fit its window, with a reply in JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from trivium.answering.citation_marks import without_thoughts
from trivium.answering.prompting import SLACK, block, quoted
from trivium.errors import ChatModelError
from trivium.graph.schema import headings_of
from trivium.llm.chat_model import ChatModel, Message, usage_of
from trivium.llm.json_replies import JsonSchema
from trivium.text.normalise import plain, sentences
from trivium.types import Usage

REPLY_TOKENS = 1024
"""Maximum length of a reply in tokens, reasoning included; at most a quarter of the context window."""
SENTENCE_NUMBER: JsonSchema = {"type": "integer", "enum": list(range(1, 41))}
"""JSON schema of the number of a sentence of :func:`numbered`."""
_MIN_CHARACTERS = 80
"""Minimum length to which a passage is truncated, in characters."""
_MIN_SHOWN = 2
"""Passages that are shortened rather than left out."""


@dataclass(frozen=True, slots=True)
class Source:
    """A chunk that a model may be asked about. ``section`` is the section or page directly above it."""

    uri: str
    page: str
    section: str
    text: str

    @property
    def headings(self) -> str:
        """The path of headings above the chunk, for display."""
        return " > ".join(headings_of(self.section))


@dataclass(frozen=True, slots=True)
class Prompt:
    """The messages to send, and the passages in them, numbered from 1. To make them fit, the last ones may be left out
    and any may be truncated.
    """

    messages: tuple[Message, ...]
    shown: tuple[Source, ...]
    max_tokens: int


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The text of a reply, whether it was ``truncated`` at the token limit, and the tokens used."""

    text: str
    truncated: bool
    usage: Usage


def numbered(source: Source) -> str:
    """Format a passage for a prompt: its numbered sentences, as quoted data."""
    lines = [
        f"{number}. {quoted(source.text[start:end])}"
        for number, (start, end) in enumerate(sentences(source.text), start=1)
    ]
    return f"<passage>\n{quoted(source.headings)}\n" + "\n".join(lines) + "\n</passage>\n"


def ask(prompt: Prompt, model: ChatModel, schema: JsonSchema, temperature: float | None = None) -> ModelReply:
    """Return the model's reply without reasoning and control characters. Raises ChatModelError when the model fails."""
    with model.stream(
        prompt.messages, max_tokens=prompt.max_tokens, temperature=temperature, schema=schema
    ) as reply:
        text = "".join(without_thoughts(reply))
    truncated = reply.usage is not None and reply.usage.truncated
    return ModelReply(plain(text).strip(), truncated, usage_of(reply, model, prompt.messages, text))


def _shown(number: int, source: Source) -> str:
    return block(number, source.headings, source.text)


def fitted_prompt(
    instructions: str,
    sources: Sequence[Source],
    request: str,
    model: ChatModel,
    show: Callable[[int, Source], str] = _shown,
) -> Prompt:
    """Create a prompt of instructions, passages formatted by ``show``, and a request. Raises ChatModelError when not
    even two truncated passages, or the only one, fit the model's context window.
    """
    max_tokens = min(REPLY_TOKENS, model.context_tokens // 4)
    room = model.context_tokens - max_tokens - SLACK - model.count_tokens(instructions)

    def user_message(shown: Sequence[Source]) -> str:
        blocks = (show(n, source) for n, source in enumerate(shown, start=1))
        return f"{''.join(blocks)}\n{request}"

    def fits(shown: Sequence[Source]) -> bool:
        return model.count_tokens(user_message(shown)) <= room

    shown = _fitted(sources, fits, model)
    return Prompt((Message("system", instructions), Message("user", user_message(shown))), shown, max_tokens)


def _fitted(
    sources: Sequence[Source], fits: Callable[[Sequence[Source]], bool], model: ChatModel
) -> tuple[Source, ...]:
    """Return the sources that fit: the last ones are dropped, down to two, then the longest is shortened until they
    fit.
    """
    shown = list(sources)
    while not fits(shown):
        if len(shown) > _MIN_SHOWN:
            shown.pop()
            continue
        longest = max(range(len(shown)), key=lambda place: len(shown[place].text))
        text = shown[longest].text
        if len(text) <= _MIN_CHARACTERS:
            raise ChatModelError(
                f"{model.name} reads {model.context_tokens} tokens, which leaves no room for the passages: use another"
                " model, or set TRIVIUM_CHAT_CONTEXT_TOKENS if it reads more"
            )
        shown[longest] = replace(shown[longest], text=text[: len(text) * 3 // 4])
    return tuple(shown)
