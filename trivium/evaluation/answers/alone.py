"""Asks a language model a question without any passages, to measure what it knows by itself."""

from __future__ import annotations

from trivium.answering.answer import final_text
from trivium.answering.events import NOT_FOUND
from trivium.answering.marks import MarkFilter
from trivium.answering.prompt_styles import DEFAULT, prompt_style
from trivium.answering.prompting import ANSWER_TOKENS, quoted
from trivium.answering.repetition import Repetition, cut_at
from trivium.answering.writing import Writing
from trivium.llm.base import ChatModel, usage_of
from trivium.types import Answer


def answer_without_context(question: str, model: ChatModel, writing: Writing) -> Answer:
    """Return the model's answer in the form required by the prompt style; its statements have no passages. Raises
    ChatModelError.
    """
    style = prompt_style(DEFAULT) if writing.style is None else writing.style
    messages = style.messages_alone(quoted(question))
    wanted = ANSWER_TOKENS if writing.max_tokens is None else writing.max_tokens
    max_tokens = min(wanted, model.context_tokens // 4)
    text, again, repetition = "", None, Repetition()
    with model.stream(messages, max_tokens=max_tokens, temperature=writing.temperature) as reply:
        for piece in MarkFilter(()).filtered(reply):
            text += piece
            again = repetition.start(text) if piece else None
            if again is not None:
                break
    usage = usage_of(reply, model, messages, text)
    text = text if again is None else cut_at(text, again)
    text = final_text(text, cut=reply.usage is not None and reply.usage.truncated)
    return Answer(
        question=question,
        searched_for=None,
        text=text,
        outcome="absent" if text == NOT_FOUND else "answered",
        statements=(),
        citations=(),
        passages=(),
        intent="collection",
        model=model.name,
        usage=usage,
    )
