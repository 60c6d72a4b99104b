"""The built-in models on onnxruntime: unpadded, one text per call, single-threaded inference in many workers; in
batches on a GPU.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from trivium.embedding.base import Vectors
from trivium.embedding.batches import BATCHED_SLICE, Ids, embed_batches
from trivium.embedding.device import (
    CPU,
    Device,
    check_device,
    check_taken,
    is_refusal,
    load_libraries,
    unusable,
)
from trivium.embedding.fill import SLICE
from trivium.embedding.float_graph import POOLED, float_graph
from trivium.embedding.late import TokenEncoder, Tokens, WholeText, embed_spans
from trivium.embedding.manifest import manifest
from trivium.embedding.models import check, locate
from trivium.embedding.vectors import deduplicate, l2_normalize, to_valid_text
from trivium.embedding.workers import embed_each
from trivium.errors import EmbeddingError
from trivium.types import EmbedderIdentity

_ERRORS = 3
"""onnxruntime's log level for errors."""


class OnnxEmbedder:
    """A model of the manifest.

    Its files are located immediately, and verified and loaded with the first text. On one CPU, vectors are bitwise
    reproducible, whatever the other texts, their order and the number of workers. On another device or CPU they agree
    within the rounding of int8 (cosine above .99) and have the same identity. Thread-safe. Raises
    ModelNotInstalledError, and MissingExtraError if the installed packages do not support the device.
    """

    def __init__(
        self, name: str, *, workers: int | None = None, home: Path | None = None, device: Device = CPU
    ) -> None:
        check_device(device)
        self._device = device
        self._home = home
        self._files = locate(name, home)
        self._spec = manifest()[name]
        self._identity = EmbedderIdentity(name, self._spec.version, self._spec.dimension)
        self._workers = workers
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    def __repr__(self) -> str:
        return f"OnnxEmbedder({self._identity.name!r})"

    @property
    def identity(self) -> EmbedderIdentity:
        """Name, version (prefix of the weights' SHA-256) and dimension. Loads nothing."""
        return self._identity

    @property
    def gpus(self) -> float:
        """Number of GPUs that an embedding task on a cluster needs."""
        return 1.0 if self._device.batched else 0.0

    @property
    def texts_at_once(self) -> int:
        """Number of texts per slice when a store is filled: a GPU needs many to be busy, since equal lengths form a
        batch.
        """
        return BATCHED_SLICE if self._device.batched else SLICE

    def embed_query(self, text: str) -> Vectors:
        """Embed a question as a unit vector (d,), with the model's query prefix."""
        return self._embed_one(self._spec.query_prefix + text)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        """Embed passages as unit vectors (n, d), with the model's passage prefix. Equal texts are embedded once.
        Raises EmbeddingError.
        """
        unique, places = deduplicate(texts)
        unique = [self._spec.passage_prefix + text for text in unique]
        if self._device.batched:
            vectors = self._embed_batched(unique, progress)
        else:
            vectors = embed_each(self._embed_one, unique, self._spec.dimension, progress, self._workers)
        return vectors[places]

    def embed_spans(
        self, documents: Sequence[WholeText], progress: Callable[[int], None] | None = None
    ) -> list[Vectors]:
        """Embed the spans of documents that are encoded as a whole, as unit vectors (n, d); see
        :mod:`trivium.embedding.late`.

        A span's vector is the mean of its token vectors, even for models that otherwise use the first token. Spans
        without tokens are embedded separately. Raises EmbeddingError.
        """
        session, tokenizer = self._load()
        uncut = type(tokenizer).from_str(tokenizer.to_str())
        uncut.no_truncation()

        def tokenise(text: str) -> Tokens:
            found = uncut.encode(text, add_special_tokens=False)
            return Tokens(np.array(found.ids, np.int64), np.array(found.offsets, np.int64).reshape(-1, 2))

        first, *last = uncut.encode("").ids  # the special tokens around every text

        def encode(ids: Sequence[int]) -> Vectors:
            hidden: Vectors = self._run(session, [first, *ids, *last])[0, 1 : 1 + len(ids)]
            return hidden

        encoder = TokenEncoder(
            tokenise,
            encode,
            self._embed_one,
            room=self._spec.max_tokens - 1 - len(last),
            dimension=self._spec.dimension,
            prefix=self._spec.passage_prefix,
        )
        return embed_spans(documents, encoder, progress, self._workers)

    def close(self) -> None:
        """Release the weights. They are loaded again when needed."""
        self._loaded = None

    def _embed_one(self, text: str) -> Vectors:
        session, tokenizer = self._load()
        hidden = self._run(session, tokenizer.encode(to_valid_text(text)).ids)
        pooled = hidden[:, 0] if self._spec.pooling == "cls" else hidden.mean(axis=1, dtype=np.float64)
        vector: Vectors = l2_normalize(pooled, 1, self._spec.dimension)[0]
        return vector

    def _embed_batched(self, texts: Sequence[str], progress: Callable[[int], None] | None) -> Vectors:
        session, tokenizer = self._load()

        def embed(ids: Ids, mask: Ids) -> Vectors:
            pooled = self._outputs(session, POOLED, ids, mask)
            return l2_normalize(pooled, len(ids), self._spec.dimension)

        found = tokenizer.encode_batch([to_valid_text(text) for text in texts])  # on all cores
        rows = [text.ids for text in found]
        return embed_batches(embed, rows, self._spec.dimension, progress)

    def _run(self, session: Any, ids: Sequence[int]) -> Any:
        """Return the vectors of tokens (1, n, d)."""
        row = np.array([ids], dtype=np.int64)
        return self._outputs(session, session.get_outputs()[0].name, row, np.ones_like(row))

    def _outputs(self, session: Any, output: str, ids: Ids, mask: Ids) -> Any:
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            return session.run([output], inputs)[0]
        except Exception as error:  # onnxruntime's exceptions have no common base class
            what = f"{len(ids)} texts" if len(ids) > 1 else "a text"
            raise EmbeddingError(
                f"{self._identity.name} failed on {what} of {ids.shape[1]} tokens on {self._device.name}"
            ) from error

    def _load(self) -> tuple[Any, Any]:
        with self._lock:
            if self._loaded is None:
                # Verify the weights while onnxruntime is imported: it is faster and does not need the GIL.
                with ThreadPoolExecutor(1, thread_name_prefix="verify") as beside:
                    verified = beside.submit(self._check)
                    import onnxruntime  # takes 0.1 s, so only on demand
                    from tokenizers import Tokenizer
                verified.result()
                self._loaded = (self._open_session(onnxruntime), self._open_tokenizer(Tokenizer))
            return self._loaded

    def _check(self) -> None:
        for path in (self._files.model, self._files.tokenizer):
            check(self._identity.name, path, self._home)

    def _open_session(self, onnxruntime: Any) -> Any:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = _ERRORS
        device, file = self._device, self._files.model
        model = float_graph(file, self._spec.pooling) if device.batched else str(file)
        if device != CPU:
            # It warns about plugins that this provider does not need.
            onnxruntime.set_default_logger_severity(_ERRORS)
        load_libraries(onnxruntime, device)
        try:
            session = onnxruntime.InferenceSession(
                model, options, providers=device.providers, enable_fallback=0
            )
        except Exception as error:  # as above
            if device != CPU and is_refusal(error):
                raise unusable(onnxruntime, device) from error
            raise EmbeddingError(
                f"onnxruntime {onnxruntime.__version__} cannot load {self._files.model}, though it is intact: {error}"
            ) from error
        check_taken(onnxruntime, device, session.get_providers())
        return session

    def _open_tokenizer(self, kind: Any) -> Any:
        try:
            tokenizer = kind.from_file(str(self._files.tokenizer))
        except Exception as error:  # tokenizers raises plain Exception
            raise EmbeddingError(
                f"tokenizers cannot read {self._files.tokenizer}, though it is intact: {error}"
            ) from error
        # minilm's file pads and truncates to 128 tokens, but the model was published with 256.
        tokenizer.no_padding()
        tokenizer.enable_truncation(self._spec.max_tokens)
        return tokenizer
