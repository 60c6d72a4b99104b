"""The operations of a graph store, as one protocol per kind of caller. None of them exposes SQL or Cypher.

=====================  ===============================================================================
:class:`GraphReader`   traverses the graph and returns chunks
:class:`VectorReader`  compares vectors with those of the store
:class:`TextSearch`    searches and counts words
:class:`SearchStore`   all three: everything a question needs
:class:`PageReader`    lists, copies and counts whole pages
:class:`GraphWriter`   loads and removes pages, relations, types
:class:`VectorWriter`  lists texts without vectors, and stores vectors
:class:`PictureWriter` the same for vectors of pictures
:class:`StoreChecker`  finds damage and repairs what can be repaired
:class:`GraphStore`    everything, with opening and closing
=====================  ===============================================================================

Functions should require the narrowest protocol that suffices.

Nodes are identified by their uris alone. Scores are cosines in [-1, 1]. Every list has a fixed order: by descending score
rounded to 6 significant digits (:func:`~trivium.graph.records.rank_key`), then by uri, so that rounding errors
never decide a ranking. Each read is one round trip for a remote store.
"""

from __future__ import annotations

from trivium.graph.protocols.search import GraphReader, LooksAhead, SearchStore, TextSearch, VectorReader
from trivium.graph.protocols.store import (
    GraphStore,
    GraphWriter,
    PageReader,
    PictureWriter,
    StoreChecker,
    VectorWriter,
)

__all__ = [
    "GraphReader",
    "GraphStore",
    "GraphWriter",
    "LooksAhead",
    "PageReader",
    "PictureWriter",
    "SearchStore",
    "StoreChecker",
    "TextSearch",
    "VectorReader",
    "VectorWriter",
]
