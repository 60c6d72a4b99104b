"""N-Triples and Turtle, streamed through pyoxigraph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count, islice

from pyoxigraph import NamedNode, Quad, RdfFormat, parse

from trivium.graph.dbpedia.read_lines import Line, OpenFile, lines
from trivium.graph.dbpedia.source import Statement
from trivium.parser.sources.source_items import Problem

Report = Callable[[Problem], None]
Advance = Callable[[int], None]

_LINES_A_BLOCK = 4_000
_STATEMENTS_A_REPORT = 10_000
_LONGEST_REASON = 200
_MOST_MALFORMED = 1_000
"""In a row: what has so many is no Turtle, and the parser takes long to find the end of each."""


def read_ntriples(file: OpenFile, problem: Report, advance: Advance) -> Iterator[Statement]:
    """Statements of an N-Triples file, in constant memory. A malformed line is reported and left out.

    Lines are parsed in blocks; a block that fails is parsed again line by line, since a parser that goes on by
    itself loses good lines with the bad one (an open quote swallows what follows).
    """
    rest = lines(file, problem, advance)
    while block := list(islice(rest, _LINES_A_BLOCK)):
        try:
            found = list(_parsed(b"".join(line.data for line in block)))
        except SyntaxError:
            found = list(_one_by_one(file.name, block, problem))
        yield from found


def _one_by_one(name: str, block: Iterable[Line], problem: Report) -> Iterator[Statement]:
    for line in block:
        try:
            yield from list(_parsed(line.data))
        except SyntaxError as error:
            problem(Problem(f"{name}, line {line.number}", _reason(error)))


def _parsed(data: bytes) -> Iterator[Statement]:
    for quad in parse(input=data, format=RdfFormat.N_TRIPLES):
        if (statement := _statement(quad)) is not None:
            yield statement


def read_turtle(file: OpenFile, problem: Report, advance: Advance) -> Iterator[Statement]:
    """Statements of a Turtle file, in constant memory. The parser goes on behind a malformed statement, which is
    reported; what the mistake swallows (an open quote takes the lines up to the next) is lost, and the rest of the file
    where a thousand follow one another."""
    malformed = 0
    quads = iter(parse(input=file.data, format=RdfFormat.TURTLE))
    for number in count():
        if number % _STATEMENTS_A_REPORT == 0:
            advance(file.position)
        try:
            quad = next(quads)
        except StopIteration:
            return
        except SyntaxError as error:
            problem(Problem(f"{file.name}, line {error.lineno}", _reason(error)))
            malformed += 1
            if malformed == _MOST_MALFORMED:
                said = f"{malformed:,} malformed statements in a row; the rest of the file is left out"
                problem(Problem(file.name, said))
                return
        except MemoryError:  # the parser's own bound on its buffer
            problem(Problem(file.name, "a statement is too long; the rest of the file is left out"))
            return
        else:
            malformed = 0
            if (statement := _statement(quad)) is not None:
                yield statement


def _statement(quad: Quad) -> Statement | None:
    """The three IRIs, None where the subject or the object is something else."""
    subject, value = quad.subject, quad.object
    if isinstance(subject, NamedNode) and isinstance(value, NamedNode):
        return subject.value, quad.predicate.value, value.value
    return None


def _reason(error: SyntaxError) -> str:
    """What is wrong, without the parser's own count of lines. It quotes what it read, which may be all of the file."""
    reason = str(error.msg).partition(": ")[2] or str(error.msg)
    return reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}…"
