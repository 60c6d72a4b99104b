"""Any text model of the fastembed library (an extra), run with one text per call."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from trivium.embedding.batches import embed_each
from trivium.embedding.device import CPU, Device, check_device, check_taken, load_libraries
from trivium.embedding.embedder import Vectors, deduplicate, l2_normalize, to_valid_text
from trivium.errors import ConfigurationError, EmbeddingError, MissingExtraError
from trivium.settings.settings import load_settings
from trivium.types import EmbedderIdentity


def load_on(device: Device, make: Callable[..., Any], failed: Callable[[Exception], str]) -> Any:
    """Load a fastembed model with ``make`` on a device. Errors of ``make`` become EmbeddingError with the message
    that ``failed`` returns.
    """
    import onnxruntime  # already imported by fastembed

    load_libraries(onnxruntime, device)
    try:
        # Single-threaded inference, as for the built-in models.
        loaded = make(threads=1, providers=device.providers)
    # the errors of the hub, of the tar file and of onnxruntime share no base class
    except Exception as error:
        raise EmbeddingError(failed(error)) from error
    check_taken(onnxruntime, device, loaded.model.model.get_providers())
    return loaded


class FastEmbedEmbedder:
    """A model listed by fastembed. Its files are downloaded once, into a separate folder below
    the home.

    ``folder`` names a folder with the model's files and disables downloads. On every ``device`` texts are embedded
    one per call, because some of these models are quantised. Thread-safe. Raises MissingExtraError,
    ConfigurationError for a model that fastembed does not list, and EmbeddingError if its files are unavailable.
    """

    def __init__(
        self,
        model: str,
        *,
        workers: int | None = None,
        home: Path | None = None,
        folder: Path | None = None,
        device: Device = CPU,
    ) -> None:
        try:
            from fastembed import TextEmbedding
        except ImportError as error:
            raise MissingExtraError(f"fastembed:{model}", "fastembed") from error
        check_device(device)
        named = f"fastembed:{model}"
        listed = {item["model"]: item for item in TextEmbedding.list_supported_models()}
        description = listed.get(model)
        if description is None:
            raise ConfigurationError(
                f"fastembed has no text model {model!r}: it has {', '.join(sorted(listed))}"
            )
        if folder is None:
            home = load_settings().home if home is None else home
            folder = home / "fastembed" / re.sub(r"[^\w.-]+", "--", model)
            where: dict[str, Any] = {"cache_dir": str(folder)}
        else:
            where = {"specific_model_path": str(folder)}
        self._workers = workers
        self._model = load_on(
            device, partial(TextEmbedding, model, **where), lambda error: f"{named} cannot be loaded: {error}"
        )
        version = digest_files(folder, [description["model_file"], *description["additional_files"]])
        self._identity = EmbedderIdentity(named, version, description["dim"])

    def __repr__(self) -> str:
        return f"FastEmbedEmbedder({self._identity.name!r})"

    @property
    def identity(self) -> EmbedderIdentity:
        """Name, version (prefix of the SHA-256 of the weights) and dimension."""
        return self._identity

    def embed_query(self, text: str) -> Vectors:
        """Embed a question as a unit vector (d,), in the form the model expects of questions."""
        return self._one(self._model.query_embed, text)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        """Embed passages as unit vectors (n, d). Equal texts are embedded once. Raises EmbeddingError."""
        unique, places = deduplicate(texts)

        def embed_one(text: str) -> Vectors:
            return self._one(self._model.passage_embed, [text])

        return embed_each(embed_one, unique, self._identity.dimension, progress, self._workers)[places]

    def close(self) -> None:
        """Do nothing: the library keeps its session for the lifetime of this object."""

    def _one(self, embed: Callable[[Any], Any], text: Any) -> Vectors:
        clean = to_valid_text(text) if isinstance(text, str) else [to_valid_text(item) for item in text]
        try:
            rows = list(embed(clean))
        except Exception as error:  # anything that onnxruntime raises
            raise EmbeddingError(f"{self._identity.name} failed on a text") from error
        vector: Vectors = l2_normalize(rows, 1, self._identity.dimension)[0]
        return vector


def digest_files(folder: Path, names: Sequence[str]) -> str:
    """Return the prefix of one SHA-256 over the named files, wherever they are below the folder."""
    digest = hashlib.sha256()
    paths = [path for name in names for path in sorted(folder.rglob(name))]
    if not paths:
        raise EmbeddingError(f"expected the weights ({', '.join(names)}) below {folder}, found none")
    for path in paths:
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: digest)  # updates the same digest
    return digest.hexdigest()[:12]
