"""Processes shards one after another, in this process and its parsers."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing

from trivium.common.progress import Progress
from trivium.embedding.base import Embedder
from trivium.index.parsing import ParserPool
from trivium.index.sharding.processes import PartPool
from trivium.index.sharding.shards import TextShard
from trivium.index.sharding.stores import PartType
from trivium.index.sharding.work import Documents, Work, embed_shard, parse_shard


class LocalRunner:
    """Processes shards locally. ``progress`` is called with the number of completed shards."""

    def __init__(
        self, work: Work, embedder: Embedder | None, workers: int, progress: Progress | None = None
    ) -> None:
        self._work = work
        self._embedder = embedder
        self._workers = workers
        self._progress = progress
        self._stores = PartPool(work, workers)

    def parse(self, shards: Iterable[Documents]) -> Iterator[Documents]:
        with closing(ParserPool(self._workers, self._work.limits, self._work.chunker)) as pool:
            for done, shard in enumerate(shards, start=1):
                parse_shard(self._work, shard, pool)
                if self._embedder is not None:
                    embed_shard(self._work, shard, self._embedder)
                if self._progress is not None:
                    self._progress(done, done)
                yield shard

    def finish(self) -> None:
        """Do nothing: every shard is complete when it is yielded."""

    def embed(self, shards: Iterable[TextShard]) -> Iterator[TextShard]:
        assert self._embedder is not None
        for shard in shards:
            embed_shard(self._work, shard, self._embedder)
            yield shard

    def fill(self, parts: Iterable[PartType], step: str) -> Generator[PartType, None, None]:
        if self._workers > 1:
            yield from self._stores.fill(parts, step)
            return
        for part in parts:
            for _ in part.fill(self._work, step):
                pass
            yield part

    def close(self) -> None:
        """End the processes that fill stores."""
        self._stores.close()
