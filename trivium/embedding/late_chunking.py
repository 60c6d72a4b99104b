"""Embedders that fill stores in a way of their own.

Late chunking: a document is encoded once, and the vector of a chunk is the mean of its token vectors, which thus reflect
the context of the chunk (Günther et al., 2024, arXiv:2409.04701). A document longer than the model's window is encoded in
windows that overlap by half. Of each window the middle half of the tokens is used, which has at least a quarter of a
window of context on both sides. Every window starts with the title.

Without headings: the vector of a chunk is that of its text alone. By default a chunk is embedded with its headings ("Page
> Section: text"), so vector search also reflects the page and section. Without headings the retrievers are more
independent, as in the thesis that Trivium started from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from trivium.common.idle_cores import available_cores
from trivium.embedding.embedder import Embedder, Vectors, embed_queries, l2_normalize, to_valid_text
from trivium.errors import EmbedderMismatchError, EmbeddingError
from trivium.types import EmbedderIdentity

E = TypeVar("E", bound=Embedder)


class Variant(Generic[E]):
    """An embedder with its own identity, so that its vectors are not mixed with those of ``inner``. Everything else
    is delegated. ``suffix`` is appended to the version.
    """

    suffix: ClassVar[str]

    def __init__(self, inner: E) -> None:
        self.inner = inner

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity of ``inner``, with the suffix."""
        own = self.inner.identity
        return replace(own, version=own.version + self.suffix)

    def embed_query(self, text: str) -> Vectors:
        return self.inner.embed_query(text)

    def embed_queries(self, texts: Sequence[str]) -> list[Vectors]:
        return embed_queries(self.inner, texts)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        return self.inner.embed(texts, progress)

    def close(self) -> None:
        self.inner.close()


LATE_SUFFIX = "+late"
"""Suffix of the version in the identity of a late-chunking embedder, since its vectors cannot be mixed with others."""

MAX_TITLE = 32
"""Maximum number of title tokens that are encoded."""
_PART = 50_000
"""Number of characters tokenised at once."""


@dataclass(frozen=True, slots=True)
class WholeText:
    """A document and the spans of its chunks, as characters of ``text``."""

    title: str
    text: str
    spans: tuple[tuple[int, int], ...]


@runtime_checkable
class TokenEmbedder(Protocol):
    """An embedder that provides token vectors in context, as late chunking requires."""

    @property
    def identity(self) -> EmbedderIdentity: ...

    def embed_query(self, text: str) -> Vectors: ...

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors: ...

    def embed_spans(
        self, documents: Sequence[WholeText], progress: Callable[[int], None] | None = None
    ) -> list[Vectors]:
        """Return the unit vectors (n, d) of the spans of each document. ``progress`` is called with the number of
        spans just completed. Raises EmbeddingError.
        """
        ...

    def close(self) -> None: ...


class LateEmbedder(Variant[TokenEmbedder]):
    """An embedder for late-chunked stores. Only its identity differs from that of ``inner``."""

    suffix = LATE_SUFFIX

    def embed_spans(
        self, documents: Sequence[WholeText], progress: Callable[[int], None] | None = None
    ) -> list[Vectors]:
        return self.inner.embed_spans(documents, progress)


def late(embedder: Embedder) -> LateEmbedder:
    """Return the late-chunking variant of an embedder. Raises EmbeddingError if it provides no token vectors."""
    if isinstance(embedder, LateEmbedder):
        return embedder
    if not isinstance(embedder, TokenEmbedder):
        raise EmbeddingError(
            f"late chunking needs an embedder that gives vectors of tokens (bge-small, minilm, e5-small);"
            f" {embedder.identity.name} gives only those of whole texts"
        )
    return LateEmbedder(embedder)


