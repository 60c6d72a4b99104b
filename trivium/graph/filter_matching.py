"""Which chunks a condition is true of: the same for every store.

A comparison is false where the field has no value, ``!=`` too; ``not`` turns that round. How values compare is in
:mod:`trivium.graph.filter_comparisons`. ``page`` is any of the pages a chunk stands on, ``section`` any of the headings
above it.
"""

from __future__ import annotations

import typing
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from trivium.common import stopping
from trivium.graph.filter_comparisons import PLACES, Test, compared, test_of
from trivium.graph.filter_conditions import (
    FIELDS,
    All,
    Any,
    Comparison,
    Condition,
    Field,
    Not,
    Operator,
    joined,
    literal,
    metadata_names,
)
from trivium.graph.page_facts import document_name
from trivium.graph.records import PageRecord
from trivium.graph.schema import headings_of, page_of, section_of, unescape
from trivium.types import MetadataValue

Mask = NDArray[np.bool_]
Number = np.integer[typing.Any]
Column = tuple[Sequence[MetadataValue | None], NDArray[np.int64]]
"""The distinct values of a field of pages, and which of them each page has."""
_KEPT_COLUMNS = 16
_SHOWN = 100
_NAMED = 5
"""Unknown names and comparisons that are reported."""
_EXAMPLES = 3
_COMPARED = 1_000
"""Values among which a similar one is looked for."""


@dataclass(frozen=True, slots=True)
class Coded:
    """Many strings of which few are distinct: string i is ``names[codes[i]]``, codes (n,)."""

    names: Sequence[str]
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, values: Sequence[str]) -> Coded:
        """Return the strings coded.

        >>> coded = Coded.of(["list", "table", "list"])
        >>> coded.names, coded.codes.tolist()
        (['list', 'table'], [0, 1, 0])
        """
        numbers: dict[str, int] = {}
        codes = [numbers.setdefault(value, len(numbers)) for value in stopping.each(values)]
        return cls(list(numbers), np.array(codes, dtype=np.int32))


@dataclass(frozen=True)
class ChunkFacts:
    """What conditions are about, of every chunk of one state of a store. ``chunks`` are in uri order. ``read_pages``
    gives all pages, ``read_details`` the kind of each chunk (n,) and the first and last page it stands on (n x 2), 0 for
    none. Both are called once, when a condition first needs them. ``known_rows`` (n,) are ``page_rows``, from a store
    that has them."""

    chunks: Sequence[str]
    read_pages: Callable[[], Sequence[PageRecord]]
    read_details: Callable[[], tuple[Coded, NDArray[Number]]]
    known_rows: NDArray[Number] | None = None
    columns: dict[tuple[Field | None, str], Column] = field(default_factory=dict, init=False, compare=False)

    def column(self, condition: Comparison) -> Column:
        """The field of a condition, read once for all of them."""
        name = (condition.field, condition.key)
        found = self.columns.get(name)
        if found is None:
            read = _reader(condition)
            numbers: dict[tuple[type, MetadataValue | None], int] = {}
            given = (read(page) for page in stopping.each(self.pages))
            each = (compared(value) if isinstance(value, str) else value for value in given)
            rows = [numbers.setdefault((type(value), value), len(numbers)) for value in each]
            found = [value for _, value in numbers], np.array(rows, dtype=np.int64)
            if len(self.columns) >= _KEPT_COLUMNS:
                self.columns.clear()
            self.columns[name] = found
        return found

    @cached_property
    def pages(self) -> Sequence[PageRecord]:
        """All pages."""
        return self.read_pages()

    @cached_property
    def keys(self) -> Set[str]:
        """The names of all metadata."""
        return {key for page in stopping.each(self.pages) for key in page.metadata}

    @cached_property
    def page_rows(self) -> NDArray[Number]:
        """Which of the pages each chunk is of, -1 where it was loaded meanwhile."""
        if self.known_rows is not None:
            return self.known_rows
        rows = {page.uri: row for row, page in enumerate(stopping.each(self.pages))}
        return np.array([rows.get(page_of(uri), -1) for uri in stopping.each(self.chunks)], dtype=np.int64)

    @cached_property
    def details(self) -> tuple[Coded, NDArray[Number]]:
        """Kinds, and numbers of pages."""
        return self.read_details()

    @cached_property
    def sections(self) -> tuple[list[str], NDArray[np.int64]]:
        """The distinct sections and pages that chunks stand under, and which of them each does."""
        numbers: dict[str, int] = {}
        rows = [numbers.setdefault(section_of(uri), len(numbers)) for uri in stopping.each(self.chunks)]
        return list(numbers), np.array(rows, dtype=np.int64)


