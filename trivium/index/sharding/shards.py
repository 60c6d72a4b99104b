"""Shards and their keys, which are derived from their content, so that the same documents are never processed twice."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
from pathlib import Path

from trivium.graph.records import Passage
from trivium.parser.sources.base import Item

_MAX_BYTES = 64 << 20
"""Total size of files from which no more documents are added to a shard."""
_DIGEST = 16

Stat = tuple[int, int] | None
"""Size in bytes and modification time in nanoseconds; None if it is not a file."""


@dataclass(frozen=True, slots=True)
class PageShard:
    """Consecutive documents of the sources."""

    key: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class TextShard:
    """Texts of the store that no page shard has embedded (names of entities, retitled pages), and passages whose
    sentences none has.
    """

    key: str
    texts: tuple[str, ...]
    passages: tuple[Passage, ...] = ()


def page_shards(items: Iterable[Item], size: int, made_by: str) -> Iterator[PageShard]:
    """Group items into shards of ``size``, or fewer if they are large. ``made_by`` identifies what else the pages
    depend on; it is part of the keys, as are size and modification time of the files. Items are consumed lazily.
    """
    own: list[Item] = []
    said: list[object] = []
    total = 0
    last: tuple[str, Stat] = ("", None)

    def shard() -> PageShard:
        made = PageShard(digest([made_by, *said]), tuple(own))
        own.clear()
        said.clear()
        return made

    for item in items:
        if item.location != last[0]:  # the rows of a file are consecutive
            last = (item.location, stat_of(item))
        own.append(item)
        said.append([*_values(item), last[1]])
        total += _size(item, last[1])
        if len(own) >= size or total >= _MAX_BYTES:
            total = 0
            yield shard()
    if own:
        yield shard()


def text_shard(made_by: str, texts: Sequence[str], passages: Sequence[Passage] = ()) -> TextShard:
    """Create a shard of texts. ``made_by`` identifies the embedder."""
    said = [made_by, texts, [[passage.headings, passage.text] for passage in passages]]
    return TextShard(digest(said), tuple(texts), tuple(passages))


def stat_of(item: Item) -> Stat:
    """Return size and modification time of an item's file."""
    try:
        found = Path(item.location).stat()
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns


def digest(content: object) -> str:
    """Return a digest of a JSON-serialisable value."""
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return blake2b(data.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).hexdigest()


def _values(item: Item) -> list[object]:
    values = (getattr(item, field.name) for field in fields(item))
    return [
        blake2b(value, digest_size=_DIGEST).hexdigest() if isinstance(value, bytes) else value
        for value in values
    ]


def _size(item: Item, stat: Stat) -> int:
    """Return the approximate size of a document in bytes."""
    if item.content is not None:
        return len(item.content)
    if item.length is not None:
        return item.length
    return 0 if stat is None or item.entry is not None else stat[0]
