"""From a store to the files of a first load, and the arguments that import them."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from trivium.errors import StoreError
from trivium.graph.bulk.folder import SUFFIX, Finished, Folder, open_folder, translated
from trivium.graph.bulk.id_table import IdTable
from trivium.graph.bulk.internal_parts import InternalParts
from trivium.graph.bulk.store_parts import StoreParts
from trivium.graph.bulk.tables import HEADERS, NODES, RELATIONSHIPS, NodeTable, RelationshipTable
from trivium.graph.property_graph import with_marks
from trivium.graph.protocols import GraphStore
from trivium.graph.records import Progress, StoreInfo
from trivium.graph.schema import QUESTION, Label, RelationshipType, without_unrequested

_SMALLEST_BUFFER = 1 << 22
_BYTES_A_CHARACTER = 4


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was exported: nodes by label (a page is also an Entity) and relationships by type; how many parts were written
    and how many were kept from an earlier export; ``bytes`` of all files."""

    folder: Path
    nodes: Mapping[str, int]
    relationships: Mapping[str, int]
    written: int
    kept: int
    bytes: int


def export(
    store: GraphStore,
    folder: str | PathLike[str],
    *,
    progress: Progress | None = None,
) -> ExportReport:
    """Write a store as files for ``neo4j-admin database import full``, which makes of them the database that
    :class:`trivium.graph.neo4j.Neo4jStore` would have made of the same pages, types and vectors.

    ``folder`` is new, empty, or that of an earlier export, of which the parts that are still right are kept:
    repeating an interrupted export continues it. The same store gives the same bytes. ``progress`` counts pages
    and entities.

    Raises StoreError for a store without pages, for a folder that holds something else, when there is no room, and
    when the store changes meanwhile.
    """
    path = Path(folder)
    before = _state(store)
    if not before.pages:
        raise StoreError(
            f"the store at {store.location} has no pages, so there is nothing to export: fill it with  trivium build"
        )
    tell = _Tell(progress, before.info.nodes.get(Label.ENTITY, 0))
    with translated(path):
        target = open_folder(path)
        target.begin()
        stamps = _stamps(target)
        ids = IdTable()
        pages, links = (StoreParts(store, target, ids) for _ in range(2))
        tell.all(pages.pages())
        internal = InternalParts(store, target, ids, pages.digest)
        internal.write()
        tell.total = before.pages + len(ids.entities())
        tell.all(links.links(pages.digest))
        names = [*pages.names, *links.names, *internal.names]
        target.keep(names)
        parts = {name: target.parts[name] for name in names}
        nodes, relationships = count(parts)
        if _state(store) != before or not before.agrees(nodes, relationships):
            raise StoreError(
                f"the store at {store.location} changed while it was exported: repeat the command while"
                " nothing writes to it"
            )
        written = [name for name, stamp in _stamps(target).items() if stamps.get(name) != stamp]
        target.finish(arguments(parts))
    return ExportReport(
        folder=path,
        nodes=nodes,
        relationships=relationships,
        written=len(written),
        kept=len(parts) - len(written),
        bytes=sum(file.bytes for part in parts.values() for file in part.files.values()),
    )


@dataclass(slots=True)
class _Tell:
    """Tells the progress, of which it is given the steps."""

    progress: Progress | None
    total: int
    done: int = 0

    def all(self, counts: Generator[int, None, None]) -> None:
        """Do all of a step."""
        with closing(counts):  # an interrupt leaves no unfinished part
            for count in counts:
                self.done += count
                if self.progress is not None:
                    self.progress(min(self.done, self.total), self.total)


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


def _stamps(folder: Folder) -> dict[str, tuple[int, int]]:
    """Return for each part that is there what changes when it is written anew."""
    found = {}
    for name in folder.parts:
        with suppress(FileNotFoundError):
            stat = (folder.path / name).stat()
            found[name] = stat.st_ino, stat.st_mtime_ns
    return found


def count(parts: Mapping[str, Finished]) -> tuple[dict[str, int], dict[str, int]]:
    """Nodes by label and relationships by type, by the lines there are."""
    lines: dict[str, int] = {}
    for part, finished in parts.items():
        for name, file in finished.files.items():
            if part != HEADERS:
                lines[name] = lines.get(name, 0) + file.lines
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


def arguments(parts: Mapping[str, Finished]) -> list[str]:
    """The arguments that import finished parts."""
    flags = [
        "--id-type=integer",
        "--array-delimiter=U+001F",
        "--bad-tolerance=0",
        # Texts span lines. Version 5.26 does not reliably find the files that do when told which (format v2).
        "--multiline-fields=true",
        f"--read-buffer-size={_buffer(parts)}",
    ]
    for table in NODES:
        flags += _argument("nodes", ":".join(with_marks(table.labels)), table.name, _files(table, parts))
    for edge in RELATIONSHIPS:
        files = _files(edge, parts)
        flags += _argument("relationships", edge.type, edge.name, files)
        if edge.mirror is not None:
            flags += _argument("relationships", edge.mirror, edge.mirror, files)
    return flags


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
