"""Chunkers by name, with the models that some of them ask."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from trivium.chunking.agentic import Agentic
from trivium.chunking.base import Chunker
from trivium.chunking.semantic import Semantic, Vectors
from trivium.chunking.spec import parse_spec
from trivium.chunking.strategies import portable_chunker
from trivium.embedding.base import Embedder
from trivium.llm.registry import open_chat_model
from trivium.settings import load_settings

_log = logging.getLogger(__name__)


def make_chunker(spec: str, embedder: Callable[[], Embedder]) -> Chunker:
    """The chunker of a spec. ``semantic`` embeds sentences by ``embedder``, which is opened at the first page.
    ``agentic`` asks the language model of the settings, and none where none is named. Raises InputError for an unknown
    spec, ConfigurationError and MissingExtraError where a model that is named cannot be opened."""
    wanted = parse_spec(spec)
    if wanted.name == "semantic":

        def embed(texts: Sequence[str]) -> Vectors:
            return embedder().embed(texts)

        return Semantic(wanted.size or 0, embed)
    if wanted.name == "agentic":
        settings = load_settings()
        if settings.chat_model is None:
            _log.warning("no language model is named (TRIVIUM_CHAT_MODEL): a rule of thumb chooses chunkers")
        model = None if settings.chat_model is None else open_chat_model(settings=settings)
        return Agentic(model, portable_chunker)
    return portable_chunker(spec)