def matching(condition: Condition, facts: ChunkFacts) -> Mask:
    """Of which chunks a condition is true (n,). Raises StoppedError soon after the stop in force is requested."""
    stopping.check()
    if isinstance(condition, Not):
        return ~matching(condition.part, facts)
    if isinstance(condition, All):
        return reduce(np.logical_and, (matching(part, facts) for part in joined(condition)))
    if isinstance(condition, Any):
        return reduce(np.logical_or, (matching(part, facts) for part in joined(condition)))
    if condition.field is Field.PAGE:
        return _on_pages(condition, facts.details[1])
    if condition.field is Field.KIND:
        kinds = facts.details[0]
        return _taken(_fitting(kinds.names, test_of(condition)), kinds.codes)
    if condition.field is Field.SECTION:
        return _under(condition, *facts.sections)
    values, rows = facts.column(condition)
    of_pages = _taken(_fitting(values, test_of(condition)), rows)
    return np.where(facts.page_rows >= 0, _taken(of_pages, facts.page_rows), False)


def _fitting(values: Iterable[MetadataValue | None], test: Test) -> Mask:
    """Which values there are and pass a test."""
    fits = (value is not None and value != "" and test(value) for value in stopping.each(values))
    return np.fromiter(fits, dtype=bool)


def _taken(values: Mask, rows: NDArray[Number]) -> Mask:
    """``values[rows]``, all False if there are no values."""
    taken: Mask = values[rows] if len(values) else np.zeros(len(rows), dtype=bool)
    return taken


def _under(condition: Comparison, sections: Sequence[str], rows: NDArray[np.int64]) -> Mask:
    """A heading fits: the title is none. ``!=`` is true where there are headings and none is the text."""
    unequal = condition.operator is Operator.UNEQUAL
    test = test_of(
        Comparison(condition.field, "", Operator.EQUAL, condition.values) if unequal else condition
    )
    headings = (headings_of(uri)[1:] for uri in stopping.each(sections))
    fits = (any(map(test, above)) != unequal and bool(above) for above in headings)
    return _taken(np.fromiter(fits, dtype=bool), rows)


def _on_pages(condition: Comparison, numbers: NDArray[Number]) -> Mask:
    first, last = numbers[:, 0], numbers[:, 1]
    there: Mask = first > 0
    values = sorted(int(value) for value in condition.values if isinstance(value, int))
    match condition.operator:
        case Operator.EXISTS:
            return there
        case Operator.EQUAL | Operator.IN:
            return there & _has_any(values, first, last)
        case Operator.UNEQUAL:
            return there & ~_has_any(values, first, last)
        case Operator.LESS:
            return there & (first < values[0])
        case Operator.AT_MOST:
            return there & (first <= values[0])
        case Operator.MORE:
            return there & (last > values[0])
        case Operator.AT_LEAST:
            return there & (last >= values[0])
        case Operator.LIKE:
            return np.zeros(len(first), dtype=bool)


def _has_any(values: Sequence[int], first: NDArray[Number], last: NDArray[Number]) -> Mask:
    """Whether one of the sorted values is at least ``first`` and at most ``last``."""
    found: Mask = np.searchsorted(values, first, "left") < np.searchsorted(values, last, "right")
    return found


