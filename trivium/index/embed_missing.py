"""Embeds what a store has no vectors for: texts, sentences and pictures.

Vectors are stored by text, and the text of a chunk includes the title and headings. Two kinds of stores embed something
else under that text, and therefore page by page: with late chunking a chunk in the context of its page, and without
headings the chunk alone. With late chunking, only a passage that is repeated verbatim within a section has one vector for
several places, that of the first; when a page changes, the vectors of its chunks are removed before it is written,
because their context has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trivium.common.iteration import batched
from trivium.common.progress import Progress
from trivium.embedding.embed_in_slices import fill, fill_parts
from trivium.embedding.embedder import Embedder, Vectors
from trivium.embedding.late_chunking import LateEmbedder, PlainEmbedder, WholeText, embedded_headings
from trivium.graph.page_facts import each_page
from trivium.graph.page_graph import PageGraph
from trivium.graph.protocols import GraphStore
from trivium.graph.records import Passage
from trivium.graph.schema import embedding_text, headings_as_text, unescape
from trivium.graph.stored_vectors import sentence_texts, text_hash

if TYPE_CHECKING:
    from trivium.embedding.image_embedders import ImageEmbedder

_PAGES_AT_ONCE = 16
_CHUNKS_AT_ONCE = 128
_PICTURES_AT_ONCE = 32


def fill_texts(store: GraphStore, opened: Callable[[], Embedder], progress: Progress | None = None) -> int:
    """Embed every text without a vector and return their number. ``opened`` returns the embedder, and is called where
    there is something to embed. An interrupt loses at most the current texts.
    """
    pending = store.pending_texts()
    if not pending:
        return 0
    embedder = opened()
    store.set_embedder(embedder.identity)
    chunks = 0
    if isinstance(embedder, LateEmbedder):
        chunks = fill_late(store, embedder, progress)
    elif isinstance(embedder, PlainEmbedder):
        chunks = fill_plain(store, embedder, progress)
    texts = store.pending_texts() if chunks else pending
    return chunks + fill(texts, embedder, store.put_vectors, progress, total=len(texts))


def fill_sentences(
    store: GraphStore, opened: Callable[[], Embedder], progress: Progress | None = None
) -> int:
    """Embed the sentences of chunks where that has not been done, and return their number. ``progress`` counts chunks."""
    passages = store.pending_sentences()
    if not passages:
        return 0
    embedder = opened()
    store.set_embedder(embedder.identity)

    def parts(passage: Passage) -> list[str]:
        return sentence_texts(passage, embedded_headings(embedder.identity, passage.headings))

    return fill_parts(passages, parts, embedder, store.put_sentences, progress, total=len(passages))


def fill_pictures(store: GraphStore, embedder: ImageEmbedder, progress: Progress | None = None) -> int:
    """Embed every picture without a vector, from its thumbnail, and return their number. Each slice is saved before the
    next one starts. Raises EmbedderMismatchError if the store has picture vectors of another image embedder.
    """
    from trivium.parser.open_pictures import decoded, open_picture

    store.set_image_embedder(embedder.identity)
    pending = store.pending_pictures()
    done = 0
    for part in batched(pending, _PICTURES_AT_ONCE):
        thumbnails = store.thumbnails(part)
        vectors = embedder.embed_images([decoded(open_picture(data)) for data in thumbnails.values()])
        store.put_picture_vectors(thumbnails, vectors)
        done += len(part)
        if progress is not None:
            progress(done, len(pending))
    return done


def fill_late(store: GraphStore, embedder: LateEmbedder, progress: Progress | None = None) -> int:
    """Embed the chunks without a vector and return the number of texts. An interrupt loses at most the current pages.
    ``progress`` counts all pending texts, of which chunks are a part.
    """
    pending = store.pending_texts()
    waiting = Waiting(pending)
    total, done = len(pending), 0
    for pages in batched((page.uri for page in each_page(store)), _PAGES_AT_ONCE):
        if not waiting:
            break
        graphs = [graph for graph in store.page_graphs(pages) if waiting.among(list(chunk_texts(graph)))]
        for texts, vectors in embed_pages(graphs, embedder):
            rows = waiting.among(texts)
            store.put_vectors([texts[row] for row in rows], vectors[rows])
            waiting.remove([texts[row] for row in rows])
            done += len(rows)
            if progress is not None:
                progress(done, total)
    return done


def embed_pages(graphs: Sequence[PageGraph], embedder: LateEmbedder) -> Iterator[tuple[list[str], Vectors]]:
    """Iterate over the distinct chunk texts of each page with their vectors."""
    places = [_first_places(graph) for graph in graphs]
    documents = [
        WholeText(unescape(graph.uri), graph.text, tuple(own.values()))
        for graph, own in zip(graphs, places, strict=True)
    ]
    for own, vectors in zip(places, embedder.embed_spans(documents), strict=True):
        yield list(own), vectors


def chunk_texts(graph: PageGraph) -> Iterator[str]:
    """Iterate over the embedded text of each chunk of a page."""
    return (embedding_text(headings_as_text(chunk.parent), chunk.text) for chunk in graph.chunks)


def forget_context(store: GraphStore) -> Callable[[Iterable[PageGraph]], None]:
    """Return a function to call with pages before they are written, which removes the vectors of the chunks of
    changed pages.
    """

    def forget(graphs: Iterable[PageGraph]) -> None:
        new = {graph.uri: graph for graph in graphs}
        stored = store.find_pages(list(new))
        changed = [uri for uri, page in stored.items() if page.content_hash != new[uri].content_hash]
        texts = [text for graph in store.page_graphs(changed) for text in chunk_texts(graph)]
        if texts:
            store.checker().drop_vectors(list(dict.fromkeys(texts)))

    return forget


def _first_places(graph: PageGraph) -> dict[str, tuple[int, int]]:
    """Map the texts of a page's chunks to their first positions."""
    places: dict[str, tuple[int, int]] = {}
    for text, chunk in zip(chunk_texts(graph), graph.chunks, strict=True):
        places.setdefault(text, (chunk.end - len(chunk.body), chunk.end))
    return places


