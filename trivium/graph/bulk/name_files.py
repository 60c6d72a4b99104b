"""Files between the steps of an export: what the documents say of names, and what was decided about them."""

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
    """The title of a page, or one that is cited or related; ``number`` is that of a node of its own."""

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
    """``digest`` is of all that the numbers depend on. They go up to ``last``. ``terms`` is how
    many search terms the chunks have together.
    """

    digest: str
    last: int
    terms: int


class NameFiles:
    """The files of an export. Nothing of them is imported, and they are deleted when the export is complete."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is that of the parts."""
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

    def write_facts(self, digest: str, last: int, terms: int) -> None:
        """Write the :class:`Facts`."""
        (self.folder / "facts.json").write_bytes(orjson.dumps([digest, last, terms]))

    def facts(self) -> Facts:
        """See :meth:`write_facts`."""
        return Facts(*orjson.loads((self.folder / "facts.json").read_bytes()))

    # -- what was decided ------------------------------------------------------------------------------------------

    def write_decided(self, titles: Integers, numbers: Integers, bare: Mask) -> None:
        """Write of each title (n,), of which the first array has the numbers, the number of the node it stands for, and
        whether that is an entity without a page.
        """
        stands_for = np.arange(self.facts().last + 1)
        stands_for[titles] = numbers
        np.save(self.folder / "stands_for.npy", stands_for)
        np.save(self.folder / "bare.npy", bare)

    def stands_for(self) -> Integers:
        """Return for each number, from 0 on, that of the node it stands for: titles may stand for others."""
        found: Integers = self._array("stands_for")
        return found

    def bare(self) -> Mask:
        """Return of each title (n,) whether it is that of an entity without a page."""
        found: Mask = self._array("bare")
        return found

    def _file(self, kind: type[tuple[Any, ...]]) -> Path:
        return self.folder / f"{kind.__name__}.jsonl"

    def _array(self, name: str) -> Any:
        return np.load(self.folder / f"{name}.npy")
