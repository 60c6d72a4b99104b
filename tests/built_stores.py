"""Stores and vectors that take long to make: made once, and kept until something that they are made from changes.

They lie in ``.pytest_cache/stores``; ``make clean`` removes them.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from filelock import FileLock

from trivium.embedding.embedder import Vectors
from trivium.embedding.models import locate
from trivium.embedding.registry import open_embedder

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".pytest_cache" / "stores"
EMBEDDER = "minilm"
UNUSED = frozenset(
    {"answering", "datasets", "evaluation", "llm", "rerank", "server", "synthetic", "training"}
)
"""Folders of the package that have no say in what a store holds. A change anywhere else builds it anew."""


def copy_of_store(name: str, target: Path, build: Callable[[Path], None]) -> Path:
    """A copy, at ``target``, of the store that ``build`` makes at the path it is given. Of all processes that ask for
    the name one builds, and the others wait for it."""
    with _kept(name, build) as store:
        return Path(shutil.copytree(store, target))


def vectors_of(name: str, texts: Sequence[str]) -> Vectors:
    """The vectors (n x d) of the texts of the sample, by the embedder that is always there."""

    def embed(target: Path) -> None:
        embedder = open_embedder(EMBEDDER)
        try:
            np.savez(target, texts=np.asarray(texts), vectors=embedder.embed(texts))
        finally:
            embedder.close()

    with _kept(f"{name}.npz", embed) as saved, np.load(saved) as arrays:
        row = {text: i for i, text in enumerate(arrays["texts"])}
        vectors: Vectors = arrays["vectors"][[row[text] for text in texts]]
        return vectors


@contextmanager
def _kept(name: str, make: Callable[[Path], None]) -> Iterator[Path]:
    """What ``make`` made when it was last needed; no other process looks at it meanwhile."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    kept, made_from = FOLDER / name, FOLDER / f"{name}.made-from"
    with FileLock(FOLDER / f"{name}.lock"):
        digest = _digest()
        if not made_from.is_file() or made_from.read_text("utf-8") != digest:
            made_from.unlink(missing_ok=True)
            if kept.is_dir():
                shutil.rmtree(kept)
            make(kept)
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
