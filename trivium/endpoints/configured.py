"""The endpoints of the settings."""

from __future__ import annotations

from trivium.endpoints.base import RETRIES
from trivium.endpoints.endpoint import Endpoint
from trivium.errors import ConfigurationError
from trivium.settings import Settings

_OPENAI_HOST = "api.openai.com"


def openai_endpoint(settings: Settings) -> Endpoint:
    """The endpoint of ``openai_base_url``. Raises ConfigurationError where that is OpenAI's own and there is no key."""
    endpoint = Endpoint(
        settings.openai_base_url, settings.openai_api_key, api_version=settings.openai_api_version
    )
    return _with_key(endpoint)


def chat_endpoint(settings: Settings) -> Endpoint:
    """The endpoint of ``chat_base_url`` with its own key, else that of ``openai_base_url``. Raises ConfigurationError
    where that is OpenAI's own and there is no key."""
    own = settings.chat_base_url is not None
    endpoint = Endpoint(
        settings.chat_base_url if settings.chat_base_url is not None else settings.openai_base_url,
        settings.chat_api_key if own else settings.openai_api_key,
        timeout=settings.chat_timeout,
        total=settings.chat_total_timeout,
        retries=RETRIES if settings.chat_retries is None else settings.chat_retries,
        api_version=settings.chat_api_version if own else settings.openai_api_version,
    )
    return _with_key(endpoint)


def _with_key(endpoint: Endpoint) -> Endpoint:
    if endpoint.host == _OPENAI_HOST and endpoint.api_key is None:
        raise ConfigurationError(
            f"{_OPENAI_HOST} wants an API key: set OPENAI_API_KEY, or the base url of another endpoint"
            " (TRIVIUM_CHAT_BASE_URL for a language model, TRIVIUM_OPENAI_BASE_URL)"
        )
    return endpoint
