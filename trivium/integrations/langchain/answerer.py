"""Cited answers as a step of a LangChain chain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig, RunnableSerializable
from pydantic import Field

from trivium.common import stopping
from trivium.errors import InputError
from trivium.integrations.langchain.chat import LangChainChatModel
from trivium.integrations.langchain.store_handle import OnStore
from trivium.serialization import answer_json
from trivium.types import Intent, Turn

Asked = str | Mapping[str, Any]

_OPTIONS = (
    "k",
    "retrievers",
    "fusion",
    "settings",
    "where",
    "sources",
    "rerank",
    "cut",
    "intent",
    "rewrite",
    "prompt",
    "temperature",
    "max_tokens",
)
"""Options of the step that a single question may override."""


class TriviumAnswerer(OnStore, RunnableSerializable[Asked, dict[str, Any]]):
    """Runs :meth:`trivium.Engine.ask` and returns the fields of ``trivium ask --json``: ``answer``, ``markdown``
    (with tables, lists and code as such), ``outcome``, ``citations``, ``passages`` and so on.

    The input is a question, or a mapping with ``question``, ``history`` (turns, mappings of ``question`` and
    ``answer``, or LangChain messages) and options that override the fields of the step for this question. Cancelling an
    awaited call stops the model and disconnects from live sources. Also raises ChatModelError.
    """

    k: int = Field(default=6, ge=1)
    """Number of passages to read."""
    intent: Intent | None = None
    """Intent of the questions, instead of detecting it."""
    rewrite: bool = True
    """Whether to rewrite a follow-up question as a standalone question before the search."""
    model: Any = None
    """The language model that writes the answers: its name (:func:`trivium.llm.registry.open_chat_model`), a chat model
    of LangChain, or a :class:`~trivium.llm.chat_model.ChatModel`. None quotes sentences of the passages.
    """
    prompt: Any = None
    """Prompt style, as in :class:`~trivium.answering.writing_options.WritingOptions`; likewise the next two fields."""
    temperature: float | None = None
    max_tokens: int | None = None

    def invoke(self, input: Asked, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any]:
        """Answer a question; ``kwargs`` are options for this question."""
        asked: Asked = {**_asked(input), **kwargs}
        return self._call_with_config(self._answer, asked, config, run_type="chain")

    async def ainvoke(
        self,
        input: Asked,
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Run :meth:`invoke` in a thread, without blocking the event loop."""

        async def answer(given: Asked) -> dict[str, Any]:
            return await stopping.in_thread(lambda: self._answer(given))

        asked: Asked = {**_asked(input), **kwargs}
        return await self._acall_with_config(answer, asked, config, run_type="chain")

    def _answer(self, given: Asked) -> dict[str, Any]:
        asked = _asked(given)
        unknown = sorted(map(str, asked.keys() - {"question", "history", *_OPTIONS}))
        if unknown:
            raise InputError(
                f"unknown option {', '.join(unknown)}: expected question, history, {', '.join(_OPTIONS)}"
            )
        if "question" not in asked:
            raise InputError("expected a question, got a mapping without one")
        options: dict[str, Any] = {name: asked.get(name, getattr(self, name)) for name in _OPTIONS}
        own = isinstance(self.model, BaseChatModel)
        options["model"] = LangChainChatModel(self.model) if own else self.model
        options["history"] = turns(asked.get("history") or ())
        return answer_json(self._opened.engine().ask(asked["question"], **options))


def turns(history: object) -> list[Turn]:
    """Convert a conversation to the engine's turns. Unanswered questions and system messages are skipped. Raises
    InputError for anything else.
    """
    if isinstance(history, str) or not isinstance(history, Sequence):
        raise InputError(f"expected the history as a list, got {type(history).__name__}")
    return list(_turns(history))


def _turns(history: Sequence[object]) -> Iterator[Turn]:
    question: str | None = None
    for said in history:
        match said:
            case Turn():
                yield said
            case {"question": str(asked), "answer": str(answered)}:
                yield Turn(asked, answered)
            case HumanMessage():
                question = said.text
            case AIMessage():
                if question is not None:
                    yield Turn(question, said.text)
                question = None
            case BaseMessage():
                pass
            case _:
                raise InputError(
                    "expected turns, mappings of question and answer, or messages in the history, got"
                    f" {type(said).__name__}"
                )


def _asked(given: Asked) -> dict[str, Any]:
    if isinstance(given, str):
        return {"question": given}
    if isinstance(given, Mapping):
        return dict(given)
    raise InputError(f"expected a question, or a mapping with one, got {type(given).__name__}")
