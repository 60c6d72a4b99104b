"""Image embedders by name: they map pictures and texts to one vector space. Loaded on demand."""

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
"""Names accepted by :func:`open_image_embedder`."""


class ImageEmbedder(Protocol):
    """Turns pictures and texts into comparable unit vectors. The vector of a picture does not depend on the others it
    is embedded with.
    """

    @property
    def identity(self) -> EmbedderIdentity:
        """Name, version (changes with the weights) and dimension."""
        ...

    def embed_images(self, pictures: Sequence[Image]) -> Vectors:
        """Embed decoded RGB pictures as unit vectors (n, d). Raises EmbeddingError."""
        ...

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """Embed descriptions of pictures as unit vectors (n, d). Raises EmbeddingError."""
        ...


def check_image_embedder(name: str) -> str:
    """Return the name. Raises ConfigurationError if it is unknown."""
    if name not in IMAGE_EMBEDDERS:
        raise ConfigurationError(
            f"unknown image embedder {name!r}: expected one of {', '.join(IMAGE_EMBEDDERS)}"
        )
    return name


def open_image_embedder(
    name: str, settings: Settings | None = None, device: str | None = None
) -> ImageEmbedder:
    """Open the image embedder of that name on the device, by default that of the settings. Raises ConfigurationError
    for an unknown name, MissingExtraError with the command to install it, and EmbeddingError if its files are
    unavailable.
    """
    check_image_embedder(name)
    from trivium.embedding.clip import ClipEmbedder

    settings = load_settings() if settings is None else settings
    return ClipEmbedder(home=settings.home, device=parse_device(device or settings.device))
