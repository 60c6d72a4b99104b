"""A cache for answers of live sources: the most recent ones in memory, more of them as files in the user's cache
folder.

A file contains the question and the answer, and only its owner may read it. Files that cannot be written or read are
ignored.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from trivium.common.safe_files import replacing
from trivium.errors import InputError
from trivium.live.source import LiveDocument, LivePassage
from trivium.parser.sources.read_files import parse_json, read_document

Key = tuple[str, ...]

_IN_MEMORY = 256
_FILES = 1_000
_CHECKED_EVERY = 50
"""Number of writes after which old files are removed."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """Documents, and the time of their retrieval in seconds since 1970."""

    documents: tuple[LiveDocument, ...]
    retrieved: float


class LiveCache:
    """Cached answers by question. Safe for use by several threads and processes."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, CachedAnswer] = OrderedDict()
        self._writes = 0

    def get(self, key: Key) -> CachedAnswer | None:
        """Return the cached answer, however old."""
        with self._lock:
            answer = self._kept.get(key)
            if answer is not None:
                self._kept.move_to_end(key)
                return answer
        answer = self._read(key)
        if answer is not None:
            self._remember(key, answer)
        return answer

    def put(self, key: Key, documents: Sequence[LiveDocument]) -> CachedAnswer:
        """Store a new answer."""
        answer = CachedAnswer(tuple(documents), self._clock())
        self._remember(key, answer)
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with replacing(self._path(key)) as file:
                told = {"key": key, "retrieved": answer.retrieved, "documents": list(map(asdict, documents))}
                file.write(json.dumps(told).encode("ascii"))
            self._path(key).chmod(0o600)
        except OSError as error:
            _log.warning("answers of live sources cannot be kept in %s: %s", self._folder, error.strerror)
            return answer
        with self._lock:
            self._writes += 1
            full = self._writes % _CHECKED_EVERY == 1
        if full:
            self._drop_oldest()
        return answer

    def age(self, answer: CachedAnswer) -> float:
        """Return the age of an answer in seconds."""
        return max(0.0, self._clock() - answer.retrieved)

    def _remember(self, key: Key, answer: CachedAnswer) -> None:
        with self._lock:
            self._kept[key] = answer
            self._kept.move_to_end(key)
            while len(self._kept) > _IN_MEMORY:
                self._kept.popitem(last=False)

    def _read(self, key: Key) -> CachedAnswer | None:
        try:
            told = parse_json(read_document(self._path(key)))
            if not isinstance(told, Mapping) or told.get("key") != list(key):
                return None
            documents = [_document(fields) for fields in told["documents"]]
            return CachedAnswer(tuple(documents), float(told["retrieved"]))
        except (InputError, OSError, KeyError, TypeError, ValueError):
            return None

    def _drop_oldest(self) -> None:
        with suppress(OSError):
            files = sorted(self._folder.glob("*.json"), key=lambda file: file.stat().st_mtime)
            for file in files[:-_FILES]:
                file.unlink(missing_ok=True)

    def _path(self, key: Key) -> Path:
        digest = hashlib.sha256("\n".join(key).encode("utf-8", "replace")).hexdigest()
        return self._folder / f"{digest}.json"


def _document(fields: Mapping[str, object]) -> LiveDocument:
    passages = fields["passages"]
    names = fields["names"]
    if not isinstance(passages, list) or not isinstance(names, list):
        raise TypeError("expected lists")
    published = fields["published"]
    return LiveDocument(
        title=str(fields["title"]),
        address=str(fields["address"]),
        text=str(fields["text"]),
        published=None if published is None else str(published),
        whole=bool(fields["whole"]),
        passages=tuple(
            LivePassage(tuple(map(str, passage["headings"])), str(passage["text"]), str(passage["kind"]))
            for passage in passages
        ),
        names=tuple(map(str, names)),
    )