def is_late(identity: EmbedderIdentity | None) -> bool:
    """Whether a store with this embedder is chunked late."""
    return identity is not None and identity.version.endswith(LATE_SUFFIX)


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens ``first`` to ``last`` of a document, of which those from ``begin`` to ``end`` are used."""

    first: int
    last: int
    begin: int
    end: int


def windows(count: int, room: int) -> Iterator[Window]:
    """Return the windows of ``room`` tokens over ``count`` tokens. Each token is used in exactly one.

    >>> [(w.first, w.last, w.begin, w.end) for w in windows(10, 8)]
    [(0, 8, 0, 6), (2, 10, 6, 10)]
    """
    if count <= room:
        yield Window(0, count, 0, count)
        return
    step, margin = max(1, room // 2), room // 4
    first = begin = 0
    while True:
        if first + room >= count:
            yield Window(count - room, count, begin, count)
            return
        end = first + room - margin
        yield Window(first, first + room, begin, end)
        first, begin = first + step, end


class Tokens(NamedTuple):
    """The tokens of a text: their ids (n,), and their first and last characters (n, 2)."""

    ids: NDArray[np.int64]
    offsets: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TokenEncoder:
    """The functions of a model that :func:`embed_spans` uses: ``tokenise`` a text, ``encode`` at most ``room`` tokens
    to vectors (n, ``dimension``), and ``embed`` a text for spans without tokens. ``prefix`` precedes the title in
    every window.
    """

    tokenise: Callable[[str], Tokens]
    encode: Callable[[Sequence[int]], Vectors]
    embed: Callable[[str], Vectors]
    room: int
    dimension: int
    prefix: str = ""


class _Pooled:
    """A document with the running sums of its spans' token vectors."""

    def __init__(self, document: WholeText, encoder: TokenEncoder) -> None:
        self.document = document
        self._encoder = encoder
        self._title = (
            encoder.tokenise(to_valid_text(f"{encoder.prefix}{document.title}: ")).ids[:MAX_TITLE].tolist()
        )
        tokens = _tokens_of(document.text, encoder.tokenise)
        self._ids = tokens.ids
        ends, starts = tokens.offsets[:, 1], tokens.offsets[:, 0]
        # Tokens that overlap the span.
        self._first = np.searchsorted(ends, [start for start, _ in document.spans], side="right")
        self._last = np.searchsorted(starts, [end for _, end in document.spans], side="left")
        self._sums = np.zeros((len(document.spans), encoder.dimension))

    def windows(self) -> Iterator[Window]:
        return windows(len(self._ids), self._encoder.room - len(self._title))

    def encode(self, window: Window) -> list[tuple[int, NDArray[np.float64]]]:
        """Return the spans with tokens in the used part of the window, each with the sum of their vectors."""
        touched = np.flatnonzero((self._first < window.end) & (self._last > window.begin))
        if not len(touched):
            return []
        ids = self._title + self._ids[window.first : window.last].tolist()
        vectors = self._encoder.encode(ids)[len(self._title) :]
        sums = []
        for span in touched.tolist():
            begin = max(int(self._first[span]), window.begin) - window.first
            end = min(int(self._last[span]), window.end) - window.first
            sums.append((span, vectors[begin:end].sum(axis=0, dtype=np.float64)))
        return sums

    def add(self, sums: list[tuple[int, NDArray[np.float64]]]) -> None:
        for span, vector in sums:
            self._sums[span] += vector

    def vectors(self) -> Vectors:
        """Return the unit vectors of the spans."""
        for span in np.flatnonzero(~self._sums.any(axis=1)).tolist():
            start, end = self.document.spans[span]
            text = f"{self._encoder.prefix}{self.document.title}: {self.document.text[start:end]}"
            self._sums[span] = self._encoder.embed(text)
        return l2_normalize(self._sums, len(self._sums), self._encoder.dimension)


def embed_spans(
    documents: Sequence[WholeText],
    encoder: TokenEncoder,
    progress: Callable[[int], None] | None = None,
    workers: int | None = None,
) -> list[Vectors]:
    """Return the unit vectors (n, d) of the spans of each document.

    Windows are encoded one per call, in as many threads as there are cores. Their sums are added in a fixed order, so
    the result is reproducible. ``progress`` is called with the number of spans of each completed document.
    """
    pooled = [_Pooled(document, encoder) for document in documents]
    jobs = [(document, window) for document in pooled for window in document.windows()]
    count = min(available_cores() if workers is None else workers, len(jobs))
    with ThreadPoolExecutor(max(1, count), thread_name_prefix="embed") as pool:
        futures = [pool.submit(document.encode, window) for document, window in jobs]
        try:
            for (document, _), future in zip(jobs, futures, strict=True):
                document.add(future.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    result = []
    for document in pooled:
        result.append(document.vectors())
        if progress is not None:
            progress(len(document.document.spans))
    return result


def _tokens_of(text: str, tokenise: Callable[[str], Tokens]) -> Tokens:
    """Tokenise a text of any length in parts that end between words if possible."""
    ids, offsets = [np.empty(0, np.int64)], [np.empty((0, 2), np.int64)]
    at = 0
    while at < len(text):
        end = min(at + _PART, len(text))
        if end < len(text):
            space = text.rfind(" ", at, end)
            end = space if space > at else end
        found = tokenise(to_valid_text(text[at:end]))
        ids.append(found.ids)
        offsets.append(found.offsets + at)
        at = end
    return Tokens(np.concatenate(ids), np.concatenate(offsets))


PLAIN_SUFFIX = "+no-headings"
"""Suffix of the version in the identity of an embedder that omits headings, since its vectors cannot be mixed with
others.
"""


class PlainEmbedder(Variant[Embedder]):
    """An embedder for stores whose chunks are embedded without headings. Only its identity differs from that of
    ``inner``.
    """

    suffix = PLAIN_SUFFIX


def without_headings(embedder: Embedder) -> PlainEmbedder:
    """Return the variant of an embedder that omits headings. Raises EmbedderMismatchError for a late-chunking
    embedder, which is meant to use the context of a chunk.
    """
    if isinstance(embedder, PlainEmbedder):
        return embedder
    if is_late(embedder.identity):
        raise EmbedderMismatchError(
            f"{embedder.identity.name} chunks late, which puts the title before each text: expected one or the other"
        )
    return PlainEmbedder(embedder)


def is_plain(identity: EmbedderIdentity | None) -> bool:
    """Whether a store with this embedder embeds chunks without headings."""
    return identity is not None and identity.version.endswith(PLAIN_SUFFIX)


def embedded_headings(identity: EmbedderIdentity, headings: Sequence[str]) -> tuple[str, ...]:
    """Return the headings that are embedded with a chunk's text: all or none."""
    return () if is_plain(identity) else tuple(headings)
