"""A small collection, and live sources that answer by a script."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from trivium.common import stopping
from trivium.live.ask_sources import FoundDocument
from trivium.live.source import LiveDocument
from trivium.types import LiveOrigin

RETRIEVED = "2026-03-01T10:00:00Z"


@dataclass
class Scripted:
    """A source that gives these documents, raises this error, waits before it answers."""

    documents: Sequence[LiveDocument] = ()
    error: Exception | None = None
    wait: float = 0.0
    deaf: bool = False
    name: str = "scripted"
    format: str = "other"
    key: str = ""
    results: int = 10
    asked: list[str] = field(default_factory=list)

    def search(self, query: str, k: int, seconds: float) -> list[LiveDocument]:
        """See :class:`trivium.live.source.LiveSource`; ``deaf`` does not hear that it should stop."""
        self.asked.append(query)
        pause: Callable[[float], None] = time.sleep if self.deaf else stopping.sleep
        if self.wait:
            pause(self.wait)
        if self.error is not None:
            raise self.error
        return list(self.documents)


def document(title: str, text: str, address: str = "", **others: object) -> LiveDocument:
    """A document of the web."""
    name = title.lower().replace(" ", "-")
    return LiveDocument(title, address or f"https://www.example.org/{name}", text, **others)  # type: ignore[arg-type]


def found(*documents: LiveDocument) -> list[FoundDocument]:
    """Documents as they come from asking."""
    return [
        FoundDocument(one, "web", LiveOrigin("scripted", one.address, one.published, RETRIEVED))
        for one in documents
    ]
