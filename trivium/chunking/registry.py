"""Creates chunkers by name, with the models that some of them need."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from trivium.chunking.chunker import Chunker
from trivium.chunking.chunker_spec import parse_spec
from trivium.chunking.portable_chunkers import portable_chunker
from trivium.embedding.embedder import Embedder

if TYPE_CHECKING:
    from trivium.chunking.semantic import Vectors
    from trivium.llm.chat_model import ChatModel

_log = logging.getLogger(__name__)


def make_chunker(
    spec: str, embedder: Callable[[], Embedder], model: str | ChatModel | None = None
) -> Chunker:
    """Create the chunker for a spec. ``semantic`` embeds sentences with ``embedder``, which is opened with the first
    page. ``agentic`` uses a language ``model``, by default the configured one if any. Raises InputError for an unknown
    spec, and ConfigurationError or MissingExtraError when a named model cannot be opened.
    """
    wanted = parse_spec(spec)
    if wanted.name == "semantic":
        from trivium.chunking.semantic import Semantic

        def embed(texts: Sequence[str]) -> Vectors:
            return embedder().embed(texts)

        return Semantic(wanted.size or 0, embed)
    if wanted.name == "agentic":
        from trivium.chunking.agentic import Agentic
        from trivium.llm.registry import find_chat_model

        asked = find_chat_model(model) if model is None or isinstance(model, str) else model
        if asked is None:
            _log.warning(
                "no language model is named (--model, TRIVIUM_CHAT_MODEL): a rule of thumb chooses chunkers"
            )
        return Agentic(asked, portable_chunker)
    return portable_chunker(spec)
