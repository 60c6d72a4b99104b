"""A folder that a run writes into as it goes, so that it can be interrupted and goes on.

``settings.json`` says what every line hangs on, ``*.jsonl`` hold a line each, appended as soon as it is known. A folder
that was begun with other settings is refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from trivium.errors import InputError
from trivium.evaluation.suite.results import write_whole

SETTINGS = "settings.json"
_KEYED = ("rows", "judges")
"""Settings that name things: more may join, but what has a name keeps its meaning."""

Line = TypeVar("Line", bound=BaseModel)


class Lines(Generic[Line]):
    """A file of JSON Lines of one kind. What was broken off in the middle of a line is cut away, since it will be
    written again. Raises InputError for a line that is none of these."""

    def __init__(self, path: Path, kind: type[Line]) -> None:
        self._path = path
        try:
            data = path.read_bytes() if path.exists() else b""
            whole = data[: data.rfind(b"\n") + 1]
            if whole != data:
                os.truncate(path, len(whole))
        except OSError as error:
            raise InputError(f"{path}: expected a readable file, got {error.strerror}") from error
        self.all: list[Line] = []
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                self.all.append(kind.model_validate_json(line))
            except ValidationError as error:
                raise InputError(
                    f"{path}, line {number}: expected what an earlier run wrote there, got something else:"
                    " start anew (--fresh), or in another folder"
                ) from error

    def add(self, line: Line) -> None:
        """Append a line; it is on disk when this returns. Raises InputError."""
        try:
            with self._path.open("ab") as file:
                file.write(line.model_dump_json().encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(
                f"{self._path}: expected a file that can be written, got {error.strerror}"
            ) from error
        self.all.append(line)


def begin(folder: Path, settings: Mapping[str, Any], files: Sequence[str], fresh: bool = False) -> None:
    """Make the folder ready for these settings, or go on in it; ``fresh`` removes ``files`` of an earlier run first.

    Raises InputError where it was begun with other settings, naming them.
    """
    wanted = json.loads(json.dumps(settings))
    path = folder / SETTINGS
    if fresh:
        for file in (path, *(found for name in files for found in folder.glob(name))):
            file.unlink(missing_ok=True)
    if not path.exists():
        if any(found for name in files for found in folder.glob(name)):
            raise InputError(f"{folder}: expected an empty folder, or that of a run; it lacks {SETTINGS}")
        write_whole(path, json.dumps(wanted, indent=2) + "\n")
        return
    known = _read(path)
    changed = [
        f"{key}: {known.get(key)!r} before, {wanted.get(key)!r} now"
        for key in {**known, **wanted}
        if key not in _KEYED and known.get(key) != wanted.get(key)
    ]
    for key in _KEYED:
        before, now = known.get(key, {}), wanted.get(key, {})
        changed += [f"{key[:-1]} {name}" for name in now if name in before and before[name] != now[name]]
        wanted[key] = {**before, **now}
    if changed:
        raise InputError(
            f"{folder} was begun with other settings ({'; '.join(changed)}): name another folder with --out,"
            " or answer everything anew with --fresh"
        )
    if wanted != known:
        write_whole(path, json.dumps(wanted, indent=2) + "\n")


def _read(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: expected the settings of a run, got something unreadable") from error
    if not isinstance(value, dict):
        raise InputError(f"{path}: expected the settings of a run, got something else")
    return value
