"""Cross-encoders from fastembed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.errors import ConfigurationError, MissingExtraError, RerankError

if TYPE_CHECKING:
    from trivium.rerank.cross_encoder import PairScorer


def check_listed(model: str) -> None:
    """Raise MissingExtraError without fastembed, and ConfigurationError for a model that it does not list."""
    names = [item["model"] for item in _library().list_supported_models()]
    if model not in names:
        raise ConfigurationError(
            f"cross-encoder: expected a folder with a model, or one of {', '.join(names)}; got {model!r}"
        )


def open_scorer(model: str, home: Path, folder: Path | None = None) -> PairScorer:
    """Return a function that scores one pair of question and text in one thread. Raises RerankError when the files
    cannot be obtained or loaded.
    """
    if folder is None:
        where = {"cache_dir": str(home / "fastembed" / re.sub(r"[^\w.-]+", "--", model))}
    else:
        where = {"specific_model_path": str(folder)}
    try:
        encoder = _library()(model, threads=1, providers=["CPUExecutionProvider"], **where)
    except Exception as error:  # errors of the hub, the tar file and onnxruntime have no common base class
        raise RerankError(f"{model} cannot be loaded: {error}") from error

    def score(question: str, text: str) -> float:
        try:
            (value,) = encoder.rerank(question, [text], batch_size=1)
        except Exception as error:  # as above
            raise RerankError(f"{model} failed on a pair: {error}") from error
        return float(value)

    return score


def _library() -> Any:
    try:
        from fastembed.rerank.cross_encoder import TextCrossEncoder
    except ImportError as error:
        raise MissingExtraError("a cross-encoder by name", "fastembed") from error
    return TextCrossEncoder
