"""Digests of everything a measurement depends on. If they are unchanged, an earlier result is still valid."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

from trivium.errors import InputError
from trivium.graph.protocols import GraphStore
from trivium.retrievers.llm_path_selectors import LlmSelector, RecordedSelector
from trivium.retrievers.path import MatchSelector
from trivium.search.retriever_set import RetrieverSet


def store_digest(store: GraphStore) -> str:
    """Return the digest of a store's pages with their versions, its counts, embedder and default fusion."""
    pages = ([page.uri, page.content_hash] for page in store.pages())
    return digest_of([asdict(store.info()), store.fusion_decision, *pages])


def trained_digests(fusions: Iterable[str]) -> dict[str, str]:
    """Return the digests of the fusions that are folders, by name."""
    folders = [name for name in fusions if Path(name).is_dir()]
    return {name: digest_of_folder(Path(name)) for name in folders}


def shipped_digest() -> str:
    """Return the digest of the trained fusions shipped with the package."""
    data = _files(Path(str(files("trivium.fusion"))))
    return digest_of_files(path for path in data if path.suffix not in (".py", ".pyc"))


def digest_of_files(paths: Iterable[Path]) -> str:
    """Return the SHA-256 of the names and contents of files, in their order. Raises InputError."""
    try:
        return digest_of([path.name, hashlib.sha256(path.read_bytes()).hexdigest()] for path in paths)
    except OSError as error:
        raise InputError(f"expected a readable file, got {error}") from error


def digest_of_folder(folder: Path) -> str:
    """Return the digest of all files in a folder and its subfolders, sorted by path. Raises InputError."""
    return digest_of_files(_files(folder))


def digest_of(values: Iterable[object]) -> str:
    """Return the SHA-256 of JSON-serialisable values."""
    digest = hashlib.sha256()
    for value in values:
        digest.update(json.dumps(value, sort_keys=True).encode())
        digest.update(b"\n")
    return digest.hexdigest()


def changed_retrieval(retrievers: RetrieverSet) -> dict[str, Any]:
    """Return how the retrievers differ from the defaults: their settings and the selector of the path retriever.
    Empty if they do not.
    """
    changed: dict[str, Any] = {}
    if retrievers.values:
        changed["settings"] = {key: str(value) for key, value in sorted(retrievers.values.items())}
    selector = retrievers.selector
    if isinstance(selector, LlmSelector):
        every = "" if selector.most is not None else ", every place"
        own = (
            ""
            if selector.instructions is None
            else f", instructions {digest_of([selector.instructions])[:12]}"
        )
        changed["selector"] = f"llm: {selector.model.name}{every}{own}"
    elif isinstance(selector, RecordedSelector):
        changed["selector"] = f"recorded: {selector.path.name}"
    elif selector is not None and not isinstance(selector, MatchSelector):
        changed["selector"] = type(selector).__qualname__
    return changed


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
