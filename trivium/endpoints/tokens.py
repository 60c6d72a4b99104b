"""How many tokens a text has for an OpenAI model, and truncating it to a limit."""

from __future__ import annotations

import logging
from typing import Any, Protocol

from trivium.errors import MissingExtraError

_BYTES_PER_TOKEN = 3
"""Without the vocabulary: English has 4 to 5 bytes a token and Chinese about 3, so this guesses high."""

_log = logging.getLogger(__name__)


class TokenCounter(Protocol):
    """Counts and truncates."""

    def count(self, text: str) -> int:
        """How many tokens the text has."""
        ...

    def truncate(self, text: str, limit: int) -> tuple[str, int]:
        """The text, cut to ``limit`` tokens if it is longer, and its number of tokens."""
        ...


class TiktokenCounter:
    """Exact, by tiktoken."""

    def __init__(self, encoding: Any) -> None:
        self._encoding = encoding

    def count(self, text: str) -> int:
        return len(self._encoding.encode_ordinary(text))

    def truncate(self, text: str, limit: int) -> tuple[str, int]:
        tokens = self._encoding.encode_ordinary(text)
        if len(tokens) <= limit:
            return text, len(tokens)
        # The cut may fall inside a character: its bytes are left out.
        return self._encoding.decode(tokens[:limit], errors="ignore"), limit


class EstimatedCounter:
    """By the length in bytes; guesses high, so that an endpoint does not refuse what is sent."""

    def count(self, text: str) -> int:
        return -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)

    def truncate(self, text: str, limit: int) -> tuple[str, int]:
        data = text.encode("utf-8", "replace")
        if len(data) <= limit * _BYTES_PER_TOKEN:
            return text, self.count(text)
        return data[: limit * _BYTES_PER_TOKEN].decode("utf-8", "ignore"), limit


def token_counter(model: str) -> TokenCounter:
    """tiktoken's count for a model (that of cl100k_base for one it does not know), or an estimate where its
    vocabulary, which it downloads once, cannot be had. Raises MissingExtraError."""
    try:
        import tiktoken
    except ImportError as error:
        raise MissingExtraError(f"openai:{model}", "openai") from error
    try:
        try:
            encoding = tiktoken.encoding_for_model(model)
        except KeyError:
            encoding = tiktoken.get_encoding("cl100k_base")
    except (OSError, ValueError) as error:  # no network; a damaged download
        _log.warning(
            "tiktoken's vocabulary cannot be loaded (%s): tokens are estimated by length",
            type(error).__name__,
        )
        return EstimatedCounter()
    return TiktokenCounter(encoding)
