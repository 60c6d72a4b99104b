"""The sample's store: built once, and kept until something that it is made from changes.

It lies in ``.pytest_cache/stores``; ``make clean`` removes it.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
from filelock import FileLock

from trivium.embedding.embedder import Vectors
from trivium.embedding.model_files import locate
from trivium.engine import Engine
from trivium.graph.sqlite.connection import DATABASE
from trivium.graph.stored_vectors import text_hash
from trivium.sample import pages_folder

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".pytest_cache" / "stores"
EMBEDDER = "minilm"
UNUSED = frozenset(
    {"answering", "datasets", "evaluation", "llm", "rerank", "server", "synthetic", "training"}
)
"""Folders of the package that have no say in what a store holds. A change anywhere else builds it anew."""


def copy_of_sample(target: Path) -> Path:
    """A copy, at ``target``, of the sample with the embedder that is always there. Of all processes that ask one builds
    it, and the others wait for it."""
    with _kept() as store:
        return Path(shutil.copytree(store, target))


def vectors_of_sample(texts: Sequence[str]) -> Vectors:
    """The vectors (n x d) of texts of the sample, by that embedder."""
    with _kept() as store, closing(sqlite3.connect(store / DATABASE)) as database:
        query = "SELECT text.hash, vector.data FROM vector JOIN text ON text.id = vector.text_id"
        data = dict(database.execute(query))
    return np.stack([np.frombuffer(data[text_hash(text)], "<f4") for text in texts])


@contextmanager
def _kept() -> Iterator[Path]:
    """The store as it was last built; no other process looks at it meanwhile."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    kept, made_from = FOLDER / "sample", FOLDER / "sample.made-from"
    with FileLock(FOLDER / "sample.lock"):
        digest = _digest()
        if not made_from.is_file() or made_from.read_text("utf-8") != digest:
            made_from.unlink(missing_ok=True)
            if kept.is_dir():
                shutil.rmtree(kept)
            with Engine.create(kept, EMBEDDER) as engine:
                engine.build([pages_folder()])
            made_from.write_text(digest, "utf-8")
        yield kept


def _digest() -> str:
    """Of the package's code, the sample, the embedder, the libraries and the interpreter."""
    whole = hashlib.sha256(sys.version.encode())
    for path in (*_files(), ROOT / "constraints.txt", locate(EMBEDDER).model):
        whole.update(f"{path.name} {path.stat().st_size}\n".encode())
        whole.update(path.read_bytes())
    return whole.hexdigest()


def _files() -> Iterator[Path]:
    package = ROOT / "trivium"
    for path in sorted(package.rglob("*")):
        parts = path.relative_to(package).parts
        if path.is_file() and "__pycache__" not in parts and parts[0] not in UNUSED:
            yield path
