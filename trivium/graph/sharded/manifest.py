"""The file that names the shards of a store."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.common.files import write_file
from trivium.errors import StoreFormatError

FILE = "shards.json"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Manifest:
    """``shards`` are the folders of the stores, as they are written: relative to ``folder``, or absolute. ``fusion`` is
    the decision on the default fusion of all together.
    """

    folder: Path
    shards: tuple[str, ...]
    fusion: str | None = None

    @property
    def paths(self) -> list[Path]:
        """The folders of the shards."""
        return [self.folder / shard for shard in self.shards]

    def write(self) -> None:
        """Write the file. Raises InputError."""
        facts: dict[str, Any] = {"format": _FORMAT, "shards": self.shards}
        if self.fusion is not None:
            facts["fusion"] = self.fusion
        write_file(self.folder / FILE, json.dumps(facts, indent=2, ensure_ascii=False) + "\n")


def is_sharded(folder: str | Path) -> bool:
    """Whether a folder names shards."""
    return (Path(folder) / FILE).is_file()


def read_manifest(folder: str | Path) -> Manifest:
    """Read the file. Raises StoreFormatError if it does not name shards."""
    path = Path(folder) / FILE
    try:
        facts = json.loads(path.read_text("utf-8"))
        shards, fusion = facts["shards"], facts.get("fusion")
        if facts["format"] != _FORMAT:
            raise StoreFormatError(
                f"{path} has format {facts['format']}, this version reads {_FORMAT}: use the version that wrote it"
            )
        if not shards or not all(isinstance(shard, str) for shard in shards):
            raise ValueError(f"shards: {shards!r}")
        if not isinstance(fusion, str | None):
            raise ValueError(f"fusion: {fusion!r}")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreFormatError(
            f'expected {{"format": {_FORMAT}, "shards": ["FOLDER", ...]}} in {path}, got something else ({error});'
            "  trivium shards create  writes it"
        ) from error
    return Manifest(Path(folder), tuple(shards), fusion)


def relative(shard: Path, folder: Path) -> str:
    """Return how the folder of a shard is written in the manifest of a folder, so that both can be moved together."""
    return Path(os.path.relpath(shard.resolve(), folder.resolve())).as_posix()
