"""Embedding the pictures of a store: their thumbnails, which are larger than what an image embedder looks at."""

from __future__ import annotations

from trivium.common.iteration import batched
from trivium.common.progress import Progress
from trivium.embedding.images import ImageEmbedder
from trivium.graph.protocols import GraphStore
from trivium.parser.picture_files import decoded, open_picture

_A_SLICE = 32


def fill_pictures(store: GraphStore, embedder: ImageEmbedder, progress: Progress | None = None) -> int:
    """Embed every picture that has no vector yet; returns how many. Each slice is saved before the next begins. Raises
    EmbedderMismatchError where another image embedder made vectors of the store's pictures."""
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
