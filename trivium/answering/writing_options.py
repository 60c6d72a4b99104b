"""How a language model is asked to write an answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from trivium.answering.prompt_styles import PromptStyle, prompt_style
from trivium.errors import ConfigurationError, InputError
from trivium.settings.settings import MAX_TEMPERATURE, Settings


class WritingOptions(TypedDict, total=False):
    """``prompt`` is a style, its name (including those of the setting ``prompts``), or its TOML file
    (:mod:`trivium.answering.prompt_styles`); ``temperature`` ranges from 0 (deterministic) to 2; ``max_tokens``
    limits the length of the answer. Missing and None values are taken from the settings.
    """

    prompt: str | Path | PromptStyle | None
    temperature: float | None
    max_tokens: int | None


@dataclass(frozen=True, slots=True)
class Writing:
    """Validated writing options. A ``temperature`` of None means the model's default."""

    style: PromptStyle | None = None
    max_tokens: int | None = None
    temperature: float | None = None

    @classmethod
    def of(cls, options: WritingOptions, settings: Settings) -> Writing:
        """Validate options, with defaults from the settings. Raises InputError."""
        prompt = options.get("prompt")
        temperature, max_tokens = options.get("temperature"), options.get("max_tokens")
        if temperature is not None and not _is_temperature(temperature):
            raise InputError(f"expected a temperature from 0 to {MAX_TEMPERATURE:g}, got {temperature!r}")
        if max_tokens is not None and (isinstance(max_tokens, bool) or not isinstance(max_tokens, int)):
            raise InputError(f"expected max_tokens as a number, got {max_tokens!r}")
        if max_tokens is not None and max_tokens < 1:
            raise InputError(f"expected at least 1 as max_tokens, got {max_tokens}")
        return cls(
            _style(settings.prompt if prompt is None else prompt, settings),
            settings.chat_max_tokens if max_tokens is None else max_tokens,
            temperature,
        )


AS_USUAL = Writing()
"""The default style."""


def _style(prompt: str | Path | PromptStyle, settings: Settings) -> PromptStyle:
    if isinstance(prompt, PromptStyle):
        return prompt
    try:
        return prompt_style(prompt, settings.prompts)
    except ConfigurationError as error:
        raise InputError(str(error)) from error


def _is_temperature(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and 0 <= value <= MAX_TEMPERATURE  # type: ignore[arg-type,operator]
