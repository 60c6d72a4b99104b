"""The log of a step: its settings on the first line, then one record a line.

A step that was interrupted goes on with what the log holds, if its settings are the same."""

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
    """The log in a file, with records of one kind (a dataclass)."""

    def __init__(self, path: Path, kind: type[T]) -> None:
        self.path = path
        self._lines: JsonLines[T] = JsonLines(path, kind, header=1)

    def settings(self) -> Settings | None:
        """What the step was begun with; None before that. Raises InputError for a file that is no log."""
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
        """The records, in order. Raises InputError, naming the line, for one that cannot be read."""
        return list(self._lines.records())

    @contextmanager
    def writing(self, settings: Settings) -> Iterator[Callable[[T], None]]:
        """Go on with the step, or begin it; gives what appends a record.

        Raises InputError where it holds records made with other settings, or another process is writing to it.
        """
        with self._lines.writing():
            begun = self.settings()
            if begun is not None and sum(1 for _ in self._lines.lines()) > 1:
                self._check(begun, settings)
            else:  # nothing was done with what it was begun with
                self._lines.keep(0)
                self._lines.append_line(json.dumps({"settings": settings}, ensure_ascii=False).encode())
            yield self._lines.append

    def _check(self, begun: Settings, settings: Settings) -> None:
        changed = [
            f"{name} was {_shown(begun.get(name))} and is now {_shown(settings.get(name))}"
            for name in sorted({*begun, *settings})
            if begun.get(name) != settings.get(name)
        ]
        if changed:
            raise InputError(
                f"{self.path} was begun with other settings: {'; '.join(changed)}."
                " Go on with those it was begun with, or begin in another folder"
            )

    def _damaged(self) -> InputError:
        return InputError(f"{self.path}, line 1: expected the settings of the step, got something else")


def _shown(value: object) -> str:
    return "not said" if value is None else json.dumps(value, ensure_ascii=False)
