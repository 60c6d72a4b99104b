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
from trivium.settings.settings import Settings

if TYPE_CHECKING:  # it needs the package openai
    from trivium.endpoints.endpoint import Endpoint

_OPENAI_HOST = "api.openai.com"

COMPATIBLE = {"anthropic": ("/v1", "ANTHROPIC_API_KEY"), "gemini": ("/v1beta/openai", "GEMINI_API_KEY")}
"""Providers that understand OpenAI's protocol below a path of their base url, and the variable of their key."""


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

    version = None if own else settings.openai_api_version
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


def compatible_endpoint(provider: str, settings: Settings) -> Endpoint:
    """Return the endpoint of a provider of :data:`COMPATIBLE`. Raises ConfigurationError without a key."""
    _check_installed("openai", f"a model of {provider.capitalize()}")
    path, variable = COMPATIBLE[provider]
    key = _needed(getattr(settings, f"{provider}_api_key"), f"{provider}:NAME", variable)
    from trivium.endpoints.endpoint import Endpoint

    base_url = getattr(settings, f"{provider}_base_url").rstrip("/")
    return Endpoint(f"{base_url}{path}", key, **_limits(settings))


def _check_installed(package: str, what: str) -> None:
    if find_spec(package) is None:
        raise MissingExtraError(what, package)


def _limits(settings: Settings) -> Mapping[str, Any]:
    limits: dict[str, Any] = {"timeout": settings.chat_timeout}
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
