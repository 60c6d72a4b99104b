"""Late chunking of a store: chunks are embedded page by page, in the context of their page.

Vectors are stored by text, and the text of a chunk includes the title and headings. Only a passage that is repeated
verbatim within a section has one vector for several places, that of the first. When a page changes, the vectors of
its chunks are removed before it is written, because their context has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from trivium.common.iteration import batched
from trivium.common.progress import Progress
from trivium.embedding.base import Vectors
from trivium.embedding.late import LateEmbedder, WholeText
from trivium.graph.model import PageGraph
from trivium.graph.protocols import GraphStore
from trivium.graph.schema import embedding_text, headings_of, unescape
from trivium.index.listing import each_page
from trivium.index.waiting import Waiting

_PAGES_AT_ONCE = 16


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
    return (embedding_text(headings_of(chunk.parent), chunk.text) for chunk in graph.chunks)


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
