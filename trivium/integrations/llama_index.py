"""A retriever for LlamaIndex."""

from __future__ import annotations

from typing import Any

from trivium.common import stopping
from trivium.engine import Engine
from trivium.errors import MissingExtraError
from trivium.serialization import hit_json
from trivium.types import Hit

try:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ModuleNotFoundError:
    raise MissingExtraError("the LlamaIndex retriever", "llamaindex") from None

READ = ("page", "section")
"""The metadata that a model reads beside the text of a passage."""


class TriviumRetriever(BaseRetriever):  # type: ignore[misc]
    """Returns the passages found by :meth:`trivium.Engine.search` as nodes whose metadata has the other fields of a hit,
    of which a model reads page and section. ``store`` is a folder or an address; ``options`` are further ones of the
    search. Raises the errors of the engine.
    """

    def __init__(self, store: str, similarity_top_k: int = 10, options: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.similarity_top_k, self.options = similarity_top_k, options
        self._engine = Engine.open(store)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = self._engine.search(query_bundle.query_str, self.similarity_top_k, **(self.options or {}))
        return [NodeWithScore(node=_node(hit), score=hit.score) for hit in hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await stopping.in_thread(lambda: self._retrieve(query_bundle))

    def close(self) -> None:
        """Close the store."""
        self._engine.close()


def _node(hit: Hit) -> TextNode:
    fields = {name: value for name, value in hit_json(hit).items() if name != "text"}
    unread = [name for name in fields if name not in READ]
    return TextNode(
        id_=hit.uri,
        text=hit.text,
        metadata=fields,
        excluded_llm_metadata_keys=unread,
        excluded_embed_metadata_keys=unread,
    )
