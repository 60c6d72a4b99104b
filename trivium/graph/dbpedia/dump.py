"""Dump files as a source: read from the first byte to the last, once for the links and once for the facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from trivium.errors import InputError, MissingExtraError
from trivium.graph.dbpedia.files import OpenFile, opened
from trivium.graph.dbpedia.source import Statement, Watch
from trivium.graph.dbpedia.titles import Titles
from trivium.graph.dbpedia.tsv import read_tsv
from trivium.graph.dbpedia.vocabulary import PRIMARY_TOPIC
from trivium.parser.sources.base import Problem

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

    def links(self, titles: Sequence[str], watch: Watch) -> Iterator[Statement]:  # noqa: ARG002 - the protocol
        """See :class:`trivium.graph.dbpedia.source.Source`. What is malformed is reported with the facts."""
        quiet = Watch(problem=lambda _: None, advance=watch.advance)
        return (found for found in self._read(quiet) if found[1] == PRIMARY_TOPIC)

    def facts(self, titles: Sequence[str], watch: Watch) -> Iterator[Statement]:  # noqa: ARG002 - the protocol
        """See :class:`trivium.graph.dbpedia.source.Source`."""
        return self._read(watch)

    def _read(self, watch: Watch) -> Iterator[Statement]:
        sizes = [path.stat().st_size if path.exists() else 0 for path, _ in self._files]
        before, total = 0, sum(sizes)
        for (path, read), size in zip(self._files, sizes, strict=True):

            def advance(position: int, before: int = before) -> None:
                watch.advance(before + position, total)

            with opened(path, watch.problem) as file:
                yield from read(file, watch.problem, advance)
            before += size
            watch.advance(before, total)


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
