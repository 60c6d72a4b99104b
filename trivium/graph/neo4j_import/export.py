"""From a store to the files of a first load, and the arguments that import them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from trivium.errors import StoreError
from trivium.graph.neo4j_import.files import HEADERS, SUFFIX, File, new_files
from trivium.graph.neo4j_import.store_lines import StoreLines
from trivium.graph.neo4j_import.tables import ENTITIES, NODES, PAGES, RELATIONSHIPS
from trivium.graph.node_properties import with_marks
from trivium.graph.protocols import GraphStore
from trivium.graph.records import Progress, StoreInfo
from trivium.graph.schema import QUESTION, Label, RelationshipType, without_unrequested

_SMALLEST_BUFFER = 1 << 22
_BYTES_A_CHARACTER = 4


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was exported: nodes by label (a page is also an Entity) and relationships by type; ``bytes`` of all files but
    the headers."""

    folder: Path
    nodes: Mapping[str, int]
    relationships: Mapping[str, int]
    bytes: int


def export(
    store: GraphStore,
    folder: str | PathLike[str],
    *,
    progress: Progress | None = None,
) -> ExportReport:
    """Write a store as files for ``neo4j-admin database import full``, which makes of them the database that
    :class:`trivium.graph.neo4j.Neo4jStore` would have made of the same pages, types and vectors.

    ``folder`` is new, empty, or that of an earlier export, which is replaced. The same store gives the same bytes.
    ``progress`` counts pages and entities. After an interruption nothing can be imported; the same call begins again.

    Raises StoreError for a store without pages, for a folder that holds something else, when there is no room, and
    when the store changes meanwhile.
    """
    path = Path(folder)
    before = _state(store)
    if not before.pages:
        raise StoreError(
            f"the store at {store.location} has no pages, so there is nothing to export: fill it with  trivium build"
        )
    done, total = 0, before.info.nodes.get(Label.ENTITY, 0)
    with new_files(path) as files:
        for table, lines in StoreLines(store).all(lambda: files.digest):
            for written in files.write(table, lines):
                if progress is not None and table in (PAGES.name, ENTITIES.name):
                    done += written
                    progress(min(done, total), total)
        nodes, relationships = count(files.files)
        if _state(store) != before or not before.agrees(nodes, relationships):
            raise StoreError(
                f"the store at {store.location} changed while it was exported: repeat the command while"
                " nothing writes to it"
            )
        files.finish(arguments(files.files))
    return ExportReport(path, nodes, relationships, sum(file.bytes for file in files.files.values()))


@dataclass(frozen=True, slots=True)
class _State:
    """What a store says of itself, before and after: the counts and, if it names that, the state."""

    info: StoreInfo
    state: str | None

    @property
    def pages(self) -> int:
        return self.info.nodes.get(Label.PAGE, 0)

    def agrees(self, nodes: Mapping[str, int], relationships: Mapping[str, int]) -> bool:
        """Whether as much was exported as the store says it holds."""
        exported = {**nodes, **relationships}
        held = {**self.info.nodes, **self.info.relationships}
        return all(
            exported.get(name, 0) == held.get(name, 0) for name in (*Label, QUESTION, *RelationshipType)
        )


def _state(store: GraphStore) -> _State:
    return _State(store.info(), getattr(store, "state", None))


def count(files: Mapping[str, File]) -> tuple[dict[str, int], dict[str, int]]:
    """Nodes by label and relationships by type, by the lines there are."""
    lines = {name: file.lines for name, file in files.items()}
    nodes: dict[str, int] = {}
    for table in NODES:
        for label in table.labels:
            nodes[str(label)] = nodes.get(str(label), 0) + lines.get(table.name, 0)
    relationships = {
        kind: lines.get(edges.name, 0)
        for edges in RELATIONSHIPS
        for kind in (edges.type, edges.mirror)
        if kind is not None
    }
    counted = {str(kind): number for kind, number in relationships.items()}
    return without_unrequested(nodes), without_unrequested(counted)


def arguments(files: Mapping[str, File]) -> list[str]:
    """The arguments that import these files."""
    flags = [
        "--id-type=integer",
        "--array-delimiter=U+001F",
        "--bad-tolerance=0",
        # Texts span lines. Version 5.26 does not reliably find the files that do when told which (format v2).
        "--multiline-fields=true",
        f"--read-buffer-size={_buffer(files)}",
    ]
    flags += [
        _argument("nodes", ":".join(with_marks(table.labels)), table.name, table.name)
        for table in NODES
        if table.name in files
    ]
    for edge in RELATIONSHIPS:
        if edge.name in files:
            flags.append(_argument("relationships", edge.type, edge.name, edge.name))
            if edge.mirror is not None:
                flags.append(_argument("relationships", edge.mirror, edge.mirror, edge.name))
    return flags


def _argument(kind: str, what: str, header: str, table: str) -> str:
    return f"--{kind}={what}={HEADERS}/{header}{SUFFIX},{table}{SUFFIX}"


def _buffer(files: Mapping[str, File]) -> int:
    """Bytes that hold the longest line: the next power of two, and not less than the importer's own choice."""
    longest = max(file.longest for file in files.values())
    return max(_SMALLEST_BUFFER, 1 << (_BYTES_A_CHARACTER * longest).bit_length())
