"""Passages as LangChain's documents."""

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
from trivium.integrations.langchain.opening import OnStore
from trivium.serialization import hit_json
from trivium.types import Hit, SourceOutcome

_ONCE = ("k", "where", "settings", "sources", "rerank", "cut")
"""What a single call may ask for."""


class TriviumRetriever(OnStore, BaseRetriever):
    """The passages that :meth:`trivium.Engine.search` finds, as documents, best first.

    A single call may ask for another ``k``, ``where``, ``settings``, ``sources``, ``rerank`` or ``cut``:
    ``invoke(question, k=3)``. Awaited and cancelled, it hangs up on the live sources.

    A document's ``id`` is the passage's uri, its text the passage. Its ``metadata`` are the fields of a
    :class:`~trivium.types.Hit` (``uri``, ``page``, ``section``, ``kind``, ``start``, ``end``, ``score``, ``rank``,
    ``contributions``, ``provenance``, ``baseline``, ``probability``, ``document``, ``pages``, ``format``,
    ``metadata``, ``live``, ``rerank_score``), ``headings`` (title and headings, to be read) and ``source`` (where chains
    that name their sources look for it: the uri once more, of a passage that is not of the collection its address).
    """

    k: int = Field(default=10, ge=1)
    """How many passages."""
    explain: bool = True
    """Fill ``contributions`` (some milliseconds)."""
    on_sources: Callable[[Sequence[SourceOutcome]], None] | None = Field(
        default=None, exclude=True, repr=False
    )
    """Is told what came of asking the live sources, once a question: one that fails costs its own passages only."""

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
    """A hit as LangChain knows documents."""
    fields: dict[str, Any] = {**hit_json(hit)}
    del fields["text"]
    source = hit.uri if hit.live is None else hit.live.address
    fields |= {"headings": headings_of(hit.section), "source": source}
    return Document(id=hit.uri, page_content=hit.text, metadata=fields)
