"""What a live source is, and what it gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class LivePassage:
    """A passage of a page that was read: the ``headings`` above it without the title, its ``text`` and its ``kind``
    (:class:`trivium.types.ChunkKind`)."""

    headings: tuple[str, ...]
    text: str
    kind: str = "paragraph"


@dataclass(frozen=True, slots=True)
class LiveDocument:
    """A document that a source found. ``text`` is what the source quotes of it, or all of it; ``passages`` are those of
    the page where it was read, in order. ``published`` is ISO 8601 where the source says it so, None where it says
    nothing. ``whole``: the text is not to be cut. ``names`` are others under which a collection may hold the document
    (``wiki:Mars``)."""

    title: str
    address: str
    text: str
    published: str | None = None
    whole: bool = False
    passages: tuple[LivePassage, ...] = ()
    names: tuple[str, ...] = ()


class LiveSource(Protocol):
    """Finds documents for a question outside of the collection."""

    @property
    def name(self) -> str: ...

    @property
    def format(self) -> str:
        """What its documents are called as :attr:`trivium.types.Hit.format`: ``web``, ``arxiv``, ``wiki``."""
        ...

    @property
    def key(self) -> str:
        """What its answers depend on beside the question and their number, such as its address: what is cached of another
        one is not used."""
        ...

    @property
    def results(self) -> int:
        """How many documents it is asked for."""
        ...

    def search(self, query: str, k: int, seconds: float) -> list[LiveDocument]:
        """At most k documents, best first, within ``seconds``. Raises InputError where there is no answer; long waits end
        with :mod:`trivium.common.stopping`."""
        ...
