"""A retriever for pipelines of Haystack.

>>> from trivium.integrations.haystack import TriviumRetriever
>>> retriever = TriviumRetriever("demo-store", top_k=3)
>>> retriever.run("Who discovered the two moons of Mars?")["documents"]      # doctest: +SKIP
"""

from __future__ import annotations

from threading import Lock
from typing import Any

from trivium.common import stopping
from trivium.engine import Engine
from trivium.errors import MissingExtraError
from trivium.serialization import hit_json

try:
    from haystack import Document, component
except ModuleNotFoundError as error:
    if error.name != "haystack":
        raise
    raise MissingExtraError("the Haystack retriever", "haystack") from None


@component
class TriviumRetriever:
    """Returns the passages found by :meth:`trivium.Engine.search` as documents, best first: the ``id`` is the uri, the
    ``meta`` all fields of a hit but its text.

    ``store`` is a folder, or the address of a Neo4j server; ``options`` are further options of the search, such as
    ``{"rerank": "bm25"}``. The store is opened by the first run and closed by :meth:`close`.
    """

    def __init__(self, store: str, top_k: int = 10, options: dict[str, Any] | None = None) -> None:
        self.store, self.top_k, self.options = store, top_k, options
        self._engine: Engine | None = None
        self._lock = Lock()
        component.set_output_types(self, documents=list[Document])

    def run(
        self, query: str, top_k: int | None = None, where: str | None = None
    ) -> dict[str, list[Document]]:
        """Search. ``where`` is a condition for this question. Raises the errors of the engine."""
        options = dict(self.options or {}) | ({} if where is None else {"where": where})
        hits = self._opened().search(query, self.top_k if top_k is None else top_k, **options)
        fields = [{**hit_json(hit)} for hit in hits]
        return {
            "documents": [
                Document(one["uri"], one.pop("text"), meta=one, score=one["score"]) for one in fields
            ]
        }

    async def run_async(
        self, query: str, top_k: int | None = None, where: str | None = None
    ) -> dict[str, list[Document]]:
        """Run :meth:`run` in a thread, without blocking the event loop."""
        return await stopping.in_thread(lambda: self.run(query, top_k, where))

    def close(self) -> None:
        """Close the store. It is reopened by the next run."""
        with self._lock:
            opened, self._engine = self._engine, None
        if opened is not None:
            opened.close()

    def _opened(self) -> Engine:
        with self._lock:
            self._engine = self._engine or Engine.open(self.store)
            return self._engine
