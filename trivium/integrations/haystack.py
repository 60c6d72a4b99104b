"""A retriever for pipelines of Haystack."""

from __future__ import annotations

from typing import Any

from trivium.common import stopping
from trivium.engine import Engine
from trivium.errors import MissingExtraError
from trivium.serialization import hit_json

try:
    from haystack import Document, component
except ModuleNotFoundError:
    raise MissingExtraError("the Haystack retriever", "haystack") from None


@component
class TriviumRetriever:
    """Returns the passages found by :meth:`trivium.Engine.search` as documents whose ``meta`` has the fields of a hit.
    ``store`` is a folder or an address; ``options`` are further ones of the search. Raises the errors of the engine.
    """

    def __init__(self, store: str, top_k: int = 10, options: dict[str, Any] | None = None) -> None:
        self.store, self.top_k, self.options = store, top_k, options
        self._engine = Engine.open(store)
        component.set_output_types(self, documents=list[Document])

    def run(self, query: str, top_k: int | None = None, where: str | None = None) -> dict[str, Any]:
        """Search, with a number and a condition of this question if they are given."""
        options = {**(self.options or {}), **({} if where is None else {"where": where})}
        hits = self._engine.search(query, self.top_k if top_k is None else top_k, **options)
        found = [Document(hit.uri, hit.text, meta={**hit_json(hit)}, score=hit.score) for hit in hits]
        return {"documents": found}

    async def run_async(
        self, query: str, top_k: int | None = None, where: str | None = None
    ) -> dict[str, Any]:
        """Run :meth:`run` in a thread, without blocking the event loop."""
        return await stopping.in_thread(lambda: self.run(query, top_k, where))

    def close(self) -> None:
        """Close the store."""
        self._engine.close()
