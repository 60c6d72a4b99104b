"""What turns pictures and texts into vectors of one space, by name. Nothing here is loaded unless it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from trivium.embedding.base import Vectors
from trivium.embedding.device import parse_device
from trivium.errors import ConfigurationError
from trivium.settings import Settings, load_settings
from trivium.types import EmbedderIdentity

if TYPE_CHECKING:
    from PIL.Image import Image

IMAGE_EMBEDDERS = ("clip",)
"""What :func:`open_image_embedder` takes."""


class ImageEmbedder(Protocol):
    """Turns pictures and texts into unit vectors that can be compared with one another. The same picture gives the same
    vector, whatever it is embedded together with."""

    @property
    def identity(self) -> EmbedderIdentity:
        """Name, version (changes with the weights) and dimension."""
        ...

    def embed_images(self, pictures: Sequence[Image]) -> Vectors:
        """Decoded pictures in colours (RGB) as unit vectors (n x d). Raises EmbeddingError."""
        ...

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """What pictures may show, in words, as unit vectors (n x d). Raises EmbeddingError."""
        ...


def check_image_embedder(name: str) -> str:
    """The name. Raises ConfigurationError for one that is not known."""
    if name not in IMAGE_EMBEDDERS:
        raise ConfigurationError(
            f"unknown image embedder {name!r}: expected one of {', '.join(IMAGE_EMBEDDERS)}"
        )
    return name


def open_image_embedder(
    name: str, settings: Settings | None = None, device: str | None = None
) -> ImageEmbedder:
    """The image embedder of that name, on the device (by default that of the settings). Raises ConfigurationError for an
    unknown one, MissingExtraError with the command that helps, and EmbeddingError where its files cannot be had."""
    check_image_embedder(name)
    from trivium.embedding.clip import ClipEmbedder

    settings = load_settings() if settings is None else settings
    return ClipEmbedder(home=settings.home, device=parse_device(device or settings.device))
