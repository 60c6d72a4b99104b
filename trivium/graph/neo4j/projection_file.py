"""A projection of the graph as a file of this machine, so that the next process need not ask for it again.

The files are a cache: they may be deleted at any time, and one that cannot be read or written is done without.
"""

from __future__ import annotations

import logging
import os
import uuid
import zipfile
from itertools import pairwise
from pathlib import Path

import numpy as np

from trivium.common.files import replacing
from trivium.common.ragged import own_chunk_ranges
from trivium.graph.arrays import Arrays, load_arrays
from trivium.graph.neo4j.memory import Standing
from trivium.graph.schema import page_of
from trivium.graph.store import Adjacency
from trivium.graph.string_table import pack_strings
from trivium.settings import load_settings

FOLDER = "projections"
KEPT = 4
"""Files kept, those used last."""
WORTH_KEEPING = 5_000
"""Chunks below which the database answers as fast as a disk."""

_log = logging.getLogger(__name__)


def load(standing: Standing) -> Adjacency | None:
    """The projection of a store as it stands, where there is a file of it."""
    path = _path(standing)
    if path is None or not path.exists():
        return None
    try:
        arrays = load_arrays(path.parent, path.stem)
        os.utime(path)
        return _adjacency(arrays)
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        _log.warning("the projection kept in %s is not used: %s", path, error)
        return None


def save(standing: Standing, adjacency: Adjacency) -> None:
    """Keep a projection. The oldest files make way."""
    path = _path(standing)
    if path is None or len(adjacency.chunks) < WORTH_KEEPING:
        return
    arrays = {
        **pack_strings("chunks", adjacency.chunks),
        **pack_strings("entities", adjacency.entities),
        "indptr": adjacency.indptr,
        "indices": adjacency.indices,
    }
    try:
        with replacing(path) as file:
            # numpy's stub takes the arrays for its own flag
            np.savez(file, **arrays)  # type: ignore[arg-type]
        by_use = sorted(path.parent.glob("*.npz"), key=lambda file: file.stat().st_mtime, reverse=True)
        for old in by_use[KEPT:]:
            old.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("the projection is not kept in %s: %s", path, error)


def _path(standing: Standing) -> Path | None:
    """Where the projection of a store as it stands is kept; None where nothing tells it from another."""
    try:
        identity = uuid.UUID(standing.uuid)
    except (TypeError, ValueError, AttributeError):
        return None
    return load_settings().home / FOLDER / f"{identity}.npz"


def _adjacency(arrays: Arrays) -> Adjacency:
    """Raises ValueError for arrays that do not fit together."""
    chunks, entities = _unpack(arrays, "chunks"), _unpack(arrays, "entities")
    indptr, indices = arrays["indptr"], arrays["indices"]
    if len(indptr) != len(chunks) + len(entities) + 1 or indptr[-1] != len(indices):
        raise ValueError("its arrays are of different lengths")
    entity_rows = {uri: row for row, uri in enumerate(entities)}
    own_page = np.array([entity_rows.get(page_of(uri), -1) for uri in chunks], dtype=np.int64)
    return Adjacency(
        chunks=chunks,
        entities=entities,
        indptr=indptr.astype(np.int64, copy=False),
        indices=indices.astype(np.int32, copy=False),
        own_chunks=own_chunk_ranges(own_page, len(entities)),
        chunk_rows={uri: row for row, uri in enumerate(chunks)},
        entity_rows=entity_rows,
    )


def _unpack(arrays: Arrays, name: str) -> list[str]:
    """What :func:`~trivium.graph.string_table.pack_strings` made arrays of."""
    blob = arrays[f"{name}.uris"].tobytes()
    return [blob[start:end].decode() for start, end in pairwise(arrays[f"{name}.offsets"].tolist())]
