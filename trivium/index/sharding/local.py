"""Processes shards one after another, in this process and its parsers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing

from trivium.common.progress import Progress
from trivium.embedding.base import Embedder
from trivium.index.parsing import ParserPool
from trivium.index.sharding.shards import PageShard, TextShard
from trivium.index.sharding.work import Work, embed_shard, parse_shard


class LocalRunner:
    """Processes shards locally. ``progress`` is called with the number of completed shards."""

    def __init__(
        self, work: Work, embedder: Embedder | None, workers: int, progress: Progress | None = None
    ) -> None:
        self._work = work
        self._embedder = embedder
        self._workers = workers
        self._progress = progress

    def parse(self, shards: Iterable[PageShard]) -> Iterator[PageShard]:
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
