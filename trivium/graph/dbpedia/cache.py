"""The answers of an endpoint in a file, so that an interrupted run continues where it was."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ValidationError

from trivium.common.files import JsonLines
from trivium.errors import InputError
from trivium.graph.dbpedia.source import Statement

_DAY = 86_400


class About(BaseModel):
    """What the answers depend on: another endpoint or other namespaces give other answers."""

    endpoint: str
    language: str
    relations: tuple[str, ...]
    types: tuple[str, ...]
    format: int = 1


class _Head(BaseModel):
    about: About
    begun: int


class _Entry(BaseModel):
    stage: str
    asked: list[str]
    rows: list[Statement]


class AnswerFile:
    """JSON Lines: first what the answers belong to, then one line for each answered query: its ``stage``, the keys
    ``asked`` and the ``rows``.

    A file about something else, or one begun more than ``days`` ago, is begun anew. A line that was being written
    when the process died is dropped, and so is a damaged line with whatever follows it.
    """

    def __init__(self, path: Path, about: About, days: int, now: float | None = None) -> None:
        now = time.time() if now is None else now
        self.path = path
        self._log = JsonLines(path, _Entry, header=1)
        with self._log.writing(wait=True):
            head = self._head()
            if head is not None and head.about == about and head.begun >= now - days * _DAY:
                self._log.keep(1 + self._undamaged())
            else:
                self._log.keep(0)
                self._log.append_line(_Head(about=about, begun=int(now)).model_dump_json().encode())

    def answers(self, stage: str) -> Iterator[tuple[list[str], list[Statement]]]:
        """(keys asked, statements) of every answer of a stage, in the order given."""
        for entry in self._log.records():
            if entry.stage == stage:
                yield entry.asked, entry.rows

    def add(self, stage: str, asked: Sequence[str], rows: Sequence[Statement]) -> None:
        """Keep an answer. It is on the disk when this returns."""
        self._log.append(_Entry(stage=stage, asked=list(asked), rows=list(rows)))

    def _head(self) -> _Head | None:
        first = next(self._log.lines(), None)
        try:
            return None if first is None else _Head.model_validate_json(first)
        except ValidationError:
            return None

    def _undamaged(self) -> int:
        """How many answers there are before the first that cannot be read."""
        count = 0
        with suppress(InputError):
            for _ in self._log.records():
                count += 1
        return count
