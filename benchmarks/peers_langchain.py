"""``langchain-neo4j`` as documented: a ``Neo4jVector`` on existing indexes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from langchain_core.embeddings import Embeddings
from langchain_neo4j import Neo4jGraph, Neo4jVector
from langchain_neo4j.vectorstores.neo4j_vector import remove_lucene_chars
from neo4j.exceptions import ClientError
from neo4j_graphrag.types import SearchType
from peers_race import RefusedError, System

from trivium.embedding.embedder import Embedder
from trivium.evaluation.report import Ranking
from trivium.graph.neo4j.address import Address

__all__ = ["langchain_systems", "remove_lucene_chars"]

# Only what a hit needs; the default returns every property except the vector.
_RETURN = "RETURN node.text AS text, score, {uri: node.uri} AS metadata"


class QuestionEmbeddings(Embeddings):
    """Adapter of an embedder of Trivium."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._embedder.embed(texts).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = self._embedder.embed_query(text).tolist()
        return vector


@contextmanager
def langchain_systems(
    address: Address, vectors: str, words: str, embedder: Embedder, k: int, ratio: int
) -> Iterator[list[System]]:
    """Yield vector and hybrid search over the named indexes."""
    with Neo4jGraph(
        address.uri, address.user, address.password, database=address.database, refresh_schema=False
    ) as graph:

        def system(kind: SearchType) -> System:
            store = Neo4jVector.from_existing_index(
                QuestionEmbeddings(embedder),
                vectors,
                kind,
                keyword_index_name=words,
                retrieval_query=_RETURN,
                graph=graph,
            )

            def ask(text: str) -> Ranking:
                try:
                    found = store.similarity_search_with_score(text, k, effective_search_ratio=ratio)
                except ClientError as error:
                    raise RefusedError(str(error)) from error
                return [(document.metadata["uri"], score) for document, score in found]

            return System(f"langchain-neo4j Neo4jVector, {kind.value}", ask)

        yield [system(SearchType.VECTOR), system(SearchType.HYBRID)]
