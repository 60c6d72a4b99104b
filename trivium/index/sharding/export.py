"""Writes the bulk files of a folder that stands for several stores: the files of each by a process, or a machine, of its
own. A store by itself is written by one process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from trivium.common.beside import available_cores
from trivium.common.progress import Progress
from trivium.errors import ConfigurationError
from trivium.graph.bulk.export import ExportReport, export
from trivium.graph.bulk.folder import open_folder, translated
from trivium.graph.bulk.shard_parts import PAGES, ShardFiles, shards_of, write_shard
from trivium.graph.chunker import BLOCKS
from trivium.graph.factory import open_store
from trivium.graph.protocols import GraphStore
from trivium.graph.schema import Label
from trivium.index.sharding.build import on_cluster
from trivium.index.sharding.cluster import ClusterRunner, check_address
from trivium.index.sharding.processes import PartPool
from trivium.index.sharding.work import Work
from trivium.limits import DEFAULT_LIMITS

_FEW = 20_000
"""Passages that one process has exported before others could start and do it."""


@dataclass(frozen=True, slots=True)
class ExportPart:
    """The files of one of the stores that the folder ``store`` stands for."""

    store: Path
    files: ShardFiles

    @property
    def number(self) -> int:
        """Which of the stores."""
        return self.files.number

    @property
    def folder(self) -> Path:
        """Where the files are."""
        return self.files.folder

    def fill(self, work: Work, step: str) -> Iterator[int]:  # noqa: ARG002 - of the protocol
        """Do a step of :func:`trivium.graph.bulk.shard_parts.write_shard`. Raises StoreError where there is no room."""
        with translated(self.folder), open_store(self.store) as store:
            yield from write_shard(store, self.files, step)


def export_store(
    store: GraphStore,
    folder: str | Path,
    *,
    workers: int | None = 1,
    ray: str | None = None,
    progress: Progress | None = None,
) -> ExportReport:
    """:func:`trivium.graph.bulk.export`, with the files of up to ``workers`` shards written at once by processes of their
    own (None: as many as there are cores, where it is worth their start), or by tasks of the Ray cluster at the address
    ``ray``. Scripts that use processes need ``if __name__ == "__main__":``.

    Raises ConfigurationError if the process of a shard, or the cluster, fails, if a store without shards is to be
    written on a cluster, and for fewer than one worker.
    """
    shards = shards_of(store)
    if ray is not None:
        check_address(ray)
        if len(shards) == 1:
            raise ConfigurationError(
                f"{store.location} has no shards that a cluster could share out: leave out --ray, or split it first"
                " (trivium shards split)"
            )
    processes = _worth_starting(shards) if workers is None else workers
    if processes < 1:
        raise ConfigurationError(f"workers must be at least 1, got {workers}")
    if ray is None and (processes == 1 or len(shards) == 1):
        return export(store, folder, progress=progress)
    location, out = Path(store.location).absolute(), Path(folder).absolute()
    work = Work(folder=out, cwd=str(Path.cwd()), limits=DEFAULT_LIMITS, chunker=BLOCKS)
    with ExitStack() as stack:
        if ray is None:
            pool = PartPool(work, processes)
            stack.callback(pool.close)
            run = partial(_in_processes, pool, location)
        else:
            with translated(out):
                open_folder(out).begin()  # the nodes look for a file in it
            cluster = stack.enter_context(on_cluster(ray, work))
            run = partial(_on_cluster, cluster, location, store)
        return export(store, folder, progress=progress, run=run)


def _worth_starting(shards: Sequence[GraphStore]) -> int:
    """Return how many processes write the files of shards sooner than one."""
    if len(shards) == 1 or sum(shard.info().nodes[Label.CHUNK] for shard in shards) < _FEW:
        return 1
    return available_cores()


def _in_processes(
    pool: PartPool, store: Path, shards: Sequence[ShardFiles], step: str, tell: Callable[[int], None]
) -> None:
    with closing(pool.fill(_parts(store, shards), step, tell)) as done:  # an interrupt ends the processes
        for _ in done:
            pass


def _on_cluster(
    cluster: ClusterRunner,
    location: Path,
    store: GraphStore,
    shards: Sequence[ShardFiles],
    step: str,
    tell: Callable[[int], None],
) -> None:
    for part in cluster.fill(_parts(location, shards), step):
        own = shards_of(store)[part.number]
        tell(own.count_pages() if step == PAGES else part.files.names.count_own())


def _parts(store: Path, shards: Sequence[ShardFiles]) -> list[ExportPart]:
    return [ExportPart(store, ShardFiles(files.number, files.folder.absolute())) for files in shards]
