"""Trivium: a knowledge graph from encyclopedic documents, and retrieval that fuses many views of relevance."""

from typing import TYPE_CHECKING, Any

from trivium.errors import TriviumError
from trivium.types import Hit, Page, Question

if TYPE_CHECKING:
    from trivium.engine import Engine

__version__ = "0.1.0"

__all__ = ["Engine", "Hit", "Page", "Question", "TriviumError", "__version__"]


def __getattr__(name: str) -> Any:
    # Parser workers import the package too and need neither store nor model: the engine waits for its first use.
    if name == "Engine":
        from trivium.engine import Engine

        return Engine
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
