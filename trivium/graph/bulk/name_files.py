"""Files between the steps of an export: what the documents of a shard say of names, and what was decided about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import orjson
from numpy.typing import NDArray

from trivium.common.arrays import Integers
from trivium.graph.bulk.folder import UNFINISHED

Mask = NDArray[np.bool_]


class Title(NamedTuple):
    """The title of a page, or one that is cited or related; ``number`` is what this shard would call its node."""

    title: str
    number: int
    is_page: bool


class Claim(NamedTuple):
    """An alias of a page, and the number of the page."""

    alias: str
    page: str
    number: int


class Relation(NamedTuple):
    """A relation between two titles, given by number, that a page states."""

    page: str
    source: int
    type: str
    target: int


class Term(NamedTuple):
    """A search term as the database keys it, and the number of chunks it occurs in."""

    term: str
    chunks: int


class Question(NamedTuple):
    """A question, and the numbers of the chunks that answer it."""

    uri: str
    text: str
    answers: Sequence[str]
    chunks: Sequence[int]


R = TypeVar("R", Title, Claim, Relation, Term, Question)


class Facts(NamedTuple):
    """``digest`` is of all that the numbers depend on. They are those after ``first``, up to ``last``. ``terms`` is how
    many search terms the chunks have together.
    """

    digest: str
    first: int
    last: int
    terms: int


class NameFiles:
    """The files of a shard. Nothing of them is imported, and they are deleted when the export is complete."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is that of the shard's parts."""
        self.folder = folder / f"names{UNFINISHED}"

    # -- what documents say ----------------------------------------------------------------------------------------

    def write(self, kind: type[tuple[Any, ...]], records: Iterable[tuple[Any, ...]]) -> None:
        """Write all records of a kind. Titles, claims and terms are sorted by their first field."""
        with self._file(kind).open("wb") as file:
            file.writelines(orjson.dumps([*record], option=orjson.OPT_APPEND_NEWLINE) for record in records)

    def read(self, kind: type[R]) -> Iterator[R]:
        """Iterate over the records of a kind."""
        with self._file(kind).open("rb") as file:
            for line in file:
                yield kind(*orjson.loads(line))

    def write_citations(self, citations: Integers) -> None:
        """Write the numbers (2, n) of chunks and of the titles that they cite, in order of appearance."""
        np.save(self.folder / "citations.npy", citations)

    def citations(self) -> Integers:
        """See :meth:`write_citations`."""
        found: Integers = self._array("citations")
        return found

    def write_facts(self, digest: str, first: int, last: int, terms: int) -> None:
        """Write the :class:`Facts`."""
        self._write_json("facts", [digest, first, last, terms])

    def facts(self) -> Facts:
        """See :meth:`write_facts`."""
        return Facts(*self._json("facts"))

    # -- what was decided ------------------------------------------------------------------------------------------

    def write_decided(self, titles: Integers, numbers: Integers, own: Mask) -> None:
        """Write of each title (n,), of which the first array has the numbers, the number of the node it stands for, and
        whether that is an entity that this shard writes.
        """
        facts = self.facts()
        stands_for = np.arange(facts.first, facts.last + 1)
        stands_for[titles - facts.first] = numbers
        np.save(self.folder / "stands_for.npy", stands_for)
        np.save(self.folder / "own.npy", own)

    def stands_for(self) -> Integers:
        """Return for each number, from ``first`` on, that of the node it stands for: titles may stand for others."""
        found: Integers = self._array("stands_for")
        return found

    def own(self) -> Mask:
        """Return of each title (n,) whether it is that of an entity that this shard writes."""
        found: Mask = self._array("own")
        return found

    def count_own(self) -> int:
        """Return how many entities this shard writes."""
        return int(self.own().sum())

    def write_shared(self, shared: Mask) -> None:
        """Write of each relation (n,) whether documents of other shards state it, too."""
        np.save(self.folder / "shared.npy", shared)

    def shared(self) -> Mask:
        """See :meth:`write_shared`."""
        found: Mask = self._array("shared")
        return found

    def write_names(self, step: str, names: Sequence[str]) -> None:
        """Write the names of the parts of a step."""
        self._write_json(step, names)

    def names(self, step: str) -> list[str]:
        """See :meth:`write_names`."""
        return list(self._json(step))

    def _file(self, kind: type[tuple[Any, ...]]) -> Path:
        return self.folder / f"{kind.__name__}.jsonl"

    def _array(self, name: str) -> Any:
        return np.load(self.folder / f"{name}.npy")

    def _write_json(self, name: str, content: object) -> None:
        (self.folder / f"{name}.json").write_bytes(orjson.dumps(content))

    def _json(self, name: str) -> Any:
        return orjson.loads((self.folder / f"{name}.json").read_bytes())
