"""Measures the memory of a build at several collection sizes, and how much of it grows with the collection.

    python benchmarks/build_memory.py UNPACKED/pages --pages 500 2000 5400

Each stage of a build runs in its own process, on links to the first files of the folder, into a folder store. Prints
the peak private memory of the process, and the memory per passage between the smallest and the largest collection; for
``load`` also the peak of its parser processes together. No model is used: the vector of every text lies near one of a
few hundred directions, and has as many dimensions as those of bge-small.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

import numpy as np
from rich.console import Console
from rich.table import Table

from experiments import command
from trivium.embedding.embedder import Vectors
from trivium.engine import Engine
from trivium.index.load import load
from trivium.types import EmbedderIdentity

PARTS = ("load", "embed", "sentences", "indexes")
DIMENSION = 384
_SUBJECTS = 400
_SECONDS = 0.02
_MB = 1 << 20


def main() -> None:
    """Run the benchmark and print the results."""
    parser = command.Parser(__doc__, takes="minutes, with a few thousand pages")
    parser.add_argument("folder", type=command.existing, help="Folder of HTML files.")
    parser.add_argument(
        "--pages", type=int, nargs="+", default=[500, 2000, 5400], help="Numbers of files to load."
    )
    parser.add_argument(
        "--parts", nargs="+", choices=PARTS, default=PARTS, help="Stages to run; must start with the first."
    )
    parser.add_argument(
        "--keep", type=Path, help="Folder to keep the stores in; by default they are deleted."
    )
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part is not None:
        print(json.dumps(run(given.part, given.folder, given.keep)))
        return
    files = sorted(given.folder.glob("*.html"))
    with TemporaryDirectory(prefix="build-memory-") as scratch:
        stores = given.keep or Path(scratch)
        measured = {}
        for count in given.pages:
            links = Path(scratch) / f"pages-{count}"
            links.mkdir()
            for file in files[:count]:
                (links / file.name).symlink_to(file.resolve())
            measured[count] = [apart(part, links, stores / f"store-{count}") for part in given.parts]
    show(given.parts, measured)


def apart(part: str, folder: Path, store: Path) -> dict[str, float]:
    """Run a stage of a build in its own process and return its figures."""
    command = [sys.executable, __file__, str(folder), "--part", part, "--keep", str(store)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    print(f"{folder.name} {part}: {found}", file=sys.stderr, flush=True)
    return found


def run(part: str, folder: Path, store: Path) -> dict[str, float]:
    """Run a stage of a build. Returns the memory in bytes at the start and at the peak, that of the parser processes,
    and the number of passages.
    """
    with Engine.create(store, embedder=RandomEmbedder()) as engine:
        work: dict[str, Callable[[], Any]] = {
            "load": lambda: load([str(folder)], engine.store),
            "embed": engine.indexer.embed,
            "sentences": engine.indexer.embed_sentences,
            "indexes": engine.store.refresh,
        }
        with Watch() as watch:
            work[part]()
        passages = len(engine.store.chunk_uris())
    return {"begin": watch.begin, "most": watch.most, "parsers": watch.children, "passages": passages}


class Watch:
    """Samples the private memory of this process and of its children until the block ends."""

    def __init__(self) -> None:
        self.begin = self.most = private("self")
        self.children = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(_SECONDS):
            self.most = max(self.most, private("self"))
            self.children = max(self.children, sum(map(private, children())))


def private(process: str) -> int:
    """Return the private memory of a process, in bytes; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("RssAnon:"))


def children() -> list[str]:
    """Return the process ids of the children of this process."""
    tasks = Path("/proc/self/task").glob("*/children")
    return [number for task in tasks for number in task.read_text().split()]


class RandomEmbedder:
    """An embedder that returns random vectors, clustered around a few hundred directions."""

    def __init__(self) -> None:
        self.identity = EmbedderIdentity("random", "1", DIMENSION)
        self._subjects = np.random.default_rng(0).standard_normal((_SUBJECTS, DIMENSION), np.float32)

    def embed_query(self, text: str) -> Vectors:
        """Return a unit vector (d,)."""
        row: Vectors = self.embed([text])[0]
        return row

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        """Return unit vectors (n x d)."""
        rows = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for row, text in enumerate(texts):
            number = crc32(text.encode("utf-8", "surrogatepass"))
            own = np.random.default_rng(number).standard_normal(DIMENSION, dtype=np.float32)
            rows[row] = self._subjects[number % _SUBJECTS] + own / 2
            rows[row] /= np.linalg.norm(rows[row])
        if progress is not None:
            progress(len(texts))
        return rows

    def close(self) -> None:
        """Do nothing: there are no resources to release."""


def show(parts: Sequence[str], measured: dict[int, list[dict[str, float]]]) -> None:
    """Print one row per stage and one column per collection size."""
    table = Table("MB of its own, at most")
    passages = [found[-1]["passages"] for found in measured.values()]
    for (count, _), size in zip(measured.items(), passages, strict=True):
        table.add_column(f"{count:,} files\n{size:,.0f} passages", justify="right")
    table.add_column("bytes more\na passage", justify="right")
    rows = [(part, [found[place]["most"] for found in measured.values()]) for place, part in enumerate(parts)]
    rows.insert(1, ("the parsers", [found[0]["parsers"] for found in measured.values()]))
    for name, most in rows:
        more = (most[-1] - most[0]) / max(1, passages[-1] - passages[0])
        table.add_row(name, *(f"{size / _MB:,.0f}" for size in most), f"{more:,.0f}")
    Console(width=120).print(table)


if __name__ == "__main__":
    command.run(main)
