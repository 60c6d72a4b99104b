"""Counts tokens for OpenAI models, and truncates texts to a number of tokens."""

from __future__ import annotations

import logging
from typing import Any, Protocol

from trivium.errors import MissingExtraError

_BYTES_PER_TOKEN = 3
"""Estimate without the vocabulary, rather too high in tokens: English has 4 to 5 bytes per token, Chinese about 3."""

_log = logging.getLogger(__name__)


class TokenCounter(Protocol):
    """Counts and truncates tokens."""

    def count(self, text: str) -> int:
        """Return the number of tokens in a text."""
        ...

    def truncate(self, text: str, limit: int) -> tuple[str, int]:
        """Return the text, truncated to ``limit`` tokens, and its number of tokens."""
        ...


class TiktokenCounter:
    """Exact counts with tiktoken."""

    def __init__(self, encoding: Any) -> None:
        self._encoding = encoding

    def count(self, text: str) -> int:
        return len(self._encoding.encode_ordinary(text))

    def truncate(self, text: str, limit: int) -> tuple[str, int]:
        tokens = self._encoding.encode_ordinary(text)
        if len(tokens) <= limit:
            return text, len(tokens)
        # The cut may be inside a character, whose bytes are then dropped.
        return self._encoding.decode(tokens[:limit], errors="ignore"), limit


class EstimatedCounter:
    """Estimates by the length in bytes, rather too high, so that an endpoint does not reject the input."""

    def count(self, text: str) -> int:
        return -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)

    def truncate(self, text: str, limit: int) -> tuple[str, int]:
        data = text.encode("utf-8", "replace")
        if len(data) <= limit * _BYTES_PER_TOKEN:
            return text, self.count(text)
        return data[: limit * _BYTES_PER_TOKEN].decode("utf-8", "ignore"), limit


def token_counter(model: str) -> TokenCounter:
    """Return tiktoken's counter for a model (that of cl100k_base for an unknown model), or an estimate if its
    vocabulary, which it downloads once, is unavailable. Raises MissingExtraError.
    """
    try:
        import tiktoken
    except ImportError as error:
        raise MissingExtraError(f"openai:{model}", "openai") from error
    try:
        try:
            encoding = tiktoken.encoding_for_model(model)
        except KeyError:
            encoding = tiktoken.get_encoding("cl100k_base")
    except (OSError, ValueError) as error:  # no network, or a damaged download
        _log.warning(
            "tiktoken's vocabulary cannot be loaded (%s): tokens are estimated by length",
            type(error).__name__,
        )
        return EstimatedCounter()
    return TiktokenCounter(encoding)
