"""Embeds the pictures of a store, from their thumbnails, which are larger than the input of an image embedder."""

from __future__ import annotations

from trivium.common.iteration import batched
from trivium.common.progress import Progress
from trivium.embedding.images import ImageEmbedder
from trivium.graph.protocols import GraphStore
from trivium.parser.picture_files import decoded, open_picture

_A_SLICE = 32


def fill_pictures(store: GraphStore, embedder: ImageEmbedder, progress: Progress | None = None) -> int:
    """Embed every picture without a vector and return their number. Each slice is saved before the next one starts.
    Raises EmbedderMismatchError if the store has picture vectors of another image embedder.
    """
    store.set_image_embedder(embedder.identity)
    pending = store.pending_pictures()
    done = 0
    for part in batched(pending, _A_SLICE):
        thumbnails = store.thumbnails(part)
        vectors = embedder.embed_images([decoded(open_picture(data)) for data in thumbnails.values()])
        store.put_picture_vectors(thumbnails, vectors)
        done += len(part)
        if progress is not None:
            progress(done, len(pending))
    return done
