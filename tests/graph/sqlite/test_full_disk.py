"""A disk without room: an error that says so, at whatever byte it is full; the store stays as it was."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.contract.graphs import graph
from tests.fakes.disks import small_disk
from trivium.errors import StoreError
from trivium.graph.sqlite import EmbeddedStore
from trivium.types import EmbedderIdentity

PAGES = 600
DIMENSION = 384
ROOT = Path(__file__).parents[3]

_AT_EVERY_SIZE = """
import os, shutil, sys
from pathlib import Path
from trivium.errors import StoreError
from trivium.graph.sqlite import EmbeddedStore

os.environ["TRIVIUM_APPROXIMATE_FROM"] = "2"
disk, step = Path(sys.argv[1]), int(sys.argv[2])
with EmbeddedStore.open(disk / "store") as store:
    pages = len(store.pages())
refused, room = 0, 0
while True:
    shutil.rmtree(disk / "store" / "index", ignore_errors=True)
    if sys.argv[3] == "stale":
        shutil.copytree(disk / "old", disk / "store" / "index")
    space = os.statvfs(disk)
    with (disk / "filler").open("wb") as filler:
        os.posix_fallocate(filler.fileno(), 0, max(1, space.f_bavail * space.f_frsize - room))
    try:
        with EmbeddedStore.open(disk / "store") as store:
            store.refresh()
            assert len(store.pages()) == pages
            break
    except StoreError as error:
        assert "free space there" in str(error) or "full" in str(error), error
        refused += 1
    finally:
        (disk / "filler").unlink()
    room += step
print(refused)
"""


@pytest.mark.parametrize("index", ["missing", "stale"])
def test_indexes_for_which_there_is_no_room(tmp_path: Path, index: str) -> None:
    """Files that are mapped into memory too: a write to one that cannot grow would end the process without a word."""
    rng = np.random.default_rng(3)
    disk = tmp_path / "disk"
    with small_disk(disk, 60):
        with EmbeddedStore.create(disk / "store") as store:
            store.set_embedder(EmbedderIdentity("random", "1", DIMENSION))
            for part in range(2):
                store.write(
                    [
                        graph(f"Page {part} {n}", [(f"word{n} moon{part} {n}", ["Sun"])])
                        for n in range(PAGES // 2)
                    ]
                )
                texts = list(store.pending_texts())
                vectors = rng.normal(size=(len(texts), DIMENSION)).astype(np.float32)
                store.put_vectors(texts, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
                if part == 0:
                    store.refresh()
                    (disk / "store" / "index").rename(disk / "old")
        done = subprocess.run(
            [sys.executable, "-c", _AT_EVERY_SIZE, disk, str(300_000), index],
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=300,
            check=False,
        )
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert int(done.stdout) > 5


def test_a_store_for_which_there_is_no_room_is_not_begun(tmp_path: Path) -> None:
    """Nothing is left of it, and the error says what to do."""
    disk = tmp_path / "disk"
    with small_disk(disk, 1):
        (disk / "filler").write_bytes(b"x" * (900 << 10))
        with pytest.raises(StoreError, match=r"cannot be made at .*free space there"):
            EmbeddedStore.create(disk / "store")
        assert [path.name for path in disk.iterdir()] == ["filler"]
