"""Pages without their contents: what has to be known of every document to decide about names, copies and links. The
decisions are made by the code of a plain load, which sees outlines in place of pages.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any

from trivium.common.files import replacing
from trivium.graph.model import ChunkNode, PageGraph
from trivium.index.graph_messages import Joined, parts_of
from trivium.index.languages import Localiser, likely_language
from trivium.index.parsing import Loaded
from trivium.index.sharding.files import COMPRESSION, read_loaded, write_loaded
from trivium.languages import detect_language

_OUTLINE = "outline"


@dataclass(frozen=True, slots=True)
class Outline(PageGraph):
    """A page whose ``text`` is a digest of it (empty if it is), with no sections, and of its chunks those that refer to
    other files, without their texts.

    ``passages`` is the number of all chunks, ``reads`` and ``seems`` the languages detected from its text and from the
    beginning, ``language`` the one that it gets. ``shard`` and ``number`` say where the page is.
    """

    passages: int = 0
    reads: str | None = None
    seems: str | None = None
    language: str = ""
    shard: int = 0
    number: int = 0


def outline_of(graph: PageGraph) -> Outline:
    """Return the outline of a page."""
    kept = {field.name: getattr(graph, field.name) for field in fields(PageGraph)}
    text = blake2b(graph.text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    kept |= {
        "text": text if graph.has_body else "",
        "sections": (),
        "chunks": tuple(_outlined(chunk) for chunk in graph.chunks if chunk.references),
        "relations": (),
    }
    return Outline(
        **kept,
        passages=len(graph.chunks),
        reads=detect_language(graph.text),
        seems=likely_language(graph),
    )


def _outlined(chunk: ChunkNode) -> ChunkNode:
    return replace(chunk, text="", cites=(), terms="", heading_terms="", thumbnail=b"")


class OutlineLocaliser(Localiser):
    """Decides on the language of each page. Terms are left to whoever has its text."""

    def localise(self, graph: PageGraph) -> PageGraph:
        assert isinstance(graph, Outline)
        return replace(graph, language=self._language(graph))

    def _reads(self, graph: PageGraph) -> str | None:
        assert isinstance(graph, Outline)
        return graph.reads

    def _seems(self, graph: PageGraph) -> str | None:
        assert isinstance(graph, Outline)
        return graph.seems


def write_outlines(path: Path, outcomes: Iterable[Loaded]) -> None:
    """Write the outlines of a shard's pages, in their order."""
    with (
        replacing(path) as target,
        gzip.GzipFile(fileobj=target, mode="wb", compresslevel=COMPRESSION) as file,
    ):
        write_loaded(file, outcomes, _messages_of)


def _messages_of(graph: PageGraph) -> Iterator[object]:
    outline = outline_of(graph)
    yield [_OUTLINE, [outline.passages, outline.reads, outline.seems]]
    yield from parts_of(outline)


def read_outlines(path: Path, shard: int) -> Iterator[Loaded]:
    """Read a file written by :func:`write_outlines`, one document at a time; ``shard`` is its number. Raises InputError
    for a damaged file.
    """
    joined = Joined()
    known: tuple[int, str | None, str | None] = (0, None, None)
    numbers = count()

    def add(kind: str, content: Any) -> Outline | None:
        nonlocal known
        if kind == _OUTLINE:
            known = tuple(content)
            return None
        graph = joined.add(kind, content)
        if graph is None:
            return None
        kept = {field.name: getattr(graph, field.name) for field in fields(PageGraph)}
        passages, reads, seems = known
        return Outline(**kept, passages=passages, reads=reads, seems=seems, shard=shard, number=next(numbers))

    return read_loaded(path, add)
