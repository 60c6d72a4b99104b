"""The interface of live sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

RESULTS = 10
"""Number of results that a source of the web and a MediaWiki are asked for."""


@dataclass(frozen=True, slots=True)
class LivePassage:
    """A passage of a page: the ``headings`` above it without the title, its ``text``, and its ``kind``
    (:class:`trivium.types.ChunkKind`).
    """

    headings: tuple[str, ...]
    text: str
    kind: str = "paragraph"


@dataclass(frozen=True, slots=True)
class LiveDocument:
    """A document found by a source.

    - ``text``: the source's excerpt, or the complete text.
    - ``published``: ISO 8601 if the source provides that; None if unknown.
    - ``whole``: whether the text must not be split.
    - ``passages``: the passages of the page in order, if it was read.
    - ``names``: other names under which a collection may contain the document (``wiki:Mars``).
    """

    title: str
    address: str
    text: str
    published: str | None = None
    whole: bool = False
    passages: tuple[LivePassage, ...] = ()
    names: tuple[str, ...] = ()


class LiveSource(Protocol):
    """Finds documents for a question outside the collection."""

    @property
    def name(self) -> str: ...

    @property
    def format(self) -> str:
        """Format of its documents, used for :attr:`trivium.types.Hit.format`: ``web``, ``arxiv``, ``wiki``."""
        ...

    @property
    def key(self) -> str:
        """Cache key of everything except the question and the number of results that its answers depend on, such as its
        address.
        """
        ...

    @property
    def results(self) -> int:
        """Number of documents to request."""
        ...

    def search(self, query: str, k: int, seconds: float) -> list[LiveDocument]:
        """Return at most k documents, best first, within ``seconds``. Raises InputError when there is no answer;
        waiting must be cancellable with :mod:`trivium.common.stopping`.
        """
        ...
