"""What a step has done so far: JSON Lines that are only ever appended to.

The first line holds the settings of the step, each further one a record. A record is on disk before the next is begun;
where a process was killed in the middle of a line, the beginning of that line is dropped when the step goes on."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from trivium.errors import InputError

T = TypeVar("T")
Settings = Mapping[str, str | int | list[str]]


class Log(Generic[T]):
    """The log in a file, with records of one kind (a dataclass)."""

    def __init__(self, path: Path, kind: type[T]) -> None:
        self.path = path
        self._type = TypeAdapter(kind)

    def settings(self) -> Settings | None:
        """What the step was begun with; None before that. Raises InputError for a file that is no log."""
        lines = self._lines()
        if not lines:
            return None
        try:
            settings = json.loads(lines[0])["settings"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise self._damaged(1, "the settings of the step") from error
        if not isinstance(settings, dict):
            raise self._damaged(1, "the settings of the step")
        return settings

    def records(self) -> list[T]:
        """The records, in order. Raises InputError, naming the line, for one that cannot be read."""
        records = []
        for number, line in enumerate(self._lines()[1:], start=2):
            try:
                records.append(self._type.validate_json(line))
            except ValidationError as error:
                raise self._damaged(number, "a record of this step") from error
        return records

    @contextmanager
    def writing(self, settings: Settings) -> Iterator[Callable[[T], None]]:
        """Go on with the step, or begin it; gives what appends a record.

        Raises InputError where it holds records made with other settings, or another process is writing to it.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            self._hold(file)
            file.truncate(sum(len(line) + 1 for line in self._lines()))
            begun = self.settings()
            if begun is not None and len(self._lines()) > 1:
                self._check(begun, settings)
            else:  # nothing was done with what it was begun with
                file.truncate(0)
                _put(file, json.dumps({"settings": settings}, ensure_ascii=False).encode())

            def append(record: T) -> None:
                _put(file, self._type.dump_json(record))

            yield append

    def _lines(self) -> list[bytes]:
        """The complete lines."""
        try:
            *lines, _ = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise InputError(f"{self.path}: expected a readable log, got {error.strerror}") from error
        return lines

    def _check(self, begun: Settings, settings: Settings) -> None:
        changed = [
            f"{name} was {_said(begun.get(name))} and is now {_said(settings.get(name))}"
            for name in sorted({*begun, *settings})
            if begun.get(name) != settings.get(name)
        ]
        if changed:
            raise InputError(
                f"{self.path} was begun with other settings: {'; '.join(changed)}."
                " Go on with those it was begun with, or begin in another folder"
            )

    def _hold(self, file: IO[bytes]) -> None:
        if sys.platform == "win32":
            return
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InputError(f"{self.path}: another process is writing to it; wait until it ends") from error

    def _damaged(self, number: int, expected: str) -> InputError:
        return InputError(f"{self.path}, line {number}: expected {expected}, got something else")


def _put(file: IO[bytes], line: bytes) -> None:
    file.write(line + b"\n")
    file.flush()
    os.fsync(file.fileno())


def _said(value: object) -> str:
    return "not said" if value is None else json.dumps(value, ensure_ascii=False)
