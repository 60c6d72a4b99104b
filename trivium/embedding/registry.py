"""Embedders by name.

An installed package adds one by an entry point of the group ``trivium.embedders``: a function of the name and the
settings, ``(name: str, settings: Settings) -> Embedder``. The entry point ``acme`` is asked for ``acme`` and for
``acme:ANYTHING``, and gets the whole name."""

from __future__ import annotations

import logging
from typing import Any

from trivium.embedding.base import Embedder
from trivium.embedding.device import CPU, parse_device
from trivium.embedding.fastembed import SPECTER
from trivium.embedding.manifest import manifest
from trivium.embedding.models import installed
from trivium.errors import ConfigurationError
from trivium.plugins import create_plugin, list_plugins
from trivium.settings import Settings, load_settings

GROUP = "trivium.embedders"

_RECOMMENDED = "bge-small"
_FALLBACK = "minilm"
TEI = "tei:"
"""Before the name of a model that a Text Embeddings Inference server serves."""

_ELSEWHERE = ("openai", TEI.removesuffix(":"))
"""Families of embedders that are services."""

_log = logging.getLogger(__name__)


def default_name(settings: Settings | None = None) -> str:
    """The embedder of a new store when none is named: that of the settings, else bge-small when it is
    installed, else minilm."""
    settings = load_settings() if settings is None else settings
    if settings.embedder is not None:
        return settings.embedder
    return _RECOMMENDED if installed(_RECOMMENDED, settings.home) else _FALLBACK


def open_embedder(
    name: str | None = None, settings: Settings | None = None, device: str | None = None
) -> Embedder:
    """The embedder of that name: ``bge-small``, ``minilm``, ``fastembed:NAME``, ``openai:NAME``, ``tei:NAME`` (of the
    server that ``embed_with`` names), ``specter``, or one that an installed package adds. It computes on the ``device``
    (``cpu``, ``cuda``, ``cuda:N``), by default that of the settings.

    Raises ConfigurationError for an unknown name or device, a broken entry point, or a device that is named for an
    embedder which computes elsewhere; ModelNotInstalledError and MissingExtraError with the command that helps."""
    settings = load_settings() if settings is None else settings
    if device is not None:
        settings = settings.model_copy(update={"device": parse_device(device).name})
    if name is None:
        name = default_name(settings)
        _log.info("no embedder is named: taking %s", name)
    family, _, model = name.partition(":")
    if device is not None and settings.device != CPU.name and family in _ELSEWHERE:
        raise ConfigurationError(f"{name} is computed by its service: name no device ({device})")
    if name in manifest():
        from trivium.embedding.onnx import OnnxEmbedder

        return OnnxEmbedder(name, **_local(settings))
    if family == "fastembed" and model:
        from trivium.embedding.fastembed import FastEmbedEmbedder

        return FastEmbedEmbedder(model, **_local(settings))
    if name == SPECTER:
        from trivium.embedding.fastembed import FastEmbedEmbedder

        return FastEmbedEmbedder(SPECTER, **_local(settings))
    if family == "openai" and model:
        return _openai(model, settings)
    if name.startswith(TEI) and model:
        from trivium.embedding.server import ServerEmbedder

        if settings.embed_with is None:
            raise ConfigurationError(
                f"{name} needs the address of a server with that model: set TRIVIUM_EMBED_WITH, or embed_with in"
                " trivium.toml"
            )
        return ServerEmbedder(settings.embed_with, model)
    added: Embedder | None = create_plugin(GROUP, family, name, settings)
    if added is not None:
        if not callable(getattr(added, "embed_query", None)):
            raise ConfigurationError(
                f"the entry point {family!r} of {GROUP}: expected an Embedder, got {type(added).__name__}"
            )
        return added
    raise ConfigurationError(f"unknown embedder {name!r}: there are {', '.join(known_embedders())}")


def _local(settings: Settings) -> dict[str, Any]:
    """How a model is run in this process."""
    return {
        "workers": settings.workers,
        "home": settings.home,
        "device": parse_device(settings.device),
    }


def known_embedders() -> list[str]:
    """What :func:`open_embedder` takes; ``NAME`` stands for the name of a model."""
    return [*manifest(), "fastembed:NAME", "openai:NAME", f"{TEI}NAME", SPECTER, *list_plugins(GROUP)]


def _openai(model: str, settings: Settings) -> Embedder:
    from trivium.embedding.openai import OpenAIEmbedder
    from trivium.endpoints.configured import openai_endpoint
    from trivium.endpoints.ratelimit import MinuteLimit
    from trivium.endpoints.tokens import token_counter

    counter = token_counter(model)  # first, since it may name a missing extra
    return OpenAIEmbedder(
        model,
        openai_endpoint(settings),
        counter,
        MinuteLimit(settings.openai_requests_per_minute),
        MinuteLimit(settings.openai_tokens_per_minute),
        batch_tokens=min(250_000, settings.openai_tokens_per_minute),
    )
