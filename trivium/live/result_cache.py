"""A cache for answers of live sources, as files in the user's cache folder.

A file contains the answer, and only its owner may read it. Files that cannot be written or read are ignored.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from trivium.common.safe_files import replacing
from trivium.live.source import LiveDocument

Key = tuple[str, ...]

_FILES = 1_000
_CHECKED_EVERY = 50
"""Number of writes after which old files are removed."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """Documents, and the time of their retrieval in seconds since 1970."""

    documents: tuple[LiveDocument, ...]
    retrieved: float

    @property
    def age(self) -> float:
        """Seconds since then."""
        return max(0.0, time.time() - self.retrieved)


_ANSWER = TypeAdapter(CachedAnswer)


class LiveCache:
    """Cached answers by question. Safe for use by several threads and processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writes = 0

    def get(self, key: Key) -> CachedAnswer | None:
        """Return the cached answer, however old."""
        try:
            return _ANSWER.validate_json(self._path(key).read_bytes())
        except (OSError, ValidationError):
            return None

    def put(self, key: Key, answer: CachedAnswer) -> None:
        """Store a new answer."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with replacing(self._path(key)) as file:
                file.write(json.dumps(asdict(answer)).encode("ascii"))
            self._path(key).chmod(0o600)
        except OSError as error:
            _log.warning("answers of live sources cannot be kept in %s: %s", self._folder, error.strerror)
            return
        self._writes += 1
        if self._writes % _CHECKED_EVERY == 1:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        with suppress(OSError):
            files = sorted(self._folder.glob("*.json"), key=lambda file: file.stat().st_mtime)
            for file in files[:-_FILES]:
                file.unlink(missing_ok=True)

    def _path(self, key: Key) -> Path:
        digest = hashlib.sha256("\n".join(key).encode("utf-8", "replace")).hexdigest()
        return self._folder / f"{digest}.json"
