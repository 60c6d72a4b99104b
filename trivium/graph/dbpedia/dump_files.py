"""Dump files as a source: read from the first byte to the last, once for the links and once for the facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from trivium.errors import InputError, MissingExtraError
from trivium.graph.dbpedia.mapping import ONTOLOGY, PRIMARY_TOPIC, Titles
from trivium.graph.dbpedia.read_lines import OpenFile, lines, opened
from trivium.graph.dbpedia.source import Reporter, Statement
from trivium.parser.sources.source_items import Problem

_ITEM = "http://www.wikidata.org/entity/"
_COLUMNS = 5
_ID = re.compile(r"Q[1-9][0-9]*")
_PREDICATE = re.compile(r"[A-Za-z][\w-]*")


@dataclass(frozen=True, slots=True)
class _Row:
    subject: str
    subject_name: str
    predicate: str
    object: str
    object_name: str


def read_tsv(
    file: OpenFile, titles: Titles, problem: Callable[[Problem], None], advance: Callable[[int], None]
) -> Iterator[Statement]:
    """Each row as statements: the relation, and for an item with a name the page of that name."""
    for line in lines(file, problem, advance):
        try:
            row = _row(line.data)
        except ValueError as error:  # UnicodeDecodeError among them
            problem(Problem(f"{file.name}, line {line.number}", str(error)))
            continue
        if row is None:
            continue
        yield _ITEM + row.subject, ONTOLOGY + row.predicate, _ITEM + row.object
        for item, name in ((row.subject, row.subject_name), (row.object, row.object_name)):
            if name:
                yield _ITEM + item, PRIMARY_TOPIC, titles.page(name)


def _row(data: bytes) -> _Row | None:
    """The row of a line, None for a blank one. Raises ValueError saying what is wrong with it."""
    text = data.decode("utf-8").rstrip("\r\n")
    if not text.strip():
        return None
    cells = [cell.strip() for cell in text.split("\t")]
    if len(cells) != _COLUMNS:
        raise ValueError(f"expected {_COLUMNS} columns separated by tabs, got {len(cells)}")
    row = _Row(*cells)
    for item in (row.subject, row.object):
        if _ID.fullmatch(item) is None:
            raise ValueError(f"expected a Wikidata id such as Q90, got {item[:40]!r}")
    if _PREDICATE.fullmatch(row.predicate) is None:
        raise ValueError(f"expected the name of a predicate such as deathPlace, got {row.predicate[:40]!r}")
    return row


Reader = Callable[[OpenFile, Callable[[Problem], None], Callable[[int], None]], Iterator[Statement]]

_PACKED = (".gz", ".bz2")
_NTRIPLES = (".nt", ".ntriples")
_TURTLE = (".ttl", ".turtle")
_TSV = (".tsv",)
FORMATS = (*_NTRIPLES, *_TURTLE, *_TSV)


def readable_file(path: Path) -> bool:
    """Whether the file's name says that it holds statements."""
    return _kind(path) in FORMATS


def _kind(path: Path) -> str:
    inner = path.with_suffix("") if path.suffix.lower() in _PACKED else path
    return inner.suffix.lower()


class DumpSource:
    """Files of statements. Raises InputError for a file of another kind, MissingExtraError where pyoxigraph is
    missing and needed."""

    def __init__(self, paths: Sequence[Path], titles: Titles) -> None:
        self._files = [(path, _reader(path, titles)) for path in paths]

    def links(self, titles: Sequence[str], reporter: Reporter) -> Iterator[Statement]:  # noqa: ARG002 - the protocol
        """See :class:`trivium.graph.dbpedia.source.Source`. What is malformed is reported with the facts."""
        quiet = Reporter(problem=lambda _: None, advance=reporter.advance)
        return (found for found in self._read(quiet) if found[1] == PRIMARY_TOPIC)

    def facts(self, titles: Sequence[str], reporter: Reporter) -> Iterator[Statement]:  # noqa: ARG002 - the protocol
        """See :class:`trivium.graph.dbpedia.source.Source`."""
        return self._read(reporter)

    def _read(self, reporter: Reporter) -> Iterator[Statement]:
        sizes = [path.stat().st_size if path.exists() else 0 for path, _ in self._files]
        before, total = 0, sum(sizes)
        for (path, read), size in zip(self._files, sizes, strict=True):

            def advance(position: int, before: int = before) -> None:
                reporter.advance(before + position, total)

            with opened(path, reporter.problem) as file:
                yield from read(file, reporter.problem, advance)
            before += size
            reporter.advance(before, total)


def _reader(path: Path, titles: Titles) -> Reader:
    kind = _kind(path)
    if kind in _TSV:
        return lambda file, problem, advance: read_tsv(file, titles, problem, advance)
    if kind not in FORMATS:
        raise InputError(
            f"expected a file named {', '.join('*' + suffix for suffix in FORMATS)} (or one of these with .gz or .bz2), "
            f"got {str(path)!r}"
        )
    try:
        from trivium.graph.dbpedia.rdf import read_ntriples, read_turtle
    except ImportError as error:
        raise MissingExtraError("reading N-Triples and Turtle", "dbpedia") from error
    return read_ntriples if kind in _NTRIPLES else read_turtle
