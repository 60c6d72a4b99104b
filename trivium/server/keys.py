"""API keys. Each has a name and a scope, and only its SHA-256 hash is stored."""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from trivium.errors import ConfigurationError, TriviumError

Scope = Literal["read", "write"]
"""``read``: ask, search, and read documents and metrics. ``write``: also change documents."""

MIN_KEY_CHARACTERS = 16
"""Minimum length of an API key in characters."""
_KEY_BYTES = 32
_HASH = "sha256$"
_HASHED = re.compile(r"(?P<name>[^:]*):(?P<scope>[^:]*):sha256\$(?P<digest>.*)")
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_LOOK_SECONDS = 1.0
"""Seconds between checks whether the file of keys has changed."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Key:
    """An API key. Its text is not stored; with 256 random bits no slower hash than SHA-256 is needed."""

    name: str
    scope: Scope
    digest: bytes = field(repr=False)

    @property
    def line(self) -> str:
        """The key as a line of a key file."""
        return f"{self.name}:{self.scope}:{_HASH}{self.digest.hex()}"


def new_key(name: str, scope: Scope) -> tuple[str, Key]:
    """Create a key. Returns its text, which is shown once, and the record that a server stores. Raises
    ConfigurationError for a name with characters other than letters, digits, dots, dashes and underscores.
    """
    text = f"tv_{secrets.token_urlsafe(_KEY_BYTES)}"
    return text, Key(_checked_name(name), scope, _digest(text))


def parse_key(line: str) -> Key:
    """Parse a line ``NAME:SCOPE:sha256$DIGEST``, or a plain key, which gets the scope ``write``. Raises
    ConfigurationError, whose message never contains a key.
    """
    hashed = _HASHED.fullmatch(line)
    if hashed is None:
        if len(line) < MIN_KEY_CHARACTERS or not line.isascii() or not line.isprintable() or " " in line:
            raise ConfigurationError(
                f"expected {MIN_KEY_CHARACTERS} or more printable ASCII characters without spaces, got {len(line)}"
                " characters: make a key with  trivium keys new NAME"
            )
        digest = _digest(line)
        return Key(f"key-{digest.hex()[:8]}", "write", digest)
    name, scope, hexadecimal = _checked_name(hashed["name"]), hashed["scope"], hashed["digest"].lower()
    if scope not in get_args(Scope):
        raise ConfigurationError(
            f"expected {name}:read:... or {name}:write:..., got the scope {scope[:20]!r}"
        )
    if _DIGEST.fullmatch(hexadecimal) is None:
        raise ConfigurationError(
            f"expected 64 hexadecimal digits after {name}:{scope}:{_HASH}, got {len(hexadecimal)} characters"
        )
    return Key(name, "read" if scope == "read" else "write", bytes.fromhex(hexadecimal))


def read_keys(file: Path) -> tuple[Key, ...]:
    """Read the keys of a file, one per line. Blank lines and lines that begin with ``#`` are skipped. Raises
    ConfigurationError when it contains no keys or an invalid line, and OSError when it cannot be read.
    """
    try:
        lines = file.read_text("utf-8").splitlines()
    except UnicodeDecodeError:
        raise ConfigurationError(
            f"expected an API key a line in {file}, got something that is no text"
        ) from None
    keys = []
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.strip().startswith("#"):
            try:
                keys.append(parse_key(line.strip()))
            except ConfigurationError as error:
                raise ConfigurationError(f"{file}, line {number}: {error}") from None
    if not keys:
        raise ConfigurationError(f"expected an API key a line in {file}, got none")
    return tuple(keys)


class KeyRing:
    """The keys of a server. The key file is reloaded when it has changed; while it is invalid, the previous keys stay
    in force. Not thread-safe.
    """

    def __init__(
        self,
        keys: Sequence[Key] = (),
        file: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Raises ConfigurationError and OSError when the file cannot be used."""
        self._fixed = tuple(keys)
        self._file = file
        self._clock = clock
        self._seen = None if file is None else _signature(file)
        self._looked = clock()
        self._keys = self._fixed if file is None else (*self._fixed, *read_keys(file))

    @property
    def empty(self) -> bool:
        """Whether no key is required."""
        return not self._keys

    def find(self, given: str) -> Key | None:
        """Return the key with this text. It is compared with every key in constant time, to prevent timing attacks."""
        self._follow_file()
        digest = _digest(given)
        found = [key for key in self._keys if hmac.compare_digest(digest, key.digest)]
        return found[0] if found else None

    def _follow_file(self) -> None:
        now = self._clock()
        if self._file is None or now - self._looked < _LOOK_SECONDS:
            return
        self._looked = now
        try:
            seen = _signature(self._file)
        except OSError:
            seen = None
        if seen == self._seen:
            return
        self._seen = seen
        try:
            self._keys = (*self._fixed, *read_keys(self._file))
        except (TriviumError, OSError) as error:
            _log.error("the file of API keys cannot be read, those before stay valid: %s", error)
        else:
            _log.info("the file of API keys was read again: %d keys", len(self._keys))


def _signature(file: Path) -> tuple[int, int, int]:
    found = file.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino


def _checked_name(name: str) -> str:
    if _NAME.fullmatch(name) is None:
        raise ConfigurationError(
            f"expected a name of 1 to 64 letters, digits, dots, dashes and underscores, got {name[:80]!r}"
        )
    return name


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
