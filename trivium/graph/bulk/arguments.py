"""What neo4j-admin is told, files named relative to the export's folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trivium.graph.bulk.folder import SUFFIX, Finished
from trivium.graph.bulk.tables import NODES, RELATIONSHIPS, NodeTable, RelationshipTable

HEADERS = "headers"
"""The part with one header a table, and one more where a table is read backwards."""
_SMALLEST_BUFFER = 1 << 22
_BYTES_A_CHARACTER = 4


def headers() -> Iterator[tuple[str, str]]:
    """(name of the file, its line) of every header."""
    for table in (*NODES, *RELATIONSHIPS):
        yield table.name, table.header()
        if isinstance(table, RelationshipTable) and table.mirror is not None:
            yield table.mirror, table.mirrored_header()


def arguments(parts: Mapping[str, Finished]) -> list[str]:
    """The arguments that import finished parts."""
    given = [
        "--id-type=integer",
        "--array-delimiter=U+001F",
        "--bad-tolerance=0",
        # Texts span lines. Version 5.26 does not reliably find the files that do when told which (format v2).
        "--multiline-fields=true",
        f"--read-buffer-size={_buffer(parts)}",
    ]
    for table in NODES:
        given += _argument("nodes", ":".join(table.labels), table.name, _files(table, parts))
    for edge in RELATIONSHIPS:
        files = _files(edge, parts)
        given += _argument("relationships", edge.type, edge.name, files)
        if edge.mirror is not None:
            given += _argument("relationships", edge.mirror, edge.mirror, files)
    return given


def _argument(kind: str, what: str, header: str, files: list[str]) -> list[str]:
    if not files:
        return []
    return [f"--{kind}={what}={','.join([f'{HEADERS}/{header}{SUFFIX}', *files])}"]


def _files(table: NodeTable | RelationshipTable, parts: Mapping[str, Finished]) -> list[str]:
    return [
        f"{name}/{table.name}{SUFFIX}"
        for name, part in parts.items()
        if name != HEADERS and table.name in part.files
    ]


def _buffer(parts: Mapping[str, Finished]) -> int:
    """Bytes that hold the longest line: the next power of two, and not less than the importer's own choice."""
    longest = max(file.longest for part in parts.values() for file in part.files.values())
    return max(_SMALLEST_BUFFER, 1 << (_BYTES_A_CHARACTER * longest).bit_length())
