"""How to serve."""

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

from trivium.common.beside import available_cores
from trivium.errors import ConfigurationError
from trivium.server.keys import Key, parse_key
from trivium.server.live_switch import Mode
from trivium.speech.base import MAX_BYTES


def _as_key(given: Any) -> Key:
    if isinstance(given, Key):
        return given
    try:
        return parse_key(given)
    except ConfigurationError as error:
        # The message never holds the key itself.
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


def _check_proxy(proxy: str) -> str:
    try:
        ipaddress.ip_network(proxy)
    except ValueError:
        raise PydanticCustomError(
            "proxy", "expected an address or a network like 10.0.0.0/8, got '{proxy}'", {"proxy": proxy}
        ) from None
    return proxy


Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
ApiKey = Annotated[Key, BeforeValidator(_as_key)]
Origin = Annotated[str, AfterValidator(_check_origin)]
Proxy = Annotated[str, AfterValidator(_check_proxy)]


class ServerSettings(BaseModel):
    """How to serve. Sizes are in bytes, times in seconds; raises ConfigurationError that names the value at fault.

    ``api_keys``: any of them opens the API, none leaves it open; each a key, or a line as in ``api_key_file``, a file of
    keys that is read again when it changes (:mod:`trivium.server.keys`). ``audit_log``: a file to which each change of
    the documents is appended, beside the log. ``cors_origins``: pages of which other origins may use
    it (``https://host[:port]``). ``hosts``: names under which the server may be addressed, besides the loopback ones;
    only looked at where it listens on loopback: there a foreign name means that a page of the web rebound its own.
    ``request_bytes``: of a request's JSON; ``upload_bytes``: of one with documents, ``audio_bytes``
    of one with a spoken question. ``timeout``: until a request is
    given up, ``answer_timeout`` one that waits for a language model. ``workers``: questions answered at once (default:
    one a core), and ``queue`` how many may wait for them before more are refused; ``answer_workers`` and ``answer_queue``
    the same for answers of a language model, ``speech_workers`` and ``speech_queue`` for what is heard and
    spoken. ``processes``: how many processes search beside the one that serves (0: it
    searches itself). ``path_selector``: who chooses for the path retriever, ``match``, ``llm`` or a declared one
    (None: as the settings of the package say), and ``retriever_settings`` their values by dotted name, such as
    ``{"walk.damping": 0.4}``. ``rerankers``: names of those that a request may name, beside those that load nothing.
    ``device``: where questions and documents are embedded, ``cpu``, ``cuda`` or ``cuda:N``
    (None: as the settings of the package say). ``rate_limit``: requests a client may make in a minute, None for any
    number. A client is its key, else the address it connects from; ``trusted_proxies`` (addresses or networks, such as
    ``10.0.0.0/8``) are believed about whom they connect for (``X-Forwarded-For``). ``wrong_keys``: how many an address
    may try in a minute before it has to wait, whatever key it sends then.
    ``connections``: how many are open at once, or fewer where the process may open fewer files; where all are taken, the
    one that has been idle longest is closed for a new one. ``connections_per_client``: the same of one address (trusted
    proxies aside; IPv6 addresses of one /64 network count as one). ``min_free_bytes``: of the file system of a store in a
    folder; with less free, nothing is added or replaced. ``shutdown_timeout``: how long requests under way, and then the
    step of a change under way, may take to end; the process ends :data:`~trivium.server.running.CLOSE_SECONDS` after that
    at the latest. ``queue_jobs``: changes of the documents that may wait; ``spool_bytes``: of the documents of all
    changes that are being received, wait or are made. ``spool``: the folder to keep changes in until they are made
    (default: ``jobs`` in the folder of a store, and for a database ``trivium/jobs`` in XDG_STATE_HOME). ``live``: whether
    live sources are asked when the server starts, ``off``, ``allow`` or ``force``
    (:mod:`trivium.server.live_switch`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    api_keys: tuple[ApiKey, ...] = Field(default=(), repr=False)
    api_key_file: Path | None = None
    audit_log: Path | None = None
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
    answer_workers: Count = 4
    answer_queue: Count = 16
    speech_workers: Count = 2
    speech_queue: Count = 16
    path_selector: str | None = None
    retriever_settings: dict[str, Any] = Field(default_factory=dict)
    device: str | None = None
    rerankers: tuple[str, ...] = ()
    rate_limit: Count | None = None
    trusted_proxies: tuple[Proxy, ...] = ()
    wrong_keys: Count = 30
    connections: Count = 512
    connections_per_client: Count = 128
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
            # Never with the input: it may be a key.
            faults = error.errors(include_input=False, include_url=False)
            told = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults)
            raise ConfigurationError(f"the server cannot be set up like this: {told}") from None

    @property
    def on_loopback(self) -> bool:
        """Whether only programs of this machine can reach the server."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False
