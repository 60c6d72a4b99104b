"""The documents of a store in several, with everything that the store knows of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from tests.contract.graphs import IDENTITY, codes, unit
from tests.fakes.memory_store import MemoryStore
from trivium.graph.protocols import GraphStore
from trivium.graph.sharded.manifest import Manifest
from trivium.graph.sharded.store import ShardedStore


def joined(*shards: GraphStore) -> ShardedStore:
    """Stores as one."""
    return ShardedStore(Manifest(Path("joined"), tuple(map(str, range(len(shards))))), shards)  # type: ignore[arg-type]


def shared_out(plain: MemoryStore, homes: Iterable[int], number: int) -> ShardedStore:
    """The pages of a store in ``number`` others, the first of ``homes`` being where the first page goes. Vectors are
    those of :mod:`tests.contract.graphs`.
    """
    shards = [MemoryStore() for _ in range(number)]
    for page, home in zip(plain.page_graphs(), homes, strict=False):
        shards[home].write([page])
        shards[home].put_questions({page.uri: page.questions})
    for shard in shards:  # not through the whole: a shard may have the title of a page elsewhere as an alias
        shard.set_types(
            {uri: kind for uri, kind in plain.types().items() if shard.resolve([uri]).get(uri) == uri}
        )
    whole = joined(*shards)
    whole.set_embedder(IDENTITY)
    texts = sorted({*whole.pending_texts()} - {*plain.pending_texts()})
    whole.put_vectors(texts, np.stack([unit(text) for text in texts]))
    waiting = {*plain.pending_sentences()}
    passages = [passage for passage in whole.pending_sentences() if passage not in waiting]
    whole.put_sentences(passages, [codes(passage.text) for passage in passages])
    return whole
