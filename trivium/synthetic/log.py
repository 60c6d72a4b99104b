"""The log of a step, as JSON Lines: its settings on the first line, then one record per line.

An interrupted step resumes from its log if the settings are the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeVar

from trivium.common.files import JsonLines
from trivium.errors import InputError

T = TypeVar("T")
Settings = Mapping[str, str | int | list[str]]


class Log(Generic[T]):
    """A log file with records of type ``kind``, a dataclass."""

    def __init__(self, path: Path, kind: type[T]) -> None:
        self.path = path
        self._lines: JsonLines[T] = JsonLines(path, kind, header=1)

    def settings(self) -> Settings | None:
        """Return the settings with which the step was started; None if it was not started. Raises InputError for
        another kind of file.
        """
        first = next(self._lines.lines(), None)
        if first is None:
            return None
        try:
            settings = json.loads(first)["settings"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise self._damaged() from error
        if not isinstance(settings, dict):
            raise self._damaged()
        return settings

    def records(self) -> list[T]:
        """Return the records, in order. Raises InputError, naming the line, for an unreadable one."""
        return list(self._lines.records())

    @contextmanager
    def writing(self, settings: Settings) -> Iterator[Callable[[T], None]]:
        """Start or resume the step; yields a function that appends a record.

        Raises InputError when the log holds records made with other settings, or another process is writing to it.
        """
        with self._lines.writing():
            earlier = self.settings()
            if earlier is not None and sum(1 for _ in self._lines.lines()) > 1:
                self._check(earlier, settings)
            else:  # without records the settings may change
                self._lines.keep(0)
                self._lines.append_line(json.dumps({"settings": settings}, ensure_ascii=False).encode())
            yield self._lines.append

    def _check(self, earlier: Settings, settings: Settings) -> None:
        changed = [
            f"{name} was {_shown(earlier.get(name))} and is now {_shown(settings.get(name))}"
            for name in sorted({*earlier, *settings})
            if earlier.get(name) != settings.get(name)
        ]
        if changed:
            raise InputError(
                f"{self.path} was started with other settings: {'; '.join(changed)}."
                " Resume with the settings it was started with, or start a run in another folder"
            )

    def _damaged(self) -> InputError:
        return InputError(f"{self.path}, line 1: expected the settings of the step, got something else")


def _shown(value: object) -> str:
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)
