"""A retriever for LangChain.

>>> from trivium.integrations.langchain import TriviumRetriever
>>> with TriviumRetriever(store="demo-store", k=3) as retriever:      # doctest: +SKIP
...     for document in retriever.invoke("Who discovered the moons of Mars?"):
...         print(document.metadata["uri"], document.page_content)
"""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from trivium.engine import Engine
from trivium.errors import MissingExtraError
from trivium.graph.factory import is_address
from trivium.graph.schema import headings_of
from trivium.serialization import hit_json
from trivium.types import Hit

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import Field, field_validator, model_validator
except ModuleNotFoundError as error:
    if not (error.name or "").startswith("langchain_core"):
        raise
    raise MissingExtraError("the LangChain retriever", "langchain") from error


class _Handle:
    """An engine that is opened at first use, or one that was handed in. Copies of a retriever share it; pickled, it keeps
    only the address of the store."""

    def __init__(self, store: str, engine: Engine | None = None) -> None:
        self.store = store
        self._given = engine
        self._own: Engine | None = None
        self._lock = threading.Lock()

    def engine(self) -> Engine:
        if self._given is not None:
            return self._given
        with self._lock:
            if self._own is None:
                self._own = Engine.open(self.store)
            return self._own

    def close(self) -> None:
        with self._lock:
            own, self._own = self._own, None
        if own is not None:
            own.close()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[type[_Handle], tuple[str]]:
        return _Handle, (self.store,)


class TriviumRetriever(BaseRetriever):
    """The passages that :meth:`trivium.Engine.search` finds, as documents, best first.

    The store is opened when it is asked first and stays open until :meth:`close` (or the end of a ``with`` block); copies
    and configured variants share it. :meth:`from_engine` takes an engine that is open already, and leaves it open. A
    pickled retriever carries the address of its store and opens it where it is used. What goes wrong is raised as the
    engine raises it: InputError, FusionError, StoreError.

    A document's ``id`` is the passage's uri, its text the passage. Its ``metadata`` are the fields of a
    :class:`~trivium.types.Hit` (``uri``, ``page``, ``section``, ``kind``, ``start``, ``end``, ``score``, ``rank``,
    ``contributions``, ``provenance``, ``baseline``, ``probability``, ``document``, ``pages``, ``format``,
    ``metadata``), ``headings`` (title and headings, to be read) and ``source`` (the uri once more, where chains that
    name their sources look for it).
    """

    store: str
    """Folder of the store, or the address of a Neo4j server."""
    k: int = Field(default=10, ge=1)
    """How many passages; ``invoke(question, k=3)`` asks for another number once."""
    retrievers: list[str] | None = None
    """Views to ask; None asks all eight."""
    fusion: str | None = None
    """How they are fused: a name, or the folder of a trained fusion."""
    where: str | None = None
    """A condition that passages must fulfil, such as ``"year >= 2020"``; ``invoke(question, where=...)`` asks with
    another one once."""
    explain: bool = True
    """Fill ``contributions`` (some milliseconds)."""
    handle: _Handle | None = Field(default=None, exclude=True, repr=False)
    """Opens and closes the store; made by the retriever itself."""

    @classmethod
    def from_engine(
        cls,
        engine: Engine,
        *,
        k: int = 10,
        retrievers: list[str] | None = None,
        fusion: str | None = None,
        explain: bool = True,
        where: str | None = None,
    ) -> Self:
        """A retriever on an engine that is open, and stays so when the retriever is closed."""
        store = _address(engine.info().location)
        return cls(
            store=store,
            k=k,
            retrievers=retrievers,
            fusion=fusion,
            explain=explain,
            where=where,
            handle=_Handle(store, engine),
        )

    def close(self) -> None:
        """Let go of the store, unless it was opened by somebody else. Asked again, the retriever opens it again."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - the library's signature
        k: int | None = None,
        where: str | None = None,
    ) -> list[Document]:
        return self._find(query, k, where)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002 - the library's signature
        k: int | None = None,
        where: str | None = None,
    ) -> list[Document]:
        return await asyncio.to_thread(self._find, query, k, where)

    def _find(self, query: str, k: int | None, where: str | None) -> list[Document]:
        hits = self._opened.engine().search(
            query,
            self.k if k is None else k,
            self.retrievers,
            self.fusion,
            explain=self.explain,
            where=self.where if where is None else where,
        )
        return [document(hit) for hit in hits]

    @field_validator("store", mode="before")
    @classmethod
    def _settled(cls, store: object) -> object:
        """The same folder also from another working directory."""
        return _address(store) if isinstance(store, str | Path) else store

    @model_validator(mode="after")
    def _with_handle(self) -> Self:
        if self.handle is None or self.handle.store != self.store:
            self.handle = _Handle(self.store)
        return self

    @property
    def _opened(self) -> _Handle:
        assert self.handle is not None
        return self.handle


def document(hit: Hit) -> Document:
    """A hit as LangChain knows documents."""
    fields: dict[str, Any] = {**hit_json(hit)}
    del fields["text"]
    fields |= {"headings": headings_of(hit.section), "source": hit.uri}
    return Document(id=hit.uri, page_content=hit.text, metadata=fields)


def _address(store: str | Path) -> str:
    return str(store) if is_address(store) else str(Path(store).absolute())
