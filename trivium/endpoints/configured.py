"""Creates the endpoints of the settings. Missing packages and keys are reported here, before anything is loaded or
requested.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from trivium.errors import ConfigurationError, MissingExtraError
from trivium.settings import Settings

if TYPE_CHECKING:  # each needs its provider's package
    from trivium.endpoints.anthropic import AnthropicEndpoint
    from trivium.endpoints.endpoint import Endpoint
    from trivium.endpoints.gemini import GeminiEndpoint

_OPENAI_HOST = "api.openai.com"


def openai_endpoint(settings: Settings) -> Endpoint:
    """Return the endpoint at ``openai_base_url``. Raises ConfigurationError when it is OpenAI's own and there is no
    key.
    """
    _check_installed("openai", "a model behind an OpenAI-compatible endpoint")
    _check_openai_key(settings.openai_base_url, settings.openai_api_key)
    from trivium.endpoints.endpoint import Endpoint

    return Endpoint(
        settings.openai_base_url, settings.openai_api_key, api_version=settings.openai_api_version
    )


def chat_endpoint(settings: Settings) -> Endpoint:
    """Return the endpoint at ``chat_base_url`` with its own key, else the one at ``openai_base_url``. Raises
    ConfigurationError when it is OpenAI's own and there is no key.
    """
    own = settings.chat_base_url is not None
    base_url = _chat_base_url(settings)
    key = settings.chat_api_key if own else settings.openai_api_key
    _check_installed("openai", "a model behind an OpenAI-compatible endpoint")
    _check_openai_key(base_url, key)
    from trivium.endpoints.endpoint import Endpoint

    version = settings.chat_api_version if own else settings.openai_api_version
    return Endpoint(base_url, key, api_version=version, **_limits(settings))


def asks_openai(settings: Settings) -> bool:
    """Whether :func:`chat_endpoint` is OpenAI's own."""
    return _is_openai(_chat_base_url(settings))


def azure_endpoint(settings: Settings) -> Endpoint:
    """Return the configured Azure OpenAI resource. Raises ConfigurationError when it or its key is not set."""
    _check_installed("openai", "a model at Azure")
    if settings.azure_endpoint is None:
        raise ConfigurationError(
            "azure:DEPLOYMENT needs the address of your Azure OpenAI resource: set AZURE_OPENAI_ENDPOINT"
        )
    key = _needed(settings.azure_api_key, "azure:DEPLOYMENT", "AZURE_OPENAI_API_KEY")
    from trivium.endpoints.endpoint import Endpoint

    return Endpoint(
        settings.azure_endpoint.rstrip("/"), key, api_version=settings.azure_api_version, **_limits(settings)
    )


def anthropic_endpoint(settings: Settings) -> AnthropicEndpoint:
    """Return the endpoint at ``anthropic_base_url``. Raises ConfigurationError without a key."""
    _check_installed("anthropic", "a model of Anthropic")
    key = _needed(settings.anthropic_api_key, "anthropic:NAME", "ANTHROPIC_API_KEY")
    from trivium.endpoints.anthropic import AnthropicEndpoint

    return AnthropicEndpoint(settings.anthropic_base_url, key, **_limits(settings))


def gemini_endpoint(settings: Settings) -> GeminiEndpoint:
    """Return the endpoint at ``gemini_base_url``. Raises ConfigurationError without a key."""
    _check_installed("google.genai", "a model of Gemini", extra="gemini")
    key = _needed(settings.gemini_api_key, "gemini:NAME", "GEMINI_API_KEY")
    from trivium.endpoints.gemini import GeminiEndpoint

    return GeminiEndpoint(settings.gemini_base_url, key, **_limits(settings))


def _check_installed(package: str, what: str, extra: str | None = None) -> None:
    try:
        there = find_spec(package) is not None
    except ModuleNotFoundError:  # its parent package is missing
        there = False
    if not there:
        raise MissingExtraError(what, package if extra is None else extra)


def _limits(settings: Settings) -> Mapping[str, Any]:
    limits: dict[str, Any] = {"timeout": settings.chat_timeout, "total": settings.chat_total_timeout}
    return limits if settings.chat_retries is None else limits | {"retries": settings.chat_retries}


def _chat_base_url(settings: Settings) -> str:
    return settings.openai_base_url if settings.chat_base_url is None else settings.chat_base_url


def _is_openai(base_url: str) -> bool:
    return urlsplit(base_url).hostname == _OPENAI_HOST


def _check_openai_key(base_url: str, key: SecretStr | None) -> None:
    if _is_openai(base_url) and key is None:
        raise ConfigurationError(
            f"{_OPENAI_HOST} wants an API key: set OPENAI_API_KEY, or the base url of another endpoint"
            " (TRIVIUM_CHAT_BASE_URL for a language model, TRIVIUM_OPENAI_BASE_URL)"
        )


def _needed(key: SecretStr | None, model: str, variable: str) -> SecretStr:
    if key is None or not key.get_secret_value():
        raise ConfigurationError(f"{model} needs an API key: set {variable}")
    return key
