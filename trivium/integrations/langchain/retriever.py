"""Passages as LangChain documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from trivium.common import stopping
from trivium.errors import InputError
from trivium.graph.schema import headings_of
from trivium.integrations.langchain.store_handle import OnStore
from trivium.serialization import hit_json
from trivium.types import Hit, SourceOutcome

_ONCE = ("k", "where", "settings", "sources", "rerank", "cut")
"""Options that a single call may override."""


class TriviumRetriever(OnStore, BaseRetriever):
    """Returns the passages found by :meth:`trivium.Engine.search` as documents, best first.

    A single call may override ``k``, ``where``, ``settings``, ``sources``, ``rerank`` or ``cut``: ``invoke(question,
    k=3)``. Cancelling an awaited call disconnects from live sources.

    The ``id`` of a document is the uri of the passage. Its ``metadata`` contains the fields of a
    :class:`~trivium.types.Hit` (``uri``, ``page``, ``section``, ``kind``, ``start``, ``end``, ``score``, ``rank``,
    ``contributions``, ``provenance``, ``baseline``, ``probability``, ``document``, ``pages``, ``format``, ``metadata``,
    ``live``, ``rerank_score``, ``named``), ``headings`` (title and headings, for display) and ``source`` (used by chains
    that cite their sources: the uri, or the address of a passage from a live source).
    """

    k: int = Field(default=10, ge=1)
    """Number of passages."""
    explain: bool = True
    """Whether to compute ``contributions`` (takes some milliseconds)."""
    on_sources: Callable[[Sequence[SourceOutcome]], None] | None = Field(
        default=None, exclude=True, repr=False
    )
    """Called once per question with the outcomes of the live sources. A source that fails only loses its own passages.
    """

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - the library's signature
        **once: Any,
    ) -> list[Document]:
        return self._find(query, once)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002 - the library's signature
        **once: Any,
    ) -> list[Document]:
        return await stopping.in_thread(lambda: self._find(query, once))

    def _find(self, query: str, once: dict[str, Any]) -> list[Document]:
        unknown = sorted(once.keys() - set(_ONCE))
        if unknown:
            raise InputError(f"unknown option {', '.join(unknown)}: a call takes {', '.join(_ONCE)}")
        given = {name: getattr(self, name) for name in _ONCE} | {
            name: value for name, value in once.items() if value is not None
        }
        hits = self._opened.engine().search(
            query,
            retrievers=self.retrievers,
            fusion=self.fusion,
            explain=self.explain,
            on_sources=self.on_sources,
            **given,
        )
        return [document(hit) for hit in hits]


def document(hit: Hit) -> Document:
    """Convert a hit to a LangChain document."""
    fields: dict[str, Any] = {**hit_json(hit)}
    del fields["text"]
    source = hit.uri if hit.live is None else hit.live.address
    fields |= {"headings": headings_of(hit.section), "source": source}
    return Document(id=hit.uri, page_content=hit.text, metadata=fields)
