"""Cross-encoders of fastembed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.errors import ConfigurationError, MissingExtraError, RerankError

if TYPE_CHECKING:
    from trivium.rerank.cross_encoder import PairScorer


def check_listed(model: str) -> None:
    """Raises MissingExtraError without fastembed, ConfigurationError for a model that it does not list."""
    names = [item["model"] for item in _library().list_supported_models()]
    if model not in names:
        raise ConfigurationError(
            f"cross-encoder: expected a folder with a model, or one of {', '.join(names)}; got {model!r}"
        )


def open_scorer(model: str, home: Path, folder: Path | None = None) -> PairScorer:
    """What scores a pair of question and text, one at a time, by one thread. Raises RerankError where the files cannot be
    had or loaded."""
    if folder is None:
        where = {"cache_dir": str(home / "fastembed" / re.sub(r"[^\w.-]+", "--", model))}
    else:
        where = {"specific_model_path": str(folder)}
    try:
        encoder = _library()(model, threads=1, providers=["CPUExecutionProvider"], **where)
    except Exception as error:  # the hub's, the tar file's and onnxruntime's errors share no base
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
