"""What the steps of a chain share: a store that is opened when it is first asked."""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from trivium.engine import Engine
from trivium.graph.factory import is_address


class Handle:
    """An engine that is opened at first use, or one that was handed in. Copies of a step share it; pickled, it keeps only
    the address of the store."""

    def __init__(self, store: str, engine: Engine | None = None) -> None:
        self.store = store
        self._given = engine
        self._own: Engine | None = None
        self._lock = threading.Lock()

    def engine(self) -> Engine:
        """The engine, opened where it is not."""
        if self._given is not None:
            return self._given
        with self._lock:
            if self._own is None:
                self._own = Engine.open(self.store)
            return self._own

    def close(self) -> None:
        """Let go of what was opened here."""
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


class OnStore(BaseModel):
    """A step of a chain on a store. The store is opened when it is asked first and stays open until :meth:`close` (or the
    end of a ``with`` block); copies and configured variants share it. :meth:`from_engine` takes an engine that is open
    already, and leaves it open. A pickled step carries the address of its store and opens it where it is used. What goes
    wrong is raised as the engine raises it: InputError, FusionError, StoreError."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    store: str
    """Folder of the store, or the address of a Neo4j server."""
    retrievers: list[str] | None = None
    """Views to ask; None asks all eight."""
    fusion: str | None = None
    """How they are fused: a name, or the folder of a trained fusion."""
    settings: dict[str, Any] | None = None
    """Values of retrievers by dotted name, such as ``{"walk.damping": 0.4}``."""
    where: str | None = None
    """A condition that passages must fulfil, such as ``"year >= 2020"``."""
    sources: list[str] | None = None
    """Live sources to ask beside the store (:data:`trivium.live.registry.SOURCES`). They are told the question."""
    rerank: str | None = None
    """What puts the first passages in order anew, such as ``weighted:0.7`` (:mod:`trivium.rerank.registry`)."""
    cut: str | None = None
    """Where passages end by their scores, such as ``near:2-12`` (:class:`trivium.search.cut.Cut`)."""
    handle: Handle | None = Field(default=None, exclude=True, repr=False)
    """Opens and closes the store; made by the step itself."""

    @classmethod
    def from_engine(cls, engine: Engine, **fields: Any) -> Self:
        """A step on an engine that is open, and stays so when the step is closed; ``fields`` as for the class."""
        store = _address(engine.info().location)
        return cls(store=store, handle=Handle(store, engine), **fields)

    def close(self) -> None:
        """Let go of the store, unless it was opened by somebody else. Asked again, the step opens it again."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @field_validator("store", mode="before")
    @classmethod
    def _settled(cls, store: object) -> object:
        """The same folder also from another working directory."""
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
