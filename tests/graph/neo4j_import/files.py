"""Bulk files read back as neo4j-admin reads them: every node and relationship, by what import.json says."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np

from tests.graph.neo4j.database import Edges, Nodes, _comparable, _frozen, _key

_FIELD = re.compile(r'(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n)')
# The importer keeps numbers of single precision.
_CONVERT = {"string": str, "long": int, "boolean": "true".__eq__, "float[]": np.float32, "string[]": str}

Row = dict[str, Any]


def read_export(folder: Path) -> tuple[Nodes, Edges]:
    """What the files say, in the form of :func:`tests.graph.neo4j.database.found`."""
    arguments: list[str] = json.loads((folder / "import.json").read_text("utf-8"))["arguments"]
    by_number: dict[str, tuple[list[str], Row]] = {}
    for labels, row in _tables(folder, arguments, "--nodes="):
        by_number[row.pop(":ID")] = (labels.split(":"), row)
    keys = {number: _key(labels, row) for number, (labels, row) in by_number.items()}
    nodes: Nodes = {keys[number]: _comparable(row) for number, (_, row) in by_number.items()}
    assert len(nodes) == len(by_number), "two nodes of one label share a key"
    edges: Edges = Counter()
    for kind, row in _tables(folder, arguments, "--relationships="):
        start, end = keys[row.pop(":START_ID")], keys[row.pop(":END_ID")]
        edges[(start, kind, _frozen(row), end)] += 1
    (own_node,) = (row for key, row in nodes.items() if key[-1] == "TriviumStore")
    assert own_node.pop("generation") == 1
    assert UUID(own_node.pop("uuid"))
    return nodes, edges


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with what is in it."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def read_rows(path: Path) -> Iterator[list[str | None]]:
    """The rows of one file; None for a field that is bare and empty."""
    text, place = path.read_bytes().decode(), 0
    row: list[str | None] = []
    while place < len(text):
        match = _FIELD.match(text, place)
        assert match is not None, text[place : place + 80]
        quoted, bare, end = match.groups()
        row.append(bare or None if quoted is None else quoted.replace('""', '"'))
        if end == "\n":
            yield row
            row = []
        place = match.end()


def _tables(folder: Path, arguments: list[str], option: str) -> Iterator[tuple[str, Row]]:
    """(labels or type, row) of every line that arguments of one kind name."""
    for argument in arguments:
        if argument.startswith(option):
            what, _, listed = argument.removeprefix(option).partition("=")
            header, *files = listed.split(",")
            (columns,) = read_rows(folder / header)
            for file in files:
                for row in read_rows(folder / file):
                    yield what, _row(columns, row)


def _row(columns: list[str | None], row: list[str | None]) -> Row:
    found: Row = {}
    for column, value in zip(columns, row, strict=True):
        assert column is not None
        name, _, kind = column.partition(":")
        if kind == "IGNORE" or value is None:
            continue
        if not name:
            found[column] = value
        elif kind.endswith("[]"):
            found[name] = [_CONVERT[kind](element) for element in value.split("\x1f")]
        else:
            found[name] = _CONVERT[kind](value)
    return found
