"""A cache on disk for responses of remote services, so that each is requested once and is available offline."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from trivium.common.safe_files import replacing
from trivium.errors import InputError
from trivium.parser.sources.read_files import parse_json, read_document

Key = tuple[str, str]
"""The address of the service, and the request."""


class AnswerCache:
    """A folder of JSON files, one per response, named by a digest of the key, so that no key can refer to other paths."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: Key) -> Mapping[str, object] | None:
        """Return the cached response for a key; None if there is none or it is damaged."""
        path = self._path(key)
        if not path.exists():
            return None
        try:
            entry = parse_json(read_document(path))
        except InputError:
            return None
        if not isinstance(entry, Mapping) or entry.get("key") != list(key):
            return None
        answer = entry.get("answer")
        return answer if isinstance(answer, Mapping) else None

    def put(self, key: Key, answer: Mapping[str, object]) -> None:
        """Store a response, atomically. Raises InputError when the folder cannot be written."""
        path = self._path(key)
        try:
            with replacing(path) as file:
                file.write(json.dumps({"key": list(key), "answer": answer}).encode("ascii"))
        except OSError as error:
            raise InputError(
                f"the cache folder {self._folder} cannot be written ({error.strerror}); set TRIVIUM_HOME to"
                " another one"
            ) from error

    def _path(self, key: Key) -> Path:
        digest = hashlib.sha256("\n".join(key).encode("utf-8", "replace")).hexdigest()
        return self._folder / f"{digest}.json"
