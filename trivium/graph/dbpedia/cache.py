"""What an endpoint has answered so far, in a file, so that an interrupted run goes on where it was."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from trivium.graph.dbpedia.source import Statement

_DAY = 86_400


class About(BaseModel):
    """What answers belong to: another endpoint or other namespaces give other answers."""

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


Model = TypeVar("Model", bound=BaseModel)


class AnswerFile:
    """JSON Lines: first what the answers belong to, then one line for each answered query: its ``stage``, the keys
    ``asked`` and the ``rows``.

    A file about something else, or one begun more than ``days`` ago, is begun anew. A line that was being written
    when the process died is cut off, with whatever follows it.
    """

    def __init__(self, path: Path, about: About, days: int, now: float | None = None) -> None:
        now = time.time() if now is None else now
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        head = self._head()
        if head is not None and head.about == about and head.begun >= now - days * _DAY:
            self._cut()
        else:
            self._write(_Head(about=about, begun=int(now)), "wb")

    def answers(self, stage: str) -> Iterator[tuple[list[str], list[Statement]]]:
        """(keys asked, statements) of every answer of a stage, in the order given."""
        with self.path.open("rb") as file:
            next(file)
            for line in file:
                entry = _Entry.model_validate_json(line)
                if entry.stage == stage:
                    yield entry.asked, entry.rows

    def add(self, stage: str, asked: Sequence[str], rows: Sequence[Statement]) -> None:
        """Keep an answer. It is on the disk when this returns."""
        self._write(_Entry(stage=stage, asked=list(asked), rows=list(rows)), "ab")

    def _head(self) -> _Head | None:
        if not self.path.exists():
            return None
        with self.path.open("rb") as file:
            return _valid(_Head, file.readline())

    def _cut(self) -> None:
        """Keep the whole lines before the first that is not."""
        with self.path.open("rb+") as file:
            good = len(file.readline())
            for line in file:
                if not line.endswith(b"\n") or _valid(_Entry, line) is None:
                    break
                good += len(line)
            file.truncate(good)

    def _write(self, entry: BaseModel, mode: str) -> None:
        with self.path.open(mode) as file:
            file.write(entry.model_dump_json().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())


def _valid(model: type[Model], line: bytes) -> Model | None:
    try:
        return model.model_validate_json(line)
    except ValidationError:
        return None
