"""Creates embedders by name.

An installed package adds one through the entry point group ``trivium.embedders``: a function ``(name: str, settings:
Settings) -> Embedder``. The entry point ``acme`` serves ``acme`` and ``acme:ANYTHING``, and receives the full name.
"""

from __future__ import annotations

import logging
from typing import Any

from trivium.embedding import e5
from trivium.embedding.device import CPU, parse_device
from trivium.embedding.embedder import Embedder
from trivium.embedding.manifest import manifest
from trivium.embedding.model_files import installed
from trivium.errors import ConfigurationError
from trivium.plugins import create_plugin, list_plugins
from trivium.settings.settings import Settings, load_settings
from trivium.text.languages import ENGLISH

GROUP = "trivium.embedders"

_RECOMMENDED = "bge-small"
_FALLBACK = "minilm"
TEI = "tei:"
"""Prefix of models served by a Text Embeddings Inference server."""

_ELSEWHERE = ("openai", TEI.removesuffix(":"))
"""Families of embedders that are remote services."""
_NO_DEVICE = {**dict.fromkeys(_ELSEWHERE, "is computed by its service"), e5.NAME: "runs on the CPU"}

_log = logging.getLogger(__name__)


def default_name(settings: Settings | None = None, language: str = ENGLISH) -> str:
    """Return the embedder of a new store when none is named: that of the settings; else, for documents in another
    ``language`` than English, e5 if it is installed; else bge-small if it is installed; else minilm.
    """
    settings = load_settings() if settings is None else settings
    if settings.embedder is not None:
        return settings.embedder
    if language != ENGLISH and e5.e5_installed():
        return e5.NAME
    return _RECOMMENDED if installed(_RECOMMENDED, settings.home) else _FALLBACK


def open_embedder(
    name: str | None = None, settings: Settings | None = None, device: str | None = None
) -> Embedder:
    """Open the embedder of that name.

    Names are ``bge-small``, ``minilm``, ``e5``, ``fastembed:NAME``, ``openai:NAME``, ``tei:NAME`` (on the server
    given by the setting ``embed_with``), and those of installed packages. It runs on ``device`` (``cpu``, ``cuda``,
    ``cuda:N``), by default that of the settings.

    Raises ConfigurationError for an unknown name or device, a broken entry point, or a device for an embedder that
    runs elsewhere; ModelNotInstalledError and MissingExtraError with the command to install it.
    """
    settings = load_settings() if settings is None else settings
    if device is not None:
        settings = settings.model_copy(update={"device": parse_device(device).name})
    if name is None:
        name = default_name(settings)
        _log.info("no embedder is named: taking %s", name)
    family, _, model = name.partition(":")
    if device is not None and settings.device != CPU.name and family in _NO_DEVICE:
        raise ConfigurationError(f"{name} {_NO_DEVICE[family]}: name no device ({device})")
    if name in manifest():
        from trivium.embedding.onnx import OnnxEmbedder

        return OnnxEmbedder(name, **_local(settings))
    if name == e5.NAME:
        return e5.E5Embedder(workers=settings.workers)
    if family == "fastembed" and model:
        from trivium.embedding.fastembed import FastEmbedEmbedder

        return FastEmbedEmbedder(model, **_local(settings))
    if family == "openai" and model:
        return _openai(model, settings)
    if name.startswith(TEI) and model:
        from trivium.embedding.tei_server import ServerEmbedder

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
    """Return the arguments for models that run in this process."""
    return {
        "workers": settings.workers,
        "home": settings.home,
        "device": parse_device(settings.device),
    }


def known_embedders() -> list[str]:
    """Return the names accepted by :func:`open_embedder`; ``NAME`` stands for the name of a model."""
    return [*manifest(), e5.NAME, "fastembed:NAME", "openai:NAME", f"{TEI}NAME", *list_plugins(GROUP)]


def _openai(model: str, settings: Settings) -> Embedder:
    from trivium.embedding.openai import OpenAIEmbedder
    from trivium.endpoints.from_settings import openai_endpoint
    from trivium.endpoints.token_counts import token_counter

    counter = token_counter(model)  # first, since it may report a missing extra
    return OpenAIEmbedder(model, openai_endpoint(settings), counter)
