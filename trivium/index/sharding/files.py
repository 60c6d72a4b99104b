"""The files of a shard. They are renamed to their final name only when complete and on disk."""

from __future__ import annotations

import gzip
import io
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np

from trivium.common.files import TEMPORARY, replacing
from trivium.embedding.base import Vectors
from trivium.errors import InputError
from trivium.graph.model import PageGraph
from trivium.graph.records import Codes, Passage
from trivium.index.graph_messages import Joined, dump, load, parts_of
from trivium.index.parsing import Loaded
from trivium.parser.sources.base import Problem

_PROBLEM = "problem"
_END = "end"
_COMPRESSION = 1
_SECONDS = 60.0
"""How long to wait for a file written by another machine: network file systems cache the absence of files."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """The embedded content of a shard: texts with their vectors (n, d), and passages with the vectors of their
    sentences, empty if sentences are not embedded.
    """

    texts: Sequence[str]
    vectors: Vectors
    passages: Sequence[Passage]
    codes: Sequence[Codes]


class ShardFolder:
    """The folder with all shards of a build, shared by all its machines."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def pages(self, key: str) -> Path:
        """Return the file of a shard's pages if all its documents could be read."""
        return self._path(key, "pages")

    def faulty(self, key: str) -> Path:
        """Return the file of a shard's pages if it has problems. It is valid for one build only, since missing
        packages may be installed before the next.
        """
        return self._path(key, "faulty")

    def vectors(self, key: str, made_by: str) -> Path:
        """Return the file of a shard's vectors by an embedder."""
        return self._path(key, f"{made_by}.vectors")

    def parsed(self, key: str) -> Path | None:
        """Return the existing file of a shard's pages, if any."""
        return next((path for path in (self.pages(key), self.faulty(key)) if path.exists()), None)

    def forget_faulty(self, key: str) -> None:
        """Have a shard with problems processed again, including its vectors."""
        if self.faulty(key).exists():
            for vectors in self.root.glob(f"{key[:2]}/{key}.*.vectors"):
                vectors.unlink(missing_ok=True)
            self.faulty(key).unlink(missing_ok=True)

    def tidy(self) -> None:
        """Remove temporary files of killed processes."""
        for left in self.root.glob(f"*/*{TEMPORARY}"):
            with suppress(OSError):
                left.unlink()

    def _path(self, key: str, what: str) -> Path:
        return self.root / key[:2] / f"{key}.{what}"


def wait_for(*paths: Path) -> bool:
    """Wait for one of the files to appear. Returns whether it did."""
    until = time.monotonic() + _SECONDS
    while not any(path.exists() for path in paths):
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


def write_pages(folder: ShardFolder, key: str, outcomes: Iterable[Loaded]) -> None:
    """Write the results of a shard's documents, in their order."""
    packed = io.BytesIO()
    faulty = False
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=_COMPRESSION, mtime=0) as file:
        for outcome in outcomes:
            if isinstance(outcome, Problem):
                faulty = True
                file.write(dump([_PROBLEM, [outcome.location, outcome.reason]]) + b"\n")
                continue
            for graph in outcome:
                for message in parts_of(graph):
                    file.write(dump(message) + b"\n")
            file.write(dump([_END, None]) + b"\n")
    with replacing(folder.faulty(key) if faulty else folder.pages(key)) as target:
        target.write(packed.getbuffer())


def read_pages(path: Path) -> Iterator[Loaded]:
    """Read a file written by :func:`write_pages`, one document at a time. Raises InputError for a damaged file."""
    graphs: list[PageGraph] = []
    joined = Joined()
    with _unpacked(path) as file:
        for line in file:
            kind, content = load(line)
            if kind == _PROBLEM:
                yield Problem(*content)
            elif kind == _END:
                yield graphs
                graphs = []
            elif (graph := joined.add(kind, content)) is not None:
                graphs.append(graph)


@contextmanager
def _unpacked(path: Path) -> Iterator[gzip.GzipFile]:
    """Open a file of messages. Raises InputError if it cannot be read."""
    try:
        with gzip.open(path) as file:
            yield file
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise InputError(f"{path} cannot be read ({error}): delete it and build again") from error


def write_embedded(path: Path, embedded: Embedded) -> None:
    """Write the vectors of a shard."""
    dimension = embedded.vectors.shape[1]
    codes = [np.empty((0, dimension), np.int8), *embedded.codes]
    arrays = {
        "texts": _as_bytes(list(embedded.texts)),
        "vectors": np.ascontiguousarray(embedded.vectors, "<f4"),
        "passages": _as_bytes([[passage.headings, passage.text] for passage in embedded.passages]),
        "codes": np.concatenate(codes),
        "starts": np.fromiter(accumulate(map(len, embedded.codes), initial=0), "<i8"),
    }
    with replacing(path) as file:
        np.savez(file, allow_pickle=False, **arrays)


def read_embedded(path: Path) -> Embedded:
    """Read a file written by :func:`write_embedded`. Raises InputError for a damaged file."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            starts, codes = arrays["starts"].tolist(), arrays["codes"]
            return Embedded(
                texts=load(arrays["texts"].tobytes()),
                vectors=arrays["vectors"],
                passages=[
                    Passage(tuple(headings), text) for headings, text in load(arrays["passages"].tobytes())
                ],
                codes=[codes[first:last] for first, last in pairwise(starts)],
            )
    except (OSError, EOFError, zipfile.BadZipFile, KeyError, ValueError) as error:
        raise InputError(f"{path} cannot be read ({error}): delete it and build again") from error


def _as_bytes(content: object) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    return np.frombuffer(dump(content), np.uint8)