def fill_plain(store: GraphStore, embedder: PlainEmbedder, progress: Progress | None = None) -> int:
    """Embed the chunks without a vector and return the number of texts. An interrupt loses at most the current
    chunks. ``progress`` counts all pending texts, of which chunks are a part.
    """
    pending = store.pending_texts()
    waiting = Waiting(pending)
    total, done = len(pending), 0
    for some in batched(_plain_chunks(store, waiting), _CHUNKS_AT_ONCE):
        # Embed repeated texts once.
        known = list(dict.fromkeys(text for _, text in some))
        vectors = dict(zip(known, embedder.embed(known), strict=True))
        store.put_vectors([key for key, _ in some], np.stack([vectors[text] for _, text in some]))
        done += len(some)
        if progress is not None:
            progress(done, total)
    return done


def _plain_chunks(store: GraphStore, waiting: Waiting) -> Iterator[tuple[str, str]]:
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


class Waiting:
    """Texts without a vector, in nine bytes each: half of a text's hash identifies it. False when all texts have one."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._keys = np.unique(np.fromiter(map(_key, texts), dtype=np.uint64))
        self._waits = np.ones(len(self._keys), dtype=bool)

    def __bool__(self) -> bool:
        return bool(self._waits.any())

    def among(self, texts: Sequence[str]) -> list[int]:
        """Return the indices of the texts that have no vector yet."""
        places, known = self._find(texts)
        return np.flatnonzero(known & self._waits[places]).tolist() if len(self._keys) else []

    def remove(self, texts: Sequence[str]) -> None:
        """Record that these texts have vectors now."""
        places, known = self._find(texts)
        self._waits[places[known]] = False

    def _find(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        wanted = np.fromiter(map(_key, texts), dtype=np.uint64, count=len(texts))
        if not len(self._keys):
            return np.zeros(len(texts), dtype=np.int64), np.zeros(len(texts), dtype=bool)
        places = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        return places, self._keys[places] == wanted


def _key(text: str) -> int:
    return int(text_hash(text)[:16], 16)
