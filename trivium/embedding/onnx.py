"""The built-in models on onnxruntime: unpadded, single-threaded inference in many workers, one text per call or several
short ones of the same number of tokens; in padded batches on a GPU.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from trivium.embedding.batch_session import PROBE, open_batch_session
from trivium.embedding.batches import (
    BATCHED_SLICE,
    EQUAL_SLICE,
    SHORT,
    Ids,
    embed_batches,
    embed_each,
    embed_groups,
    equal_lengths,
    is_batch,
)
from trivium.embedding.device import (
    CPU,
    ERRORS,
    Device,
    check_device,
    check_taken,
    is_refusal,
    load_libraries,
    one_thread,
    unusable,
)
from trivium.embedding.embed_in_slices import SLICE
from trivium.embedding.embedder import Vectors, deduplicate, l2_normalize, to_valid_text
from trivium.embedding.late_chunking import TokenEncoder, Tokens, WholeText, embed_spans
from trivium.embedding.manifest import manifest
from trivium.embedding.model_files import check, locate
from trivium.embedding.onnx_batch_graph import HIDDEN, is_candidate
from trivium.embedding.onnx_float_graph import POOLED, float_graph
from trivium.errors import EmbeddingError
from trivium.types import EmbedderIdentity

_WORTHWHILE = 1_000
"""Short texts after which a second session, for batches, is loaded: it costs as much processor time as it then saves."""

_SHORT_CHARACTERS = 8 * SHORT
"""Longer texts are taken for long without being tokenised."""


class OnnxEmbedder:
    """A model of the manifest.

    Its files are located immediately, and verified and loaded with the first text. On one CPU, vectors are bitwise
    reproducible, whatever the other texts, their order and the number of workers. On another device or CPU they agree
    within the rounding of int8 (cosine above .99) and have the same identity. Thread-safe.

    Short texts of one length are embedded in one call, with the same bits as one by one, once an embedder has had many:
    that needs a second session, with a copy of the weights. Raises ModelNotInstalledError, and MissingExtraError if the
    installed packages do not support the device.
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
        self._batch_lock = threading.Lock()
        self._batches: Any | Literal["untried"] | None = "untried"
        self._short = 0

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
        """Number of texts per slice when a store is filled: more where texts of equal length form batches, and many for
        a GPU to be busy.
        """
        if self._device.batched:
            return BATCHED_SLICE
        return EQUAL_SLICE if is_candidate(self._files.model) else SLICE

    def embed_query(self, text: str) -> Vectors:
        """Embed a question as a unit vector (d,), with the model's query prefix."""
        return self._embed_one(self._spec.query_prefix + text)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions as unit vectors (n, d), like :meth:`embed_query` (on a GPU within rounding). Questions of one
        length take less time. Uses the calling thread only. Raises EmbeddingError.
        """
        return self._embed_many([self._spec.query_prefix + text for text in texts], None, 1)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        """Embed passages as unit vectors (n, d), with the model's passage prefix. Equal texts are embedded once.
        Raises EmbeddingError.
        """
        unique, places = deduplicate(texts)
        unique = [self._spec.passage_prefix + text for text in unique]
        return self._embed_many(unique, progress, self._workers)[places]

    def embed_spans(
        self, documents: Sequence[WholeText], progress: Callable[[int], None] | None = None
    ) -> list[Vectors]:
        """Embed the spans of documents that are encoded as a whole, as unit vectors (n, d); see
        :mod:`trivium.embedding.late_chunking`.

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
        with self._batch_lock:
            self._batches, self._short = "untried", 0

    def _embed_many(
        self, texts: Sequence[str], progress: Callable[[int], None] | None, workers: int | None
    ) -> Vectors:
        if self._device.batched:
            return self._embed_batched(texts, progress)
        batches = self._batch_session(texts)
        dimension = self._spec.dimension
        if batches is None:
            return embed_each(self._embed_one, texts, dimension, progress, workers)
        result = np.empty((len(texts), dimension), dtype=np.float32)
        for start in range(0, len(texts), BATCHED_SLICE):  # bounds the tokens in memory
            part = texts[start : start + BATCHED_SLICE]
            result[start : start + len(part)] = self._embed_equal(batches, part, progress, workers)
        return result

    def _embed_equal(
        self, batches: Any, texts: Sequence[str], progress: Callable[[int], None] | None, workers: int | None
    ) -> Vectors:
        """Embed short texts of one length together, others one by one."""
        _, tokenizer = self._load()
        rows: dict[int, list[int]] = {}

        def lengths() -> Iterator[int | None]:
            for place, text in enumerate(texts):
                if len(text) <= _SHORT_CHARACTERS:
                    rows[place] = tokenizer.encode(to_valid_text(text)).ids
                    yield len(rows[place])
                else:
                    yield None

        def embed_group(places: Sequence[int]) -> Sequence[Vectors] | Vectors:
            own = [rows.get(place) for place in places]
            if is_batch(own):
                return self._pooled(self._run_batch(batches, own), 0)
            return [
                self._embed_one(texts[place]) if row is None else self._embed_ids(row)
                for place, row in zip(places, own, strict=True)
            ]

        groups = equal_lengths(lengths())
        return embed_groups(embed_group, groups, len(texts), self._spec.dimension, progress, workers)

    def _embed_one(self, text: str) -> Vectors:
        _, tokenizer = self._load()
        return self._embed_ids(tokenizer.encode(to_valid_text(text)).ids)

    def _embed_ids(self, ids: Sequence[int]) -> Vectors:
        session, _ = self._load()
        vector: Vectors = self._pooled(self._run(session, ids), 1)[0]
        return vector

    def _pooled(self, hidden: Any, tokens: int) -> Vectors:
        """Return unit vectors of texts from those of their tokens, which are along the axis ``tokens``."""
        pooled = (
            hidden.take(0, axis=tokens)
            if self._spec.pooling == "cls"
            else hidden.mean(axis=tokens, dtype=np.float64)
        )
        return l2_normalize(pooled, len(pooled), self._spec.dimension)

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

    def _run_batch(self, session: Any, rows: Any) -> Any:
        """Return the vectors of tokens of texts of one length (tokens, texts, d)."""
        ids = np.array(rows, dtype=np.int64)
        return self._outputs(session, HIDDEN, ids, np.ones_like(ids))

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

    def _batch_session(self, texts: Sequence[str]) -> Any | None:
        """Return the session for texts of one length. None if this model has none, and before there have been enough
        short texts.
        """
        with self._batch_lock:
            if self._batches == "untried":
                self._short += sum(len(text) <= _SHORT_CHARACTERS for text in texts)
                if self._short < _WORTHWHILE:
                    return None
                self._batches = self._open_batch_session()
            return self._batches

    def _open_batch_session(self) -> Any | None:
        session, tokenizer = self._load()
        import onnxruntime

        return open_batch_session(
            onnxruntime,
            one_thread(onnxruntime),
            self._files.model,
            tokenizer.encode(PROBE).ids,
            partial(self._run, session),
            self._run_batch,
        )

    def _check(self) -> None:
        for path in (self._files.model, self._files.tokenizer):
            check(self._identity.name, path, self._home)

    def _open_session(self, onnxruntime: Any) -> Any:
        options = one_thread(onnxruntime)
        device, file = self._device, self._files.model
        model = float_graph(file, self._spec.pooling) if device.batched else str(file)
        if device != CPU:
            # It warns about plugins that this provider does not need.
            onnxruntime.set_default_logger_severity(ERRORS)
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
