"""Compares stored vectors with newly computed ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from trivium.common.iteration import batched
from trivium.common.progress import Progress
from trivium.embedding.embedder import Embedder
from trivium.embedding.late_chunking import LateEmbedder, PlainEmbedder
from trivium.graph.check_findings import Finding, wrong_vectors
from trivium.graph.protocols import GraphStore
from trivium.graph.records import Floats, Vectors
from trivium.graph.schema import Label, embedding_text, entity_text, headings_as_text, page_of
from trivium.index.embed_missing import embed_pages

SAMPLE = 50
"""Number of texts to embed in a check of a sample."""
LEAST_COSINE = 0.97
"""Minimum cosine. A vector below it belongs to another text or another model. Other processors and GPUs round
differently, which 8-bit quantised models amplify: the lowest cosine of 74,126 texts that a GPU embedded twice, among
other texts, was .985. Of vectors of two texts by chance none had more than .89.
"""
OTHER_VECTORS = "vector of another text"
"""Kind of the findings."""
_SEED = 20_240_607
_AT_ONCE = 128
_PAGES_AT_ONCE = 16
_RELATION = "relation type"


@dataclass
class VectorCheck:
    """How many vectors were compared. ``texts`` maps texts with wrong vectors to a node that has the text."""

    compared: int = 0
    texts: dict[str, str] = field(default_factory=dict)

    def findings(self) -> Iterator[Finding]:
        """Yield a finding if vectors were wrong."""
        if self.texts:
            problem = "vectors do not belong to their texts (--full compares all)"
            yield wrong_vectors(problem, self.texts.values(), list(self.texts), OTHER_VECTORS)


def compare_vectors(
    store: GraphStore,
    embedder: Embedder,
    relation_types: Collection[str],
    *,
    without: Collection[str] = (),
    full: bool,
    progress: Progress | None = None,
) -> VectorCheck:
    """Embed all texts, or a fixed sample of them, and compare. Texts without a vector, and pages in ``without``, are
    skipped. Raises EmbeddingError.
    """
    seen = VectorCheck()
    nodes = [
        (label, uri)
        for label, uri in _nodes(store, relation_types)
        if label == _RELATION or page_of(uri) not in without
    ]
    if not full:
        rows = np.random.default_rng(_SEED).permutation(len(nodes))[:SAMPLE]
        nodes = [nodes[row] for row in np.sort(rows)]
    types = store.types()
    for some in batched(nodes, _AT_ONCE):
        for label in sorted({label for label, _ in some}):
            _compare(store, embedder, label, [uri for own, uri in some if own == label], types, seen)
        if progress is not None:
            progress(seen.compared, len(nodes))
    return seen


def _nodes(store: GraphStore, relation_types: Collection[str]) -> list[tuple[str, str]]:
    """Return everything that is embedded, as (label, uri)."""
    graph = store.adjacency()
    pages = [page.uri for page in store.pages()]
    sections = [
        uri for some in batched(pages, _AT_ONCE) for own in store.outline(some).values() for uri in own
    ]
    return [
        *((str(Label.CHUNK), uri) for uri in graph.chunks),
        *((str(Label.ENTITY), uri) for uri in graph.entities),
        *((str(Label.SUBCHAPTER), uri) for uri in sections),
        *((_RELATION, kind) for kind in sorted(relation_types)),
    ]


def _compare(
    store: GraphStore,
    embedder: Embedder,
    label: str,
    uris: Sequence[str],
    types: Mapping[str, str],
    seen: VectorCheck,
) -> None:
    stored = store.relation_vectors(uris) if label == _RELATION else store.vectors(Label(label), uris)
    there = np.flatnonzero(np.isfinite(stored).all(axis=1)) if stored.shape[1] else np.empty(0, dtype=int)
    uris = [uris[row] for row in there.tolist()]
    texts = _texts(store, label, uris, types)
    again = _embed_chunks(store, embedder, uris, texts) if label == Label.CHUNK else embedder.embed(texts)
    for uri, text, cosine in zip(uris, texts, _cosines(stored[there], again), strict=True):
        if not cosine >= LEAST_COSINE:
            seen.texts[text] = uri
    seen.compared += len(uris)


def _texts(store: GraphStore, label: str, uris: Sequence[str], types: Mapping[str, str]) -> list[str]:
    if label == Label.CHUNK:
        return [embedding_text(headings_as_text(chunk.section), chunk.text) for chunk in store.fetch(uris)]
    if label == Label.ENTITY:
        return [entity_text(uri, types.get(uri, "")) for uri in uris]
    return list(uris)


def _embed_chunks(
    store: GraphStore, embedder: Embedder, chunks: Sequence[str], texts: Sequence[str]
) -> Vectors:
    """Embed chunks (n x d) as the store does: under their headings, without them, or in the context of their pages."""
    if isinstance(embedder, PlainEmbedder):
        return embedder.embed([chunk.body for chunk in store.fetch(chunks)])
    if not isinstance(embedder, LateEmbedder):
        return embedder.embed(texts)
    of_text: dict[str, Vectors] = {}
    for some in batched(dict.fromkeys(map(page_of, chunks)), _PAGES_AT_ONCE):
        for own, vectors in embed_pages(list(store.page_graphs(some)), embedder):
            of_text.update(zip(own, vectors, strict=True))
    return np.array([of_text[text] for text in texts], dtype=np.float32).reshape(len(texts), -1)


def _cosines(stored: Vectors, again: Vectors) -> Floats:
    """Return row-wise cosines in double precision."""
    a, b = stored.astype(np.float64), again.astype(np.float64)
    lengths = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    cosines: Floats = (a * b).sum(axis=1) / np.where(lengths > 0, lengths, np.nan)
    return cosines
