"""How to serve."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from trivium.embedding.workers import available_cores
from trivium.errors import ConfigurationError

MIN_KEY_CHARACTERS = 16
"""Characters an API key must have."""


def _check_key(key: str) -> str:
    # The message never holds the key itself.
    if len(key) < MIN_KEY_CHARACTERS or not key.isascii() or not key.isprintable() or " " in key:
        raise PydanticCustomError(
            "api_key",
            "expected {least} or more printable ASCII characters without spaces, got {got} characters: make a key with"
            "  openssl rand -hex 24",
            {"least": MIN_KEY_CHARACTERS, "got": len(key)},
        )
    return key


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
ApiKey = Annotated[str, AfterValidator(_check_key)]
Origin = Annotated[str, AfterValidator(_check_origin)]
Proxy = Annotated[str, AfterValidator(_check_proxy)]


class ServerSettings(BaseModel):
    """How to serve. Sizes are in bytes, times in seconds; raises ConfigurationError that names the value at fault.

    ``api_keys``: any of them opens the API, none leaves it open. ``cors_origins``: pages of which other origins may use
    it (``https://host[:port]``). ``hosts``: names under which the server may be addressed, besides the loopback ones;
    only looked at where it listens on loopback: there a foreign name means that a page of the web rebound its own.
    ``request_bytes``: of a request's JSON; ``upload_bytes``: of one with documents. ``timeout``: until a request is
    given up, ``answer_timeout`` one that waits for a language model. ``workers``: questions answered at once (default:
    one a core), and ``queue`` how many may wait for them before more are refused; ``answer_workers`` and ``answer_queue``
    the same for answers of a language model. ``processes``: how many processes search beside the one that serves (0: it
    searches itself). ``path_selector``: who chooses for the path retriever, ``match``, ``llm`` or a declared one
    (None: as the settings of the package say), and ``retriever_settings`` their values by dotted name, such as
    ``{"walk.damping": 0.4}``. ``rate_limit``: requests a client may make in a minute, None for any number. A client is
    its key, else the address it connects from; ``trusted_proxies`` (addresses or networks, such as ``10.0.0.0/8``) are
    believed about whom they connect for (``X-Forwarded-For``). ``wrong_keys``: how many an address may try in a minute
    before it has to wait, whatever key it sends then.
    ``shutdown_timeout``: how long requests under way, and then the step of a change under way, may take to end.
    ``queue_jobs``: changes of the documents that may wait; ``spool_bytes``: of the documents of all changes that are
    being received, wait or are made. ``spool``: the folder to keep changes in until they are made (default: ``jobs`` in
    the folder of a store, and for a database ``trivium/jobs`` in XDG_STATE_HOME).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    api_keys: tuple[ApiKey, ...] = Field(default=(), repr=False)
    cors_origins: tuple[Origin, ...] = ()
    hosts: tuple[str, ...] = ()
    request_bytes: Count = 256 << 10
    upload_bytes: Count = 64 << 20
    timeout: Seconds = 30.0
    answer_timeout: Seconds = 180.0
    workers: Count = Field(default_factory=available_cores)
    queue: Count = 256
    processes: Annotated[int, Field(ge=0)] = 0
    answer_workers: Count = 4
    answer_queue: Count = 16
    path_selector: str | None = None
    retriever_settings: dict[str, Any] = Field(default_factory=dict)
    rate_limit: Count | None = None
    trusted_proxies: tuple[Proxy, ...] = ()
    wrong_keys: Count = 30
    shutdown_timeout: Seconds = 15.0
    queue_jobs: Count = 100
    spool_bytes: Count = 1 << 30
    spool: Path | None = None

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


def read_keys(file: Path) -> tuple[str, ...]:
    """The API keys in a file, one a line; blank lines and lines that begin with ``#`` are left out. Raises
    ConfigurationError where it holds none, and OSError where it cannot be read."""
    lines = [line.strip() for line in file.read_text("utf-8").splitlines()]
    keys = tuple(line for line in lines if line and not line.startswith("#"))
    if not keys:
        raise ConfigurationError(f"expected an API key a line in {file}, got none")
    return keys
