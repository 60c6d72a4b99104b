"""Embedders that map pictures and texts to one vector space: CLIP, or an object of a caller."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from trivium.embedding.device import CPU, Device, check_device, parse_device
from trivium.embedding.embedder import Vectors, l2_normalize, to_valid_text
from trivium.embedding.fastembed import digest_files, load_on
from trivium.errors import ConfigurationError, EmbeddingError, MissingExtraError
from trivium.settings.settings import load_settings
from trivium.types import EmbedderIdentity

if TYPE_CHECKING:
    from PIL.Image import Image

IMAGE_EMBEDDERS = ("clip",)
"""Names accepted by :func:`open_image_embedder`."""
DIMENSION = 512
VISION, TEXT = "Qdrant/clip-ViT-B-32-vision", "Qdrant/clip-ViT-B-32-text"
FILES = {
    "vision": ("model.onnx", "preprocessor_config.json"),
    "text": ("model.onnx", "tokenizer.json", "tokenizer_config.json"),
}
"""Files that fastembed needs in each folder."""


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


def open_image_embedder(name: str, device: str | None = None) -> ImageEmbedder:
    """Open the image embedder of that name on the device, by default that of the settings. Raises ConfigurationError
    for an unknown name, MissingExtraError with the command to install it, and EmbeddingError if its files are
    unavailable.
    """
    check_image_embedder(name)
    settings = load_settings()
    return ClipEmbedder(home=settings.home, device=parse_device(device or settings.device))


class ClipEmbedder:
    """CLIP (ViT-B/32) through the fastembed library (an extra): one model for pictures and one for texts, with a shared
    vector space. Thread-safe.

    Uses the files in ``HOME/fastembed/clip/vision`` and ``.../text`` if they have been placed there; otherwise
    fastembed downloads them there once (about 0.6 GB). ``folder`` names a folder that contains both, and disables
    downloads. Raises MissingExtraError, and EmbeddingError if the files are unavailable.
    """

    def __init__(self, *, home: Path | None = None, folder: Path | None = None, device: Device = CPU) -> None:
        try:
            from fastembed import ImageEmbedding, TextEmbedding
        except ImportError as error:
            raise MissingExtraError("the image embedder clip", "fastembed") from error
        check_device(device)
        if folder is None:
            if home is None:
                raise EmbeddingError("the image embedder clip needs a home or a folder, got neither")
            own = home / "fastembed" / "clip"
            given = any((own / kind / "model.onnx").is_file() for kind in FILES)
        else:
            own, given = folder, True
        self._vision: Any = _load(
            ImageEmbedding, VISION, own / "vision", FILES["vision"] if given else (), device
        )
        self._text: Any = _load(TextEmbedding, TEXT, own / "text", FILES["text"] if given else (), device)
        versions = [digest_files(own / kind, ["model.onnx"]) for kind in FILES]
        self._identity = EmbedderIdentity("clip", "-".join(versions), DIMENSION)

    def __repr__(self) -> str:
        return "ClipEmbedder()"

    @property
    def identity(self) -> EmbedderIdentity:
        """Name, version (prefixes of the SHA-256 of both models' weights) and dimension (512)."""
        return self._identity

    def embed_images(self, pictures: Sequence[Image]) -> Vectors:
        """See the protocol. Pictures are embedded one per call, because batching would change the last bits."""
        return self._rows(self._vision, pictures, "picture")

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """See the protocol. CLIP reads the first 77 tokens, in English."""
        return self._rows(self._text, [to_valid_text(text) for text in texts], "text")

    def _rows(self, model: Any, items: Sequence[Any], what: str) -> Vectors:
        rows = np.empty((len(items), DIMENSION), dtype=np.float32)
        for place, item in enumerate(items):
            try:
                found = list(model.embed([item]))
            except Exception as error:  # anything that onnxruntime and the preprocessing raise
                raise EmbeddingError(f"clip failed on a {what}: {error}") from error
            rows[place] = l2_normalize(found, 1, DIMENSION)[0]
        return rows


def _load(make: Any, model: str, folder: Path, needed: Sequence[str], device: Device) -> Any:
    """Load one of the two models: from the folder if files are ``needed`` there, otherwise downloaded into it."""
    missing = [name for name in needed if not (folder / name).is_file()]
    if missing:
        raise EmbeddingError(
            f"clip: expected {', '.join(needed)} in {folder}, {', '.join(missing)} missing: put the files of {model}"
            f" there, or remove {folder.parent} to have them downloaded (needs a network and"
            "  pip install 'trivium[fastembed]')"
        )
    where = {"specific_model_path": str(folder)} if needed else {"cache_dir": str(folder)}
    return load_on(
        device,
        partial(make, model, **where),
        lambda error: (
            f"clip: {model} cannot be loaded: {error}; it is downloaded at its first use, which needs a network: without"
            f" one put its files into {folder}"
        ),
    )
