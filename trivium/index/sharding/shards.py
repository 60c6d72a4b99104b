"""What a shard is, and what it is called: by what it is made of, so that the same documents are never done twice."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
from pathlib import Path

from trivium.graph.records import Passage
from trivium.parser.sources.base import Item

_MAX_BYTES = 64 << 20
"""Of files in a shard, from which on no further document is put into it."""
_DIGEST = 16

Stat = tuple[int, int] | None
"""Size in bytes and time of the last change in nanoseconds; None for what is no file."""


@dataclass(frozen=True, slots=True)
class PageShard:
    """Documents that follow one another in the sources."""

    key: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class TextShard:
    """Texts of the store that no page shard has embedded (names of entities, pages under another title), and passages
    whose sentences none has."""

    key: str
    texts: tuple[str, ...]
    passages: tuple[Passage, ...] = ()


def page_shards(items: Iterable[Item], size: int, made_by: str) -> Iterator[PageShard]:
    """Items in shards of ``size``, or of fewer where these are large. ``made_by`` names what else the pages hang on; it
    is part of the keys, as are size and time of change of the files. Each item is taken when its turn comes."""
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
        if item.location != last[0]:  # rows of a file follow one another
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
    """A shard of texts; ``made_by`` names what embeds them."""
    said = [made_by, texts, [[passage.headings, passage.text] for passage in passages]]
    return TextShard(digest(said), tuple(texts), tuple(passages))


def stat_of(item: Item) -> Stat:
    """Size and time of change of an item's file."""
    try:
        found = Path(item.location).stat()
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns


def digest(content: object) -> str:
    """A name for what JSON can say."""
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return blake2b(data.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).hexdigest()


def _values(item: Item) -> list[object]:
    values = (getattr(item, field.name) for field in fields(item))
    return [
        blake2b(value, digest_size=_DIGEST).hexdigest() if isinstance(value, bytes) else value
        for value in values
    ]


def _size(item: Item, stat: Stat) -> int:
    """About how many bytes a document has."""
    if item.content is not None:
        return len(item.content)
    if item.length is not None:
        return item.length
    return 0 if stat is None or item.entry is not None else stat[0]
