"""Makes folders that stand for several folder stores."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from trivium.common.progress import Progress
from trivium.errors import InputError, StoreError
from trivium.graph.embedded import EmbeddedStore
from trivium.graph.factory import is_address, open_store
from trivium.graph.sharded.create import check_apart
from trivium.graph.sharded.manifest import Manifest, is_sharded, read_manifest, relative
from trivium.graph.sharded.split import split

MOST = 256
"""Shards of one store at most: every search asks each of them."""


def create_shards(
    folder: str | Path, stores: Sequence[str | Path] = (), *, new: int = 0, replace: bool = False
) -> list[Path]:
    """Make a folder that stands for folder stores, which stay where they are, and for ``new`` empty ones, which are made
    below it. With ``replace`` the folder may stand for stores already, and then stands for these instead. Returns the
    folders of the shards.

    Raises InputError for what is no folder store, StoreError if the folder is another store, or two of the stores have
    the same document; StoreNotFoundError, and EmbedderMismatchError if different embedders filled them.
    """
    folder = Path(folder)
    if EmbeddedStore.exists(folder) or (is_sharded(folder) and not replace):
        raise StoreError(f"expected a folder that is no store yet, got {folder}")
    paths = [_folder_of(store) for store in stores]
    if new < 0 or not 1 <= len(paths) + new <= MOST:
        raise InputError(f"expected 1 to {MOST} shards, got {len(paths)} stores and {new} new ones")
    if len({path.resolve() for path in paths}) < len(paths):
        raise InputError(f"expected different stores, got {', '.join(map(str, paths))}")
    with ExitStack() as stack:
        check_apart([stack.enter_context(EmbeddedStore.open(path)) for path in paths])
    decision = read_manifest(folder).fusion if is_sharded(folder) else None
    with _removed_on_failure(folder, _free_folders(folder, new)) as made:
        for path in made:
            EmbeddedStore.create(path).close()
        return _write_manifest(folder, [*paths, *made], decision)


def split_store(
    store: str | Path, folder: str | Path, into: int, progress: Progress | None = None
) -> list[Path]:
    """Copy the documents of a store into ``into`` new folder stores below ``folder``, which is new or empty and then
    stands for them. Vectors are copied, too. The store may have shards itself: of these, this makes more or fewer, of
    equal size, with links resolved across all of them. Returns the folders of the shards. ``progress`` counts documents.

    Raises InputError for too few or too many shards, StoreError if there is something in the folder or a load of the
    store was interrupted, and the errors of :func:`~trivium.graph.factory.open_store`.
    """
    folder = Path(folder)
    if not 1 <= into <= MOST:
        raise InputError(f"expected 1 to {MOST} shards, got {into}")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise StoreError(f"expected a new or empty folder for the shards, got {folder}")
    source = open_store(store)
    try:
        with _removed_on_failure(folder, _free_folders(folder, into)) as paths, ExitStack() as stack:
            split(source, [stack.enter_context(EmbeddedStore.create(path)) for path in paths], progress)
            return _write_manifest(folder, paths, source.fusion_decision)
    finally:
        source.close()


def _folder_of(store: str | Path) -> Path:
    if is_address(store) or is_sharded(store):
        raise InputError(f"expected folders that are one store each as shards, got {store}")
    return Path(store)


def _free_folders(folder: Path, count: int) -> list[Path]:
    numbered = (folder / f"shard-{number}" for number in range(1, 2 * MOST + 1))
    return [path for path in numbered if not path.exists()][:count]


def _write_manifest(folder: Path, paths: Sequence[Path], decision: str | None) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    Manifest(folder, tuple(relative(path, folder) for path in paths), decision).write()
    return list(paths)


@contextmanager
def _removed_on_failure(folder: Path, paths: list[Path]) -> Iterator[list[Path]]:
    """Yield folders that do not exist. What the block makes of them goes if it fails, and the folder around them if it
    was not there.
    """
    remove: Callable[[], object] = folder.rmdir if not folder.exists() else lambda: None
    try:
        yield paths
    except BaseException:  # also where it is interrupted
        for path in paths:
            shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):
            remove()
        raise
