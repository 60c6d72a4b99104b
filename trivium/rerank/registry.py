"""Rerankers by name."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from trivium.errors import ConfigurationError, InputError
from trivium.plugins import create_plugin, list_plugins
from trivium.rerank.reranker import Reranker
from trivium.rerank.reranker_names import FAMILIES, FREE, NAMES, PLUGINS
from trivium.rerank.without_model import DEFAULT_WEIGHT, PLAIN, WeightedReranker
from trivium.settings.settings import Settings, load_settings

if TYPE_CHECKING:
    from trivium.llm.chat_model import ChatModel


def make_reranker(name: str) -> Reranker:
    """Return the reranker with this name:

    - ``bm25``, ``tfidf``: how well the words of the candidates match; ``diffusion``: how central they are;
    - ``weighted:0.7`` (``weighted``: 0.5): weight of the vector score, the rest is BM25;
    - ``small``: the network that comes with the package reads question and passage together;
    - ``cross-encoder:FOLDER`` with an ONNX model in the usual format, or ``cross-encoder:NAME`` of a model that
      fastembed lists;
    - ``llm-pointwise:MODEL``, ``llm-listwise:MODEL``: a language model grades each passage, or orders all; without
      ``:MODEL`` the configured one (:mod:`trivium.llm.registry`);
    - a reranker declared by an installed package.

    Models are loaded with the first question. Raises ConfigurationError and MissingExtraError.
    """
    family, colon, rest = name.partition(":")
    if colon and not rest:
        raise ConfigurationError(f"unknown reranker {name!r}: expected something behind the colon")
    settings = load_settings()
    if name in PLAIN:
        return PLAIN[name]()
    if family == "weighted":
        return WeightedReranker(_weight(rest) if colon else DEFAULT_WEIGHT)
    if family == "small" and not colon:
        from trivium.rerank.second_look import SmallReranker

        return SmallReranker()
    if family == "cross-encoder" and colon:
        return _cross_encoder(rest, settings)
    if family == "llm-pointwise":
        from trivium.rerank.llm import PointwiseReranker

        return PointwiseReranker(_model(rest, settings), name)
    if family == "llm-listwise":
        from trivium.rerank.llm import ListwiseReranker

        return ListwiseReranker(_model(rest, settings), name)
    declared: Reranker | None = create_plugin(PLUGINS, family, name, settings)
    if declared is not None:
        return declared
    close = get_close_matches(family, [*FAMILIES, *list_plugins(PLUGINS)], n=1, cutoff=0.6)
    hint = f"did you mean {close[0]}?" if close and close[0] != family else f"expected one of {NAMES}"
    raise ConfigurationError(f"unknown reranker {name!r}: {hint}")


class Rerankers:
    """The rerankers of an engine, each created on first use and cached.

    ``given`` contains names of rerankers and custom rerankers that clients may request, for example over HTTP, in
    addition to those that cost nothing. Raises ConfigurationError for an invalid name and InputError for duplicate
    names.
    """

    def __init__(self, given: Sequence[str | Reranker] = ()) -> None:
        self._lock = threading.Lock()
        self._made: dict[str, Reranker] = {}
        self._given: list[str] = []
        for one in given:
            name = one if isinstance(one, str) else one.name
            if name in self._given or (not isinstance(one, str) and name.partition(":")[0] in FAMILIES):
                raise InputError(f"expected rerankers whose names are their own, got {name!r}")
            self._given.append(name)
            self._made[name] = make_reranker(one) if isinstance(one, str) else one

    @property
    def names(self) -> tuple[str, ...]:
        """The names that any client may request: the free ones, those given, and those of installed packages."""
        return tuple(dict.fromkeys((*FREE, *self._given, *list_plugins(PLUGINS))))

    def offers(self, name: str) -> bool:
        """Return whether any client, including a remote one, may request this reranker. Others load files or query
        models that cost money.
        """
        return name in self.names or name.partition(":")[0] in FREE

    def get(self, reranker: str | Reranker) -> Reranker:
        """Return the reranker with this name, or the given object. Raises ConfigurationError and InputError."""
        if not isinstance(reranker, str):
            if not callable(getattr(reranker, "rerank", None)):
                raise InputError(f"expected the name of a reranker, or one, got {type(reranker).__name__}")
            return reranker
        with self._lock:
            if reranker not in self._made:
                made = make_reranker(reranker)
                if (
                    reranker.partition(":")[0] == "weighted"
                ):  # not cached, because clients may request any weight
                    return made
                self._made[reranker] = made
            return self._made[reranker]


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigurationError(f"weighted: expected a weight from 0 to 1, got {text!r}") from None


def _cross_encoder(model: str, settings: Settings) -> Reranker:
    from trivium.rerank.cross_encoder import FastEmbedCrossEncoder, OnnxCrossEncoder

    if Path(model).expanduser().is_dir():
        return OnnxCrossEncoder(model)
    return FastEmbedCrossEncoder(model, settings.home)


def _model(name: str, settings: Settings) -> ChatModel:
    from trivium.llm.registry import open_chat_model

    return open_chat_model(name or None, settings)
