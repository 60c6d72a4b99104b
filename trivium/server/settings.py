"""Settings of the server."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from trivium.common.idle_cores import available_cores
from trivium.errors import ConfigurationError
from trivium.server.keys import Key, parse_key
from trivium.server.live_switch import Mode
from trivium.speech.protocols import MAX_BYTES


def _as_key(given: Any) -> Key:
    if isinstance(given, Key):
        return given
    try:
        return parse_key(given)
    except ConfigurationError as error:
        # The message never contains the key itself.
        raise PydanticCustomError("api_key", "{fault}", {"fault": str(error)}) from None


def _check_origin(origin: str) -> str:
    parts = urlsplit(origin)
    if (
        parts.scheme not in ("http", "https")
        or not parts.netloc
        or origin != f"{parts.scheme}://{parts.netloc}"
    ):
        raise PydanticCustomError(
            "origin", "expected an origin like https://example.org:8443, got '{origin}'", {"origin": origin}
        )
    return origin


Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
ApiKey = Annotated[Key, BeforeValidator(_as_key)]
Origin = Annotated[str, AfterValidator(_check_origin)]


class ServerSettings(BaseModel):
    """Settings of the server. Sizes are in bytes and times in seconds. Raises ConfigurationError that names the invalid
    value.

    Access:

    - ``api_keys``: keys, or lines as in ``api_key_file``. Any of them gives access; without keys the API is open.
    - ``api_key_file``: file of keys, reloaded when it changes (:mod:`trivium.server.keys`).
    - ``cors_origins``: other origins whose pages may use the API (``https://host[:port]``).
    - ``hosts``: host names of the server in addition to the loopback ones. Any other name indicates DNS rebinding.
      Without ``hosts`` that is checked only when it listens on loopback.
    - ``rate_limit``: requests per minute and client, None for unlimited. A client is its key, else its address.

    Sizes and times:

    - ``request_bytes``, ``upload_bytes``, ``audio_bytes``: maximum size of a JSON request, of one with documents, and
      of one with a spoken question.
    - ``timeout``, ``answer_timeout``: time limit of a request, and of one that waits for a language model.
    - ``shutdown_timeout``: how long running requests, and then the current step of a change, may take at the end. The
      process ends at most :data:`~trivium.server.run_server.CLOSE_SECONDS` later.
    - ``min_free_bytes``: free space on the file system of a folder store below which nothing is added or replaced.

    Work:

    - ``workers``, ``queue``: questions answered at once (default: one per core), and how many more may wait.
    - ``cache_bytes``: size of the cache of answers to searches, explanations and questions answered without a language
      model (0: none). It is emptied when the store changes (:mod:`trivium.server.answer_cache`).
    - ``answer_workers``, ``answer_queue``: the same for answers of a language model.
    - ``speech_workers``, ``speech_queue``: the same for speech recognition and synthesis.
    - ``processes``: number of additional processes that search (0: the server's process searches itself).
    - ``path_selector``: selector of the path retriever, ``match``, ``llm`` or a declared one (None: from the package's
      settings).
    - ``rerankers``: names that a request may use, in addition to those that load no model.
    - ``device``: where texts are embedded, ``cpu``, ``cuda`` or ``cuda:N`` (None: from the package's settings).
    - ``live``: whether live sources are asked when the server starts, ``off``, ``allow`` or ``force``
      (:mod:`trivium.server.live_switch`).

    Changes:

    - ``queue_jobs``: maximum number of waiting changes.
    - ``spool_bytes``: maximum size of the documents of all changes being received, waiting or running.
    - ``spool``: folder for changes until they are made (default: ``jobs`` in the folder of a store, ``trivium/jobs`` in
      XDG_STATE_HOME for a database).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    api_keys: tuple[ApiKey, ...] = Field(default=(), repr=False)
    api_key_file: Path | None = None
    cors_origins: tuple[Origin, ...] = ()
    hosts: tuple[str, ...] = ()
    request_bytes: Count = 256 << 10
    upload_bytes: Count = 64 << 20
    audio_bytes: Count = MAX_BYTES
    timeout: Seconds = 30.0
    answer_timeout: Seconds = 180.0
    workers: Count = Field(default_factory=available_cores)
    queue: Count = 256
    processes: Annotated[int, Field(ge=0)] = 0
    cache_bytes: Annotated[int, Field(ge=0)] = 64 << 20
    answer_workers: Count = 4
    answer_queue: Count = 16
    speech_workers: Count = 2
    speech_queue: Count = 16
    path_selector: str | None = None
    device: str | None = None
    rerankers: tuple[str, ...] = ()
    rate_limit: Count | None = None
    min_free_bytes: Annotated[int, Field(ge=0)] = 256 << 20
    shutdown_timeout: Seconds = 15.0
    queue_jobs: Count = 100
    spool_bytes: Count = 1 << 30
    spool: Path | None = None
    live: Mode = "off"

    @model_validator(mode="wrap")
    @classmethod
    def _explain_faults(cls, values: Any, validate: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return validate(values)
        except ValidationError as error:
            # Never include the input, which may be a key.
            faults = error.errors(include_input=False, include_url=False)
            told = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults)
            raise ConfigurationError(f"the server cannot be set up like this: {told}") from None

    @property
    def on_loopback(self) -> bool:
        """Whether only programs on this machine can reach the server."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False
