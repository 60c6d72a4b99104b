"""Filling a store whose chunks are embedded without their headings.

The text of a chunk that a store keeps a vector by has the headings in it. So chunks are embedded page by page, and each
vector, that of the chunk's text alone, is put under the text with its headings.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from trivium.common.iteration import batched
from trivium.common.progress import Progress
from trivium.embedding.plain import PlainEmbedder
from trivium.graph.protocols import GraphStore
from trivium.index.late import chunk_texts
from trivium.index.listing import each_page
from trivium.index.waiting import Waiting

_PAGES_AT_ONCE = 16
_CHUNKS_AT_ONCE = 128


def fill_plain(store: GraphStore, embedder: PlainEmbedder, progress: Progress | None = None) -> int:
    """Embed the chunks that have no vector yet; returns how many texts. An interrupt loses at most the chunks under way.
    ``progress`` counts all texts that wait, of which chunks are a part."""
    pending = store.pending_texts()
    waiting = Waiting(pending)
    total, done = len(pending), 0
    for some in batched(_chunks(store, waiting), _CHUNKS_AT_ONCE):
        # A text that comes again has the same vector.
        known = list(dict.fromkeys(text for _, text in some))
        vectors = dict(zip(known, embedder.embed(known), strict=True))
        store.put_vectors([key for key, _ in some], np.stack([vectors[text] for _, text in some]))
        done += len(some)
        if progress is not None:
            progress(done, total)
    return done


def _chunks(store: GraphStore, waiting: Waiting) -> Iterator[tuple[str, str]]:
    """Each text that waits for a vector, and what of it is embedded."""
    for pages in batched((page.uri for page in each_page(store)), _PAGES_AT_ONCE):
        if not waiting:
            return
        for graph in store.page_graphs(pages):
            texts = dict(zip(chunk_texts(graph), (chunk.text for chunk in graph.chunks), strict=True))
            keys = list(texts)
            wanted = [keys[row] for row in waiting.among(keys)]
            waiting.remove(wanted)
            yield from ((key, texts[key]) for key in wanted)
