"""From a store to the files of a first load, and the arguments that import them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path

from trivium.errors import StoreError
from trivium.graph.bulk.folder import MANIFEST, SUFFIX, Finished, open_folder, translated
from trivium.graph.bulk.shard_parts import LINKS, PAGES, ShardFiles, shards_of, write_shard
from trivium.graph.bulk.shared_parts import SharedParts
from trivium.graph.bulk.tables import HEADERS, NODES, RELATIONSHIPS, NodeTable, RelationshipTable
from trivium.graph.property_graph import with_marks
from trivium.graph.protocols import GraphStore
from trivium.graph.records import Progress, StoreInfo
from trivium.graph.schema import QUESTION, Label, RelationshipType, without_unrequested
from trivium.graph.sharded.store import ShardedStore

_SHARD = "shard-"
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


RunStep = Callable[[Sequence[ShardFiles], str, Callable[[int], None]], None]
"""Does a step of every shard (:func:`trivium.graph.bulk.shard_parts.write_shard`), and tells the progress."""


def export(
    store: GraphStore,
    folder: str | PathLike[str],
    *,
    progress: Progress | None = None,
    run: RunStep | None = None,
) -> ExportReport:
    """Write a store as files for ``neo4j-admin database import full``, which makes of them the database that
    :class:`trivium.graph.neo4j.Neo4jStore` would have made of the same pages, types and vectors.

    ``folder`` is new, empty, or that of an earlier export, of which the parts that are still right are kept:
    repeating an interrupted export continues it. The same store gives the same bytes. ``progress`` counts pages
    and entities. The files of shards are written by ``run``, by default one after another in this process.

    Raises StoreError for a store without pages, for a folder that holds something else, when there is no room, and
    when the store changes meanwhile.
    """
    path = Path(folder)
    before = _state(store)
    if not before.pages:
        raise StoreError(
            f"the store at {store.location} has no pages, so there is nothing to export: fill it with  trivium build"
        )
    do = run or partial(_one_after_another, store)
    shards = _shard_files(store, path)
    tell = _Tell(progress, sum(info.nodes.get(Label.ENTITY, 0) for info in before.infos))
    with translated(path):
        target = open_folder(path)
        target.begin()
        stamps = _stamps(path, shards)
        try:
            do(shards, PAGES, tell)
            target = open_folder(path)
            shared = SharedParts(store, target, [files.names for files in shards])
            shared.write()
            tell.total = before.pages + sum(files.names.count_own() for files in shards)
            do(shards, LINKS, tell)
            names = [[*files.names.names(PAGES), *files.names.names(LINKS)] for files in shards]
        finally:
            for files in shards:
                shutil.rmtree(files.names.folder, ignore_errors=True)
        parts = _keep_parts(path, shards, names, shared.names)
        nodes, relationships = count(parts)
        if _state(store) != before or not before.agrees(nodes, relationships):
            raise StoreError(
                f"the store at {store.location} changed while it was exported: repeat the command while"
                " nothing writes to it"
            )
        written = [name for name, stamp in _stamps(path, shards).items() if stamps.get(name) != stamp]
        target.finish(arguments(parts))
    return ExportReport(
        folder=path,
        nodes=nodes,
        relationships=relationships,
        written=len(written),
        kept=len(parts) - len(written),
        bytes=sum(file.bytes for part in parts.values() for file in part.files.values()),
    )


def _one_after_another(
    store: GraphStore, shards: Sequence[ShardFiles], step: str, tell: Callable[[int], None]
) -> None:
    for files in shards:
        with closing(write_shard(store, files, step)) as counts:  # an interrupt leaves no unfinished part
            for count in counts:
                tell(count)


@dataclass(slots=True)
class _Tell:
    """Tells the progress, of which it is given the steps."""

    progress: Progress | None
    total: int
    done: int = 0

    def __call__(self, count: int) -> None:
        self.done += count
        if self.progress is not None:
            # What a killed process did is done, and counted, again.
            self.progress(min(self.done, self.total), self.total)


@dataclass(frozen=True, slots=True)
class _State:
    """What a store says of itself, before and after: of each shard the counts and, if it names that, the state."""

    infos: tuple[StoreInfo, ...]
    states: tuple[str | None, ...]

    @property
    def pages(self) -> int:
        return sum(info.nodes.get(Label.PAGE, 0) for info in self.infos)

    def agrees(self, nodes: Mapping[str, int], relationships: Mapping[str, int]) -> bool:
        """Whether as much was exported as the shards say they hold. Of what several of them hold that is not known."""
        apart = _APART if len(self.infos) > 1 else (*Label, QUESTION, *RelationshipType)
        exported = {**nodes, **relationships}
        return all(
            exported.get(name, 0)
            == sum({**info.nodes, **info.relationships}.get(name, 0) for info in self.infos)
            for name in apart
        )


_APART = (
    *(Label.PAGE, Label.SUBCHAPTER, Label.CHUNK),
    *(RelationshipType.HAS_SUBCHAPTER, RelationshipType.HAS_CHUNK, RelationshipType.NEXT),
)
"""Nodes and relationships that only one shard can have."""


def _state(store: GraphStore) -> _State:
    shards = shards_of(store)
    return _State(
        tuple(shard.info() for shard in shards), tuple(getattr(shard, "state", None) for shard in shards)
    )


def _shard_files(store: GraphStore, path: Path) -> list[ShardFiles]:
    if not isinstance(store, ShardedStore):
        return [ShardFiles(0, path)]
    return [ShardFiles(number, path / f"{_SHARD}{number + 1}") for number in range(len(store.shards))]


def _stamps(path: Path, shards: Sequence[ShardFiles]) -> dict[str, tuple[int, int]]:
    """Return for each part that is there what changes when it is written anew."""
    found = {}
    for folder in {path, *(files.folder for files in shards)}:
        for name in open_folder(folder).parts if folder.is_dir() else ():
            with suppress(FileNotFoundError):
                stat = (folder / name).stat()
                found[_name(path, folder, name)] = stat.st_ino, stat.st_mtime_ns
    return found


def _keep_parts(
    path: Path, shards: Sequence[ShardFiles], names: Sequence[Sequence[str]], shared: Sequence[str]
) -> dict[str, Finished]:
    """Return the parts of all folders, those of shards first, and delete what an earlier export left besides."""
    wanted: dict[Path, list[str]] = {}
    for files, own in zip(shards, names, strict=True):
        wanted[files.folder] = list(own)
    wanted.setdefault(path, []).extend(shared)
    parts = {}
    for folder, own in wanted.items():
        opened = open_folder(folder)
        opened.keep(own)
        parts.update({_name(path, folder, name): opened.parts[name] for name in own})
    for left in path.glob(f"{_SHARD}*"):
        if left not in wanted and (left / MANIFEST).is_file():
            shutil.rmtree(left)
    return parts


def _name(path: Path, folder: Path, name: str) -> str:
    return (folder / name).relative_to(path).as_posix()


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