def _reader(condition: Comparison) -> Callable[[PageRecord], MetadataValue | None]:
    match condition.field:
        case None:
            return lambda page: page.metadata.get(condition.key)
        case Field.TITLE:
            return lambda page: unescape(page.uri)
        case Field.SOURCE:
            return lambda page: page.source
        case Field.FORMAT:
            return lambda page: page.format
        case Field.PATH:
            return lambda page: page.path
        case Field.DOCUMENT:
            return lambda page: document_name(page.path or page.source)
        case Field.ADDED:
            return lambda page: page.added
        case Field.MODIFIED:
            return lambda page: page.modified
    raise AssertionError(f"{condition.field} is no field of pages")


def unknown_names(condition: Condition, facts: ChunkFacts) -> list[str]:
    """What to say of metadata keys of a condition that no document has, with names like them."""
    unknown = [name for name in metadata_names(condition) if name not in facts.keys]
    return [_unknown(name, facts.keys) for name in stopping.each(unknown[:_NAMED], 1)]


def _unknown(name: str, known: Set[str]) -> str:
    names = sorted({*known, *FIELDS})
    lower = name.lower()
    if lower in FIELDS:
        like = [f"the field {lower}, without quotation marks and meta."]
    else:
        like = [key for key in names if key.lower() == lower] or get_close_matches(name[:_SHOWN], names, n=3)
    hint = f": did you mean {' or '.join(like)}?" if like else ""
    return f"no document has {name[:_SHOWN]!r} in its metadata{hint}"


def unmatched(condition: Condition, facts: ChunkFacts) -> list[str]:
    """What to say of comparisons that are true of no chunk: which values there are, and a similar comparison, if the
    condition is true of some chunks with it.
    """
    known = [one for one in _affirmed(condition) if one.field is not None or one.key in facts.keys]
    wrong = [one for one in dict.fromkeys(known) if not matching(one, facts).any()]
    if len(known) > 1 and not wrong and not unknown_names(condition, facts):
        return ["each of its comparisons is true of some passages, but not of the same ones"]
    return [_unmatched(one, condition, facts) for one in stopping.each(wrong[:_NAMED], 1)]


def _affirmed(condition: Condition) -> list[Comparison]:
    """The comparisons of a condition that are not negated."""
    if isinstance(condition, Comparison):
        return [condition]
    return (
        [] if isinstance(condition, Not) else [one for part in joined(condition) for one in _affirmed(part)]
    )


def _unmatched(one: Comparison, condition: Condition, facts: ChunkFacts) -> str:
    name = str(Comparison(one.field, one.key, Operator.EXISTS)).removesuffix(" exists")
    there = _values(one, facts)
    listed = [literal(value) for value in there if len(str(value)) <= _SHOWN]
    if not listed:
        said = f"{len(there):,} long values" if there else "no value in any document"
        said = f"{name} has {said}"
    elif len(there) > _EXAMPLES:
        said = f"{name} is {', '.join(listed[: _EXAMPLES - 1])} ... {listed[-1]} ({len(there):,} values)"
    else:
        said = f"{name} is {' or '.join(listed)}"
    like = next(
        (other for other in _like(one, there) if matching(_with(condition, one, other), facts).any()), None
    )
    meant = "" if like is None else f"; did you mean  {like} ?"
    return f"no passage has  {str(one)[:_SHOWN]} : {said}{meant}"


