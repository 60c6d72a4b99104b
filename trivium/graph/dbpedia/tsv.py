"""Tab-separated relations between Wikidata items, some with the names of their DBpedia resources.

One relation a line, five columns and no heading:

    subject's Wikidata id, its name, predicate, object's Wikidata id, its name

A predicate is a local name of the DBpedia ontology (``deathPlace``), a name that of a DBpedia resource
(``United_States``) or nothing. A row without names is no loss where other rows name the same items.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from trivium.graph.dbpedia.files import OpenFile, lines
from trivium.graph.dbpedia.source import Statement
from trivium.graph.dbpedia.titles import Titles
from trivium.graph.dbpedia.vocabulary import ONTOLOGY, PRIMARY_TOPIC
from trivium.parser.sources.base import Problem

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
