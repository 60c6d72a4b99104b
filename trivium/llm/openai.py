"""A chat model behind any OpenAI-compatible endpoint: OpenAI's own, llama.cpp, vLLM, Ollama ..."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trivium.errors import ChatModelError, ConfigurationError
from trivium.llm.base import Message
from trivium.llm.endpoint import Endpoint, EndpointError
from trivium.settings import Settings, load_settings


class OpenAIChatModel:
    """Asks ``<base url>/chat/completions``."""

    def __init__(self, model: str, endpoint: Endpoint) -> None:
        self._model = model
        self._endpoint = endpoint
        self._limit_name = "max_tokens"
        self._takes_temperature = True

    def __repr__(self) -> str:
        return f"OpenAIChatModel({self._model!r} at {self._endpoint.host})"

    @property
    def name(self) -> str:
        """The model, as its endpoint knows it."""
        return self._model

    def complete(
        self, messages: Sequence[Message], *, max_tokens: int = 512, temperature: float = 0.0
    ) -> str:
        """The model's answer, possibly empty. Raises ChatModelError."""
        turns = [{"role": message.role, "content": message.content} for message in messages]
        while True:
            body: dict[str, Any] = {"model": self._model, "messages": turns, self._limit_name: max_tokens}
            if self._takes_temperature:
                body["temperature"] = temperature
            try:
                return self._content(self._endpoint.post("chat/completions", body))
            except EndpointError as error:
                if not self._adapt(error):
                    raise ChatModelError(f"{self._model}: {error}") from error

    def _adapt(self, error: EndpointError) -> bool:
        """Reasoning models refuse ``max_tokens`` (they want ``max_completion_tokens``) and any temperature:
        give each up once, for good. Says whether there is something new to try."""
        if error.status != 400:
            return False
        if error.parameter == "max_tokens" and self._limit_name == "max_tokens":
            self._limit_name = "max_completion_tokens"
            return True
        if error.parameter == "temperature" and self._takes_temperature:
            self._takes_temperature = False
            return True
        return False

    def _content(self, answer: dict[str, Any]) -> str:
        try:
            content = answer["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError) as error:
            raise ChatModelError(
                f"{self._model}: expected choices[0].message.content, got an answer without it"
            ) from error
        if not isinstance(content, str):
            raise ChatModelError(f"{self._model}: expected text, got {type(content).__name__} (a refusal?)")
        return content


def open_chat_model(name: str | None = None, settings: Settings | None = None) -> OpenAIChatModel:
    """The language model of the settings, or another one of the same endpoint.

    Raises ConfigurationError when neither names one.
    """
    settings = load_settings() if settings is None else settings
    model = settings.chat_model if name is None else name
    if model is None:
        raise ConfigurationError(
            "no language model is named: set TRIVIUM_CHAT_MODEL"
            " (and TRIVIUM_CHAT_BASE_URL unless it is OpenAI's)"
        )
    if settings.chat_base_url is None:
        return OpenAIChatModel(model, Endpoint(settings.openai_base_url, settings.openai_api_key))
    return OpenAIChatModel(model, Endpoint(settings.chat_base_url, settings.chat_api_key))
