"""Compares stored vectors with newly computed ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from trivium.common.iteration import batched
from trivium.common.progress import Progress
from trivium.embedding.base import Embedder
from trivium.embedding.late import LateEmbedder
from trivium.embedding.plain import PlainEmbedder, embedded_headings
from trivium.graph.findings import Finding, Severity
from trivium.graph.protocols import GraphStore
from trivium.graph.records import Codes, Floats, Passage, Vectors
from trivium.graph.schema import Label, embedding_text, entity_text, headings_of, page_of
from trivium.graph.sentences import sentence_texts
from trivium.index.late import embed_pages

SAMPLE = 50
"""Number of texts to embed in a check of a sample."""
_SENTENCES_OF = 10
"""Number of chunks whose sentences are embedded in a check of a sample."""
LEAST_COSINE = 0.97
"""Minimum cosine. A vector below it belongs to another text or another model. Other processors and GPUs round
differently, which 8-bit quantised models amplify: the lowest cosine of 74,126 texts that a GPU embedded twice, among
other texts, was .985. Of vectors of two texts by chance none had more than .89.
"""
_LEAST_OF_SENTENCES = 0.969
"""Minimum cosine for quantised sentence vectors, which are slightly less precise."""
_SEED = 20_240_607
_AT_ONCE = 128
_PAGES_AT_ONCE = 16
_RELATION = "relation type"

T = TypeVar("T")

OTHER_VECTORS = "vector of another text"
OTHER_SENTENCES = "sentences of another text"


@dataclass
class VectorCheck:
    """What was compared, and the differences."""

    compared: int = 0
    sentences: int = 0
    """Number of chunks whose sentences were compared."""
    texts: dict[str, str] = field(default_factory=dict)
    """Maps texts with wrong vectors to a node that has the text."""
    passages: dict[Passage, str] = field(default_factory=dict)

    def findings(self) -> Iterator[Finding]:
        """Yield one finding per kind of problem."""
        for kind, what, wrong in (
            (OTHER_VECTORS, "vectors do not belong to their texts", self.texts),
            (OTHER_SENTENCES, "vectors of sentences do not belong to their chunks", self.passages),
        ):
            if wrong:
                yield Finding(
                    kind,
                    Severity.DAMAGE,
                    what,
                    tuple(wrong.values()),
                    "a repair embeds them again; with --full every vector is compared",
                    repairable=True,
                    keys=tuple(wrong),
                )


def check_vectors(
    store: GraphStore,
    embedder: Embedder,
    relation_types: Collection[str],
    *,
    without: Collection[str] = (),
    full: bool,
    progress: Progress | None = None,
) -> VectorCheck:
    """Embed all texts, or a fixed sample of them, and compare. Texts without a vector, and pages in ``without``, are
    skipped.
    """
    seen = VectorCheck()
    nodes = [
        (label, uri)
        for label, uri in _nodes(store, relation_types)
        if label == _RELATION or page_of(uri) not in without
    ]
    chunks = [uri for label, uri in nodes if label == Label.CHUNK]
    if not full:
        nodes, chunks = _sample(nodes, SAMPLE), _sample(chunks, _SENTENCES_OF)
    total, types = len(nodes) + len(chunks), store.types()
    for some in batched(nodes, _AT_ONCE):
        _compare(store, embedder, some, types, seen)
        if progress is not None:
            progress(seen.compared, total)
    for some_chunks in batched(chunks, _AT_ONCE):
        _compare_sentences(store, embedder, some_chunks, seen)
        if progress is not None:
            progress(seen.compared + seen.sentences, total)
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


def _sample(items: Sequence[T], count: int) -> list[T]:
    rows = np.random.default_rng(_SEED).permutation(len(items))[:count]
    return [items[row] for row in np.sort(rows)]


def _compare(
    store: GraphStore,
    embedder: Embedder,
    nodes: Sequence[tuple[str, str]],
    types: Mapping[str, str],
    seen: VectorCheck,
) -> None:
    labels = {label for label, _ in nodes}
    for label in sorted(labels):
        uris = [uri for own, uri in nodes if own == label]
        stored = store.relation_vectors(uris) if label == _RELATION else store.vectors(Label(label), uris)
        there = np.flatnonzero(np.isfinite(stored).all(axis=1)) if stored.shape[1] else np.empty(0, dtype=int)
        uris = [uris[row] for row in there]
        texts = _texts(store, label, uris, types)
        again = _anew(store, embedder, uris, texts) if label == Label.CHUNK else None
        cosines = _cosines(stored[there], embedder.embed(texts) if again is None else again)
        for row in np.flatnonzero(~(cosines >= LEAST_COSINE)):
            seen.texts[texts[row]] = uris[row]
        seen.compared += len(uris)


def _anew(
    store: GraphStore, embedder: Embedder, chunks: Sequence[str], texts: Sequence[str]
) -> Vectors | None:
    """Compute the vectors of chunks (n x d) without headings, or in the context of their pages, if the store uses such
    vectors; None if they are the vectors of the ``texts``.
    """
    if isinstance(embedder, PlainEmbedder):
        return embedder.embed([chunk.body for chunk in store.fetch(chunks)])
    if not isinstance(embedder, LateEmbedder):
        return None
    pages = list(dict.fromkeys(map(page_of, chunks)))
    of_text: dict[str, Vectors] = {}
    for some in batched(pages, _PAGES_AT_ONCE):
        for own, vectors in embed_pages(list(store.page_graphs(some)), embedder):
            of_text.update(zip(own, vectors, strict=True))
    return np.array([of_text[text] for text in texts], dtype=np.float32).reshape(len(texts), -1)


def _texts(store: GraphStore, label: str, uris: Sequence[str], types: Mapping[str, str]) -> list[str]:
    if label == Label.CHUNK:
        return [embedding_text(headings_of(chunk.section), chunk.text) for chunk in store.fetch(uris)]
    if label == Label.ENTITY:
        return [entity_text(uri, types.get(uri, "")) for uri in uris]
    return list(uris)


def _compare_sentences(
    store: GraphStore, embedder: Embedder, chunks: Sequence[str], seen: VectorCheck
) -> None:
    stored = store.sentence_vectors(chunks)
    for place, chunk in enumerate(store.fetch(chunks)):
        codes = stored.codes[stored.starts[place] : stored.starts[place + 1]]
        if len(codes) == 0:
            continue  # not embedded yet, or only one sentence
        passage = Passage(tuple(headings_of(chunk.section)), chunk.text)
        texts = sentence_texts(passage, embedded_headings(embedder.identity, passage.headings))
        same = len(texts) == len(codes)
        if not same or not (_cosines(codes, embedder.embed(texts)) >= _LEAST_OF_SENTENCES).all():
            seen.passages[passage] = chunk.uri
    seen.sentences += len(chunks)


def _cosines(stored: Vectors | Codes, again: Vectors) -> Floats:
    """Return row-wise cosines in double precision."""
    a, b = stored.astype(np.float64), again.astype(np.float64)
    lengths = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    cosines: Floats = (a * b).sum(axis=1) / np.where(lengths > 0, lengths, np.nan)
    return cosines
