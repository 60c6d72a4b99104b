"""What the outcome of a measurement hangs on, in digests that tell whether an earlier one still holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path

from trivium.evaluation.suite.results import digest_of, digest_of_files
from trivium.graph.store import GraphStore


def store_digest(store: GraphStore) -> str:
    """Of its pages and their versions, its counts, its embedder and the decision on its fusion."""
    pages = ([uri, version] for uri, _, _, version in store.pages())
    return digest_of([asdict(store.info()), store.fusion_decision, *pages])


def trained_digests(fusions: Iterable[str]) -> dict[str, str]:
    """Of the fusions that are folders, by name."""
    folders = [name for name in fusions if Path(name).is_dir()]
    return {name: digest_of_files(_files(Path(name))) for name in folders}


def shipped_digest() -> str:
    """Of the trained fusions that come with the package."""
    data = _files(Path(str(files("trivium.fusion"))))
    return digest_of_files(path for path in data if path.suffix not in (".py", ".pyc"))


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
