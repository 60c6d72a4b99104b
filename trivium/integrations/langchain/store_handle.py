"""Shared base of the chain steps: a store that is opened on first use."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from trivium.common.closing import Closing
from trivium.engine import Engine
from trivium.graph.open_store import is_address


class Handle:
    """An engine that is opened on first use, or an existing one. Copies of a step share it. When pickled, only the
    address of the store is kept.
    """

    def __init__(self, store: str, engine: Engine | None = None) -> None:
        self.store = store
        self._given = engine
        self._own: Engine | None = None
        self._lock = threading.Lock()

    def engine(self) -> Engine:
        """Return the engine, opening it if needed."""
        if self._given is not None:
            return self._given
        with self._lock:
            if self._own is None:
                self._own = Engine.open(self.store)
            return self._own

    def close(self) -> None:
        """Close the engine if it was opened here."""
        with self._lock:
            own, self._own = self._own, None
        if own is not None:
            own.close()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[type[Handle], tuple[str]]:
        return Handle, (self.store,)


class OnStore(BaseModel, Closing):
    """A step of a chain on a store.

    The store is opened on first use and stays open until :meth:`close` (or the end of a ``with`` block); copies and
    configured variants share it. :meth:`from_engine` uses an engine that is already open, and does not close it. A
    pickled step contains only the address of its store. Raises the errors of the engine: InputError, FusionError,
    StoreError.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    store: str
    """Folder of the store, or the address of a Neo4j server."""
    retrievers: list[str] | None = None
    """Retrievers to ask; None asks all eight."""
    fusion: str | None = None
    """How their scores are fused: a name, or the folder of a trained fusion."""
    settings: dict[str, Any] | None = None
    """Retriever settings by dotted name, such as ``{"walk.damping": 0.4}``."""
    where: str | None = None
    """A condition that passages must match, such as ``"year >= 2020"``."""
    sources: list[str] | None = None
    """Live sources to ask besides the store (:data:`trivium.live.registry.SOURCES`). The question is sent to them."""
    rerank: str | None = None
    """Reranker of the first passages, such as ``weighted:0.7`` (:mod:`trivium.rerank.registry`)."""
    cut: str | None = None
    """Rule that cuts the passages by their scores, such as ``near:2-12`` (:class:`trivium.search.cut.Cut`)."""
    handle: Handle | None = Field(default=None, exclude=True, repr=False)
    """Opens and closes the store. Created by the step itself."""

    @classmethod
    def from_engine(cls, engine: Engine, **fields: Any) -> Self:
        """Create a step on an open engine, which remains open when the step is closed. ``fields`` are those of the
        class.
        """
        store = _address(engine.info().location)
        return cls(store=store, handle=Handle(store, engine), **fields)

    def close(self) -> None:
        """Close the store unless it was opened elsewhere. It is reopened on the next use."""
        self._opened.close()

    @field_validator("store", mode="before")
    @classmethod
    def _settled(cls, store: object) -> object:
        """Make the path absolute, so that it does not depend on the working directory."""
        return _address(store) if isinstance(store, str | Path) else store

    @model_validator(mode="after")
    def _with_handle(self) -> Self:
        if self.handle is None or self.handle.store != self.store:
            self.handle = Handle(self.store)
        return self

    @property
    def _opened(self) -> Handle:
        assert self.handle is not None
        return self.handle


def _address(store: str | Path) -> str:
    return str(store) if is_address(store) else str(Path(store).absolute())
