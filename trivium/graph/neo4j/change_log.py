"""What the latest writes touched, noted in the database by whoever wrote: readers bring what they hold up to date with
it, instead of reading the whole store again.

The ``Trivium`` node has one line for each of the latest writes: the number of the write, the store's uuid before and
after it, and what it touched as JSON, or nothing if that is unknown or too much. A writer that notes nothing (an
earlier version of this program) leaves a gap in the numbers, so that nothing is ever missed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from typing import Self

from trivium.graph.neo4j.connection import Connection
from trivium.graph.neo4j.cypher.reading import READ_CHANGES

KEPT_CHANGES = 32
"""Writes in the log. Adding a document takes three: the page, its vectors, those of its sentences."""
MOST_NAMES = 2_000
"""Of a write that touches more, readers read everything again, and the log stays small."""


@dataclass(frozen=True, slots=True)
class Touched:
    """What may be different: ``pages`` with their sections and chunks, further ``chunks``, ``entities`` (created,
    removed, or with other properties or relations), ``aliases``, relation ``types``, and whatever has one of the
    ``texts`` (hashes), which have new vectors.
    """

    pages: frozenset[str] = frozenset()
    chunks: frozenset[str] = frozenset()
    entities: frozenset[str] = frozenset()
    aliases: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()

    @classmethod
    def by(cls, **names: Iterable[str]) -> Self:
        """Create it from any iterables of names."""
        return cls(**{kind: frozenset(some) for kind, some in names.items()})

    def __or__(self, other: Touched) -> Touched:
        return Touched(*(getattr(self, each.name) | getattr(other, each.name) for each in fields(Touched)))

    def to_text(self) -> str:
        """Return it as JSON, empty if it is too much to note."""
        names = {each.name: sorted(getattr(self, each.name)) for each in fields(self)}
        if sum(map(len, names.values())) > MOST_NAMES:
            return ""
        return json.dumps({kind: some for kind, some in names.items() if some}, ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> Self | None:
        """Read what :meth:`to_text` returned; None if it is not known."""
        try:
            return cls.by(**json.loads(text))
        except (ValueError, TypeError):  # empty, or noted by a later version
            return None


@dataclass(frozen=True, slots=True)
class LoggedWrite:
    """A line of the log; ``touched`` is None if that is not known."""

    generation: int
    before: str
    after: str
    touched: Touched | None

    @classmethod
    def parse(cls, line: str) -> Self:
        """Read a line."""
        generation, before, after, touched = line.split(" ", 3)
        return cls(int(generation), before, after, Touched.from_text(touched))


def read_log(connection: Connection) -> list[LoggedWrite]:
    """Return the latest writes, oldest first."""
    found = connection.read(READ_CHANGES)
    return [LoggedWrite.parse(line) for line in (found[0][0] or [])] if found else []


def touched_since(
    log: Sequence[LoggedWrite], uuid: str, generation: int, *, base: int | None = None
) -> Touched | None:
    """Return what was touched between an earlier state, known by its ``uuid`` and perhaps the number of its latest
    write (``base``), and the state after the write ``generation``. None if the log does not say.

    >>> log = [LoggedWrite(7, "a", "b", Touched.by(pages=["P"])), LoggedWrite(8, "b", "b", Touched.by(texts=["t"]))]
    >>> touched_since(log, "b", 8) == log[1].touched, touched_since(log, "a", 8) == Touched.by(pages=["P"], texts=["t"])
    (True, True)
    >>> touched_since(log, "x", 8), touched_since(log, "a", 9)
    (None, None)
    """
    later = [write for write in log if write.generation <= generation]
    first = next(
        (
            place
            for place, write in enumerate(later)
            if write.before == uuid and base in (None, write.generation - 1)
        ),
        None,
    )
    if first is None:
        return None
    known = uuid
    expected = later[first].generation
    for write in later[first:]:
        if write.generation != expected or write.before != known or write.touched is None:
            return None
        known, expected = write.after, expected + 1
    if expected != generation + 1:
        return None
    touched = [write.touched for write in later[first:] if write.touched is not None]
    return reduce(Touched.__or__, touched, Touched())