def _values(one: Comparison, facts: ChunkFacts) -> list[MetadataValue]:
    """The distinct values, sorted, of the field of a comparison in documents that have passages."""
    found: Iterable[MetadataValue | None]
    if one.field is Field.PAGE:
        found = facts.details[1].ravel().tolist()
    elif one.field is Field.KIND:
        found = facts.details[0].names
    elif one.field is Field.SECTION:
        found = (heading for section in facts.sections[0] for heading in headings_of(section)[1:])
    else:
        values, rows = facts.column(one)
        found = (
            values[row] for row in np.unique(rows[np.unique(facts.page_rows[facts.page_rows >= 0])]).tolist()
        )
    # Where files lie on this machine is nobody's business; a condition finds them by what this leaves of it.
    named = (
        document_name(str(value)) if value and one.field in PLACES else value
        for value in stopping.each(found)
    )
    distinct = {
        value for value in named if value not in (None, "") and (one.field is not Field.PAGE or value)
    }
    return sorted(distinct, key=lambda value: (isinstance(value, str), value))


def _like(one: Comparison, there: Sequence[MetadataValue]) -> Iterator[Comparison]:
    """Comparisons that may have been meant: whatever the case, with more around, of another field, of a similar value."""
    texts = [value for value in one.values if isinstance(value, str)]
    if one.operator not in (Operator.EQUAL, Operator.IN, Operator.LIKE) or len(texts) != 1:
        return
    named = (*PLACES, Field.TITLE)
    fields = (one.field, *named) if one.field in named else (one.field,)
    for pattern in (texts[0], f"*{texts[0].strip('*')}*"):
        for place in fields:
            yield Comparison(place, one.key, Operator.LIKE, (pattern,))
    near = get_close_matches(texts[0][:_SHOWN], [str(value) for value in there[:_COMPARED]], n=1)
    for value in near:
        yield Comparison(one.field, one.key, Operator.EQUAL, (value,))


def _with(condition: Condition, one: Comparison, other: Comparison) -> Condition:
    """A condition with another comparison in place of one."""
    if isinstance(condition, Comparison):
        return other if condition == one else condition
    if isinstance(condition, Not):
        return condition
    return type(condition)(tuple(_with(part, one, other) for part in joined(condition)))


def _explained(condition: Condition, facts: ChunkFacts) -> tuple[str, ...]:
    names, comparisons = unknown_names(condition, facts), unmatched(condition, facts)
    return ("no passage fulfils the condition", *names, *comparisons)


@dataclass(frozen=True)
class Allowed:
    """The chunks that match: ``mask`` (n,) over ``chunks``, which are all there are, in uri order."""

    condition: Condition
    chunks: Sequence[str]
    mask: Mask
    hints: tuple[str, ...] = ()
    """Why nothing matches, for people; none where something does."""
    beside: frozenset[str] = frozenset()
    """Further chunks that match, of live sources: not of the store, and in none of the rest but ``has`` and ``count``."""

    @classmethod
    def of(cls, condition: Condition, facts: ChunkFacts) -> Allowed:
        """The chunks that match, of all that ``facts`` knows of."""
        mask = matching(condition, facts)
        found = () if mask.any() else _explained(condition, facts)
        return cls(condition, facts.chunks, mask, found)

    @cached_property
    def rows(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Which chunks match, ascending."""
        return np.flatnonzero(self.mask)

    @property
    def count(self) -> int:
        """How many chunks match."""
        return len(self.rows) + len(self.beside)

    def has(self, uri: str) -> bool:
        """Whether a chunk is there and matches. Makes no set of all of them."""
        if uri in self.beside:
            return True
        row = bisect_left(self.chunks, uri)
        return row < len(self.chunks) and self.chunks[row] == uri and bool(self.mask[row])

    @cached_property
    def uris(self) -> list[str]:
        """Of the chunks that match, in uri order."""
        return [self.chunks[row] for row in self.rows.tolist()]

    @cached_property
    def uri_set(self) -> frozenset[str]:
        """The same as a set."""
        return frozenset(self.uris)

    @cached_property
    def parents(self) -> frozenset[str]:
        """Pages and sections directly above chunks that match."""
        return frozenset(map(section_of, self.uris))

    @cached_property
    def pages(self) -> frozenset[str]:
        """Pages of chunks that match."""
        return frozenset(map(page_of, self.uris))
