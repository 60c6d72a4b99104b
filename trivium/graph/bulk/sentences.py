"""Vectors of the sentences of chunks, as the property that a chunk has in the database."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from trivium.graph.model import ChunkNode, PageGraph
from trivium.graph.neo4j.codes import encoded
from trivium.graph.protocols import GraphStore
from trivium.graph.schema import embedding_text, headings_of
from trivium.graph.vectors import text_hash


class Sentences:
    """Those of one store, which has an embedder."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        # By their hashes: of a store without any, the passages themselves are most of what it holds.
        self._pending = {text_hash(embedding_text(p.headings, p.text)) for p in store.pending_sentences()}

    def of_chunks(self, pages: Sequence[PageGraph]) -> dict[str, str]:
        """uri -> property, of the chunks of pages; those of which nothing is known are left out."""
        known = [chunk.uri for page in pages for chunk in page.chunks if not self._waits(chunk)]
        found = self._store.sentence_vectors(known)
        return {
            uri: encoded(found.codes[start:end])
            for uri, (start, end) in zip(known, pairwise(found.starts.tolist()), strict=True)
        }

    def _waits(self, chunk: ChunkNode) -> bool:
        return text_hash(embedding_text(headings_of(chunk.parent), chunk.text)) in self._pending
