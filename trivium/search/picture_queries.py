"""Query vectors of the retriever ``image``: a picture or a text, embedded by the store's image embedder."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Protocol

from trivium.common.suggested_commands import for_store
from trivium.embedding.embedder import Vectors
from trivium.embedding.image_embedders import ImageEmbedder, open_image_embedder
from trivium.errors import EmbedderMismatchError, InputError, ParseError, StoreError
from trivium.graph.stored_vectors import EMBED_PICTURES
from trivium.settings.settings import load_settings
from trivium.types import EmbedderIdentity

MAX_PICTURE_BYTES = 20 << 20
"""Maximum size of a picture file to search by."""


class _Filled(Protocol):
    """The part of a store that :class:`StoreImageEmbedder` uses."""

    @property
    def image_embedder(self) -> EmbedderIdentity | None: ...

    @property
    def location(self) -> str: ...


class StoreImageEmbedder:
    """The image embedder of a store, opened on first use. Thread-safe. ``given`` is a custom embedder that replaces
    the one named by the store.
    """

    def __init__(self, given: ImageEmbedder | None = None) -> None:
        self._opened = given
        self._lock = threading.Lock()

    def get(self, store: _Filled) -> ImageEmbedder:
        """Return the embedder. Raises StoreError when the store has no vectors of pictures, EmbedderMismatchError
        when the installed model has another version, and the errors of opening it.
        """
        stored = store.image_embedder
        if stored is None:
            raise StoreError(
                f"the pictures in {store.location} have no vectors: run  {for_store(EMBED_PICTURES, store.location)}"
            )
        with self._lock:
            if self._opened is None:
                self._opened = open_image_embedder(stored.name)
            embedder = self._opened
        if embedder.identity != stored:
            own = embedder.identity
            raise EmbedderMismatchError(
                f"the pictures in {store.location} were embedded by {stored.name} version {stored.version}, but"
                f" {own.name} version {own.version} is installed: install that version, or build the store again"
            )
        return embedder

    def embed(self, store: _Filled, text: str, picture: bytes | None) -> Vectors:
        """Return a unit vector (d,) of the picture if there is one, else of the text."""
        embedder = self.get(store)
        vector: Vectors
        if picture is None:
            (vector,) = embedder.embed_texts([text])
            return vector
        from trivium.parser.open_pictures import decoded, open_picture
        from trivium.parser.thumbnails import thumbnail_of

        # The query picture is reduced to a thumbnail, as the stored ones are, so that a picture finds itself with a
        # cosine of 1.
        limits = load_settings().limits
        try:
            small = thumbnail_of(open_picture(picture, limits), limits)
        except ParseError as error:
            raise InputError(f"the picture to search by: {error}") from error
        (vector,) = embedder.embed_images([decoded(open_picture(small))])
        return vector


def check_picture(picture: object) -> None:
    """Raise InputError unless ``picture`` is the content of a file of at most :data:`MAX_PICTURE_BYTES`."""
    if not isinstance(picture, bytes):
        raise InputError(f"expected a picture as the bytes of its file, got {type(picture).__name__}")
    if len(picture) > MAX_PICTURE_BYTES:
        raise InputError(
            f"a picture to search by may have {MAX_PICTURE_BYTES >> 20} MB, got {len(picture) / (1 << 20):.1f} MB:"
            " make it smaller"
        )


def views_for(picture: object | None, retrievers: Sequence[str] | None) -> Sequence[str] | None:
    """Return the retrievers to ask: only ``image`` when there is a picture and none is named, since it needs no
    question text.
    """
    return ["image"] if picture is not None and retrievers is None else retrievers
