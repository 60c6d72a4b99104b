"""Controls a sharded build, between the documents and the store."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from trivium.common.files import write_file
from trivium.common.iteration import batched
from trivium.common.progress import Progress, StageProgress
from trivium.embedding.base import Embedder
from trivium.errors import InputError
from trivium.graph.protocols import VectorWriter
from trivium.index.parsing import Loaded
from trivium.index.sharding import DOCUMENTS
from trivium.index.sharding.cluster import ClusterRunner, check_address, connected, is_connected
from trivium.index.sharding.files import read_embedded, read_pages
from trivium.index.sharding.local import LocalRunner
from trivium.index.sharding.shards import PageShard, TextShard, page_shards, text_shard
from trivium.index.sharding.work import Runner, Work, parsed_file
from trivium.parser.sources.base import Item
from trivium.parser.sources.discover import SHARDS_FILE

_TEXTS = 1_000
"""Texts per shard and per transaction."""
_PASSAGES = 200
_FEW = 200
"""So few texts are not worth a shard: this process embeds them."""
_MARK = """Shards of `trivium build`: documents that are parsed and embedded already. This folder may be deleted when no
build goes on; what is in it is then done again if it is needed.
"""


@dataclass(frozen=True, slots=True)
class ShardPlan:
    """How to build in shards: with files in ``folder``, on the Ray cluster at the address ``ray`` (``auto``,
    ``local``, ``HOST:PORT``; None: in this process), with ``documents`` documents per shard.
    """

    folder: str | Path
    ray: str | None = None
    documents: int = DOCUMENTS

    def check(self) -> None:
        """Raise InputError and ConfigurationError for invalid values."""
        if self.documents < 1:
            raise InputError(f"expected shards of at least one document, got {self.documents}")
        if self.ray is not None:
            check_address(self.ray)


class ShardedBuild:
    """Yields the parsed documents, and later passes their vectors to the store."""

    def __init__(self, work: Work, runner: Runner, documents: int, few: int) -> None:
        """Up to ``few`` texts at the end are left to the calling process."""
        self._work = work
        self._runner = runner
        self._documents = documents
        self._few = few
        self._parsed: list[str] = []  # keys of the completed shards

    def outcomes(self, items: Iterable[Item]) -> Generator[Loaded, None, None]:
        """Yield results in the order of the items, like :func:`trivium.index.parsing.parse_in_pool`."""
        for shard in self._runner.parse(self._fresh(items)):
            self._parsed.append(shard.key)
            yield from read_pages(parsed_file(self._work, shard.key))

    def embed(self, store: VectorWriter, sentences: bool, progress: Callable[[str], Progress]) -> None:
        """Store the vectors of the shards. Texts still without one are embedded in shards, too, unless there are few.
        ``progress`` returns the callback of a stage.
        """
        self._runner.finish()
        texts = store.pending_texts()
        passages = store.pending_sentences() if sentences else None
        if not texts and not passages:
            return
        tell = progress("shards")
        for done, key in enumerate(self._parsed, start=1):
            self._put(key, store)
            tell(done, len(self._parsed))
        texts = store.pending_texts()
        if len(texts) > self._few:
            shards = (text_shard(self._work.embedded_by, some) for some in batched(texts, _TEXTS))
            self._embed(shards, store, progress("embed"), len(texts))
        passages = store.pending_sentences() if sentences else None
        if passages is not None and len(passages) > self._few:
            of_passages = (
                text_shard(self._work.embedded_by, (), some) for some in batched(passages, _PASSAGES)
            )
            self._embed(of_passages, store, progress("sentences"), len(passages))

    def _fresh(self, items: Iterable[Item]) -> Iterator[PageShard]:
        for shard in page_shards(items, self._documents, self._work.parsed_by):
            self._work.shards.forget_faulty(shard.key)
            yield shard

    def _embed(
        self, shards: Iterable[TextShard], store: VectorWriter, progress: Progress, total: int
    ) -> None:
        done = 0
        for shard in self._runner.embed(shards):
            self._put(shard.key, store)
            # The store has them now and never needs the file again.
            self._work.shards.vectors(shard.key, self._work.embedded_by).unlink(missing_ok=True)
            done += len(shard.texts) + len(shard.passages)
            progress(done, total)

    def _put(self, key: str, store: VectorWriter) -> None:
        """Store the vectors of a shard. Texts that the store does not contain are skipped."""
        embedded = read_embedded(self._work.shards.vectors(key, self._work.embedded_by))
        for begin in range(0, len(embedded.texts), _TEXTS):
            store.put_vectors(
                embedded.texts[begin : begin + _TEXTS], embedded.vectors[begin : begin + _TEXTS]
            )
        for begin in range(0, len(embedded.passages), _TEXTS):
            store.put_sentences(
                embedded.passages[begin : begin + _TEXTS], embedded.codes[begin : begin + _TEXTS]
            )


def few_texts(plan: ShardPlan, embedder: Embedder | None) -> int:
    """Return how many texts the calling process embeds itself rather than making a shard of them. On a cluster with
    GPUs none, since the machine of that process may have no GPU.
    """
    return 0 if plan.ray is not None and gpus_of(embedder) else _FEW


def gpus_of(embedder: Embedder | None) -> float:
    """Return the share of a GPU that an embedding task needs."""
    return float(getattr(embedder, "gpus", 0.0))


@contextmanager
def sharded(
    plan: ShardPlan,
    work: Work,
    embedder: Embedder | None,
    workers: int,
    progress: StageProgress | None,
) -> Iterator[ShardedBuild]:
    """Run a sharded build. ``embedder`` is the opened one of ``work``. Raises InputError if the folder cannot be
    written, MissingExtraError, and ConfigurationError if the cluster is unavailable.
    """
    mark = work.folder / SHARDS_FILE
    if not mark.exists():
        write_file(mark, _MARK)

    def tell(done: int, total: int) -> None:
        if progress is not None:
            progress("shards", done, total)

    with ExitStack() as stack:
        runner: Runner
        if plan.ray is None:
            runner = LocalRunner(work, embedder, workers, tell)
        else:
            runner = stack.enter_context(_on_cluster(plan.ray, work, gpus_of(embedder), tell))
        yield ShardedBuild(work, runner, plan.documents, few_texts(plan, embedder))
        work.shards.tidy()


@contextmanager
def _on_cluster(address: str, work: Work, gpus: float, progress: Progress) -> Iterator[ClusterRunner]:
    """Process shards on a cluster, all nodes of which see the folder of ``work``."""
    with ExitStack() as stack:
        outlives = is_connected()
        ray = stack.enter_context(connected(address))
        seen = work.folder / f"{secrets.token_hex(8)}.seen"
        write_file(seen, f"{os.getpid()}\n")
        stack.callback(seen.unlink, missing_ok=True)
        cluster = ClusterRunner(ray, work, seen, gpus, progress)
        if outlives:
            stack.callback(cluster.close)
        yield cluster
