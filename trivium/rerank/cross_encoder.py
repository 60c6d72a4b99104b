"""Cross-encoders: networks that read question and passage together and score how well they match."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np

from trivium.common.idle_cores import available_cores
from trivium.embedding.embedder import to_valid_text
from trivium.errors import ConfigurationError, MissingExtraError, RerankError
from trivium.rerank.reranker import Deadline, RerankCandidate
from trivium.rerank.time_limit import at_once

MODEL_FILES = (
    "model.onnx",
    "onnx/model.onnx",
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
    "model_int8.onnx",
    "onnx/model_int8.onnx",
    "onnx/model_fp16.onnx",
)
"""Locations of the model in common exports, in order of preference."""
MAX_TOKENS = 512
"""Maximum length of question and passage together, in tokens, if the files do not specify it."""
_LONGEST = 1 << 20
"""``tokenizer_config.json`` contains a huge number if the limit is unknown."""

_SHARE_OF_TIME = 0.9

PairScorer = Callable[[str, str], float]


class OnnxCrossEncoder:
    """A cross-encoder in a folder of the usual format: ``model.onnx`` (:data:`MODEL_FILES`), ``tokenizer.json``, and
    optionally ``tokenizer_config.json`` and ``config.json``.

    Score: the logit of the single label, or the difference of the second and first of two logits. Pairs are scored one
    at a time, unpadded, each in one thread, with as many threads as cores, so that the same pair always has exactly the
    same score. The files are located immediately and loaded with the first question. Thread-safe. Raises
    ConfigurationError.
    """

    views: tuple[str, ...] = ()
    independent = True

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder).expanduser()
        self._model = _model_file(self._folder)
        if not (self._folder / "tokenizer.json").is_file():
            raise ConfigurationError(
                f"expected the tokenizer of a cross-encoder at {self._folder}/tokenizer.json"
            )
        self.name = f"cross-encoder:{folder}"
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    def rerank(self, question: str, candidates: Sequence[RerankCandidate], deadline: Deadline) -> list[float]:
        """Raises RerankError when the model cannot be loaded or run, and when the time is up."""
        with self._lock:
            if self._loaded is None:
                self._loaded = _Loaded(self._model, self._folder)
        return score_pairs(self._loaded.score, question, candidates, deadline)


class FastEmbedCrossEncoder:
    """A cross-encoder listed by fastembed, which downloads its files once, to a separate folder below ``home``. With
    ``folder`` the files are read from there and nothing is downloaded. The files are located with the first question.
    Thread-safe. Raises MissingExtraError, and ConfigurationError for a model that is not listed.
    """

    views: tuple[str, ...] = ()
    independent = True

    def __init__(self, model: str, home: Path, folder: Path | None = None) -> None:
        _check_listed(model)
        self.name = f"cross-encoder:{model}"
        self._model = model
        self._home, self._folder = home, folder
        self._lock = threading.Lock()
        self._opening: Future[PairScorer] | None = None

    def rerank(self, question: str, candidates: Sequence[RerankCandidate], deadline: Deadline) -> list[float]:
        """Raises RerankError when the model cannot be obtained (for good) or run, and when the time is up."""
        with self._lock:
            if self._opening is None:
                self._opening = Future()
                threading.Thread(target=self._open, args=[self._opening], daemon=True).start()
        try:
            # A little earlier than the caller gives up, who cannot know what is being waited for.
            scorer = self._opening.result(_SHARE_OF_TIME * min(deadline.left, threading.TIMEOUT_MAX))
        except TimeoutError as error:
            raise RerankError(
                f"the files of {self._model} are not on this machine yet, and obtaining them takes longer than a search"
                f" may: ask again when they are in {self._home}, or name a folder that has them"
            ) from error
        return score_pairs(scorer, question, candidates, deadline)

    def _open(self, opening: Future[PairScorer]) -> None:
        try:
            opening.set_result(_open_scorer(self._model, self._home, self._folder))
        except BaseException as error:  # raised wherever the scorer is asked for
            opening.set_exception(error)


def score_pairs(
    score: PairScorer, question: str, candidates: Sequence[RerankCandidate], deadline: Deadline
) -> list[float]:
    """Score the question with each candidate's full text, with as many threads as cores. Raises the errors of
    ``score``, and RerankError when the time is up.
    """
    asked = to_valid_text(question)

    def one(candidate: RerankCandidate) -> float:
        return score(asked, to_valid_text(candidate.full_text))

    return at_once(one, candidates, available_cores(), deadline)


def _check_listed(model: str) -> None:
    """Raise MissingExtraError without fastembed, and ConfigurationError for a model that it does not list."""
    names = [item["model"] for item in _library().list_supported_models()]
    if model not in names:
        raise ConfigurationError(
            f"cross-encoder: expected a folder with a model, or one of {', '.join(names)}; got {model!r}"
        )


def _open_scorer(model: str, home: Path, folder: Path | None = None) -> PairScorer:
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


class _Loaded:
    """The model and its tokenizer."""

    def __init__(self, model: Path, folder: Path) -> None:
        import onnxruntime  # 0.1 s, which only those who use it pay
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(
                str(model), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime's exceptions have no common base class
            raise RerankError(f"onnxruntime cannot load {model}: {error}") from error
        self._inputs = {entry.name for entry in self._session.get_inputs()}
        try:
            self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # tokenizers raises plain Exception
            raise RerankError(f"tokenizers cannot read {folder}/tokenizer.json: {error}") from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_max_tokens(folder))

    def score(self, question: str, text: str) -> float:
        pair = self._tokenizer.encode(question, text)
        rows = {"input_ids": pair.ids, "attention_mask": pair.attention_mask, "token_type_ids": pair.type_ids}
        inputs = {name: np.array([row], np.int64) for name, row in rows.items() if name in self._inputs}
        try:
            output = np.asarray(self._session.run(None, inputs)[0], dtype=np.float64).ravel()
        except Exception as error:  # as above
            raise RerankError(
                f"the cross-encoder failed on a pair of {len(pair.ids)} tokens: {error}"
            ) from error
        if output.size == 1:
            return float(output[0])
        if output.size == 2:  # logits of "irrelevant" and "relevant"
            return float(output[1] - output[0])
        raise RerankError(f"expected a cross-encoder with one label or two, got one with {output.size}")


def _model_file(folder: Path) -> Path:
    for name in MODEL_FILES:
        if (folder / name).is_file():
            return folder / name
    others = sorted(folder.glob("*.onnx")) if folder.is_dir() else []
    if len(others) == 1:
        return others[0]
    raise ConfigurationError(f"expected a folder with {', '.join(MODEL_FILES[:2])} or the like, got {folder}")


def _max_tokens(folder: Path) -> int:
    """Return the maximum number of tokens the model reads."""
    for name, key in (("tokenizer_config.json", "model_max_length"), ("tokenizer_config.json", "max_length")):
        try:
            value = json.loads((folder / name).read_text("utf-8")).get(key)
        except (OSError, ValueError, AttributeError):
            continue
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _LONGEST:
            return value
    return MAX_TOKENS
