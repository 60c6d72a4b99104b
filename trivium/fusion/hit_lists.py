"""Saved hit lists: tables of scores with their gold, for training and evaluating fusions without a store."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.common.safe_files import replacing
from trivium.errors import FusionError
from trivium.fusion.score_table import Table

FORMAT = 2


@dataclass(frozen=True, slots=True, eq=False)
class HitList:
    """The candidates of one question. ``gold`` (n,) is the gold group of each candidate, or -1. ``groups`` is the
    number of gold groups, including those without a candidate. ``pages`` are the pages of the gold.
    """

    question_id: str
    question: str
    table: Table
    gold: NDArray[np.int64]
    groups: int
    pages: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class HitFile:
    """The hit lists of a set of questions on one store, all with the same retrievers and signals. ``embedder`` is the
    name of the store's embedder, ``inputs`` the settings that they were computed with, by dotted name, ``names`` whether
    names in the store's texts are entities.
    """

    hits: tuple[HitList, ...]
    embedder: str
    inputs: Mapping[str, Any] = field(default_factory=dict)
    names: bool = False


def hit_list(
    question_id: str, question: str, table: Table, groups: Sequence[Sequence[str]], pages: tuple[str, ...]
) -> HitList:
    """Create the hit list of a question whose gold is ``groups`` of chunks. Source nodes are dropped."""
    number = {uri: place for place, uris in enumerate(groups) for uri in uris}
    gold = np.array([number.get(uri, -1) for uri in table.chunks], dtype=np.int64)
    bare = replace(table, source_nodes=({},) * len(table.chunks))
    return HitList(question_id, question, bare, gold, len(groups), pages)


def save_hits(path: Path, file: HitFile) -> None:
    """Write hit lists to one compressed file, replacing an earlier one atomically. Raises FusionError when the lists
    differ in retrievers or signals.
    """
    hits = file.hits
    columns = hits[0].table.columns if hits else ()
    # Questions without candidates have no signals to compare.
    first_table = next((hit.table for hit in hits if hit.table.chunks), None)
    signals, numbers = (
        ((), ()) if first_table is None else (tuple(first_table.signals), tuple(first_table.question))
    )
    for hit in hits:
        named = (
            (tuple(hit.table.signals), tuple(hit.table.question)) if hit.table.chunks else (signals, numbers)
        )
        if (hit.table.columns, *named) != (columns, signals, numbers):
            raise FusionError("hit lists of one file must have the same retrievers and signals")
    header = {
        "format": FORMAT,
        "embedder": file.embedder,
        "inputs": file.inputs,
        "names": file.names,
        "columns": columns,
        "signals": signals,
        "numbers": numbers,
        "questions": [
            {
                "id": hit.question_id,
                "question": hit.question,
                "groups": hit.groups,
                "pages": hit.pages,
                "chunks": hit.table.chunks,
            }
            for hit in hits
        ],
    }
    n = sum(len(hit.table.chunks) for hit in hits)

    def joined(parts: list[Any], width: int, kind: type) -> NDArray[Any]:
        return np.concatenate([np.zeros((0, width), dtype=kind), *parts]).astype(kind)

    with replacing(path) as stream:
        np.savez_compressed(
            stream,
            header=np.frombuffer(json.dumps(header, ensure_ascii=False).encode(), dtype=np.uint8),
            raw=joined([hit.table.raw for hit in hits], len(columns), np.float64),
            ranks=joined([hit.table.ranks for hit in hits], len(columns), np.int64),
            signals=joined(
                [
                    np.stack([hit.table.signals[name] for name in signals], axis=1)
                    if signals and hit.table.chunks
                    else np.zeros((len(hit.table.chunks), len(signals)))
                    for hit in hits
                ],
                len(signals),
                np.float64,
            ),
            numbers=np.array(
                [[hit.table.question.get(name, 0.0) for name in numbers] for hit in hits],
                dtype=np.float64,
            ).reshape(len(hits), len(numbers)),
            gold=np.concatenate([np.zeros(0, dtype=np.int64), *(hit.gold for hit in hits)]).reshape(n),
        )


_EXPECTED = "a file (.npz) written by  trivium evaluate QUESTIONS --store STORE --hits FILE"
_NAMES_SHOWN = 5


def load_hits(path: Path) -> HitFile:
    """Read a file of hit lists. Raises FusionError for anything else."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            header = json.loads(arrays["header"].tobytes().decode())
            if header["format"] != FORMAT:
                raise FusionError(
                    f"{path} has format {header['format']}, this program reads {FORMAT}: make it again"
                )
            raw, ranks, gold = arrays["raw"], arrays["ranks"], arrays["gold"]
            signals, numbers = arrays["signals"], arrays["numbers"]
        hits, start = [], 0
        for place, question in enumerate(header["questions"]):
            rows = slice(start, start + len(question["chunks"]))
            start = rows.stop
            table = Table(
                chunks=tuple(question["chunks"]),
                columns=tuple(header["columns"]),
                raw=raw[rows],
                ranks=ranks[rows],
                source_nodes=({},) * len(question["chunks"]),
                signals={name: signals[rows, column] for column, name in enumerate(header["signals"])},
                question=dict(zip(header["numbers"], numbers[place].tolist(), strict=True)),
            )
            hits.append(
                HitList(
                    question["id"],
                    question["question"],
                    table,
                    gold[rows],
                    int(question["groups"]),
                    tuple(question["pages"]),
                )
            )
        inputs, names = dict(header.get("inputs", {})), bool(header.get("names", False))
        return HitFile(tuple(hits), str(header["embedder"]), inputs, names)
    except FileNotFoundError as error:
        raise FusionError(f"there is no file {path}: expected {_EXPECTED}") from error
    except (OSError, EOFError, ValueError, KeyError, TypeError, IndexError, zipfile.BadZipFile) as error:
        raise FusionError(
            f"{path} does not hold hit lists: expected {_EXPECTED}, got {_what_came(path, error)}"
        ) from error


def _what_came(path: Path, error: Exception) -> str:
    """Describe a file that is not one of hit lists. NumPy's own words are advice that does not fit."""
    if isinstance(error, OSError) and error.strerror is not None:
        return f"one that cannot be read ({error.strerror})"
    if path.stat().st_size == 0:
        return "an empty file"
    if not zipfile.is_zipfile(path):
        return "a file of another format"
    with zipfile.ZipFile(path) as archive:
        names = sorted(name.removesuffix(".npy") for name in archive.namelist())
    if "header" in names:
        return "a damaged one: make it again"
    shown = ", ".join(names[:_NAMES_SHOWN]) + (", ..." if len(names) > _NAMES_SHOWN else "")
    return f"an archive of {shown or 'nothing'}"
