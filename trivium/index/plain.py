"""Fills a store whose chunks are embedded without their headings.

A store identifies vectors by text, and the text of a chunk includes its headings. Chunks are therefore embedded page
by page, and the vector of the text without headings is stored under the text with headings.
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
    """Embed the chunks without a vector and return the number of texts. An interrupt loses at most the current
    chunks. ``progress`` counts all pending texts, of which chunks are a part.
    """
    pending = store.pending_texts()
    waiting = Waiting(pending)
    total, done = len(pending), 0
    for some in batched(_chunks(store, waiting), _CHUNKS_AT_ONCE):
        # Embed repeated texts once.
        known = list(dict.fromkeys(text for _, text in some))
        vectors = dict(zip(known, embedder.embed(known), strict=True))
        store.put_vectors([key for key, _ in some], np.stack([vectors[text] for _, text in some]))
        done += len(some)
        if progress is not None:
            progress(done, total)
    return done


def _chunks(store: GraphStore, waiting: Waiting) -> Iterator[tuple[str, str]]:
    """Iterate over the texts that need a vector, each with the part of it that is embedded."""
    for pages in batched((page.uri for page in each_page(store)), _PAGES_AT_ONCE):
        if not waiting:
            return
        for graph in store.page_graphs(pages):
            texts = dict(zip(chunk_texts(graph), (chunk.body for chunk in graph.chunks), strict=True))
            keys = list(texts)
            wanted = [keys[row] for row in waiting.among(keys)]
            waiting.remove(wanted)
            yield from ((key, texts[key]) for key in wanted)
