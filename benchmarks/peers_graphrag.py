"""``neo4j-graphrag`` as documented: its retrievers over a vector index and its own full-text index."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from neo4j import Driver, Record
from neo4j.exceptions import ClientError
from neo4j_graphrag.embeddings.base import Embedder as GraphRagEmbedder
from neo4j_graphrag.exceptions import SearchQueryParseError
from neo4j_graphrag.indexes import create_fulltext_index, drop_index_if_exists
from neo4j_graphrag.retrievers import HybridRetriever, VectorRetriever
from neo4j_graphrag.types import HybridSearchRanker, RetrieverResult, RetrieverResultItem
from peers_langchain import remove_lucene_chars
from peers_race import RefusedError, System

from trivium.embedding.embedder import Embedder
from trivium.evaluation.report import Ranking
from trivium.graph.schema import Label

TEXT_INDEX = "peers_chunk_text"
ALPHA = 0.7
"""Weight of the vector score in the linear combination, which has no default. Not 0.5: ``UNION`` removes one of two
equal rows, so that equal weights halve the score of a chunk that is first in both lists.
"""
_PROPERTIES = ["uri", "text"]


class QuestionEmbedder(GraphRagEmbedder):
    """Adapter of an embedder of Trivium."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__()
        self._embedder = embedder

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = self._embedder.embed_query(text).tolist()
        return vector


@contextmanager
def text_index(driver: Driver, database: str | None) -> Iterator[str]:
    """Create a full-text index over the text of chunks with the library and yield its name. It is dropped at the end."""
    # The label of the store's vector index: langchain-neo4j refuses two indexes of different labels.
    create_fulltext_index(driver, TEXT_INDEX, f"Trivium{Label.CHUNK}", ["text"], neo4j_database=database)
    try:
        driver.execute_query("CALL db.awaitIndex($name, 300)", name=TEXT_INDEX, database_=database)
        yield TEXT_INDEX
    finally:
        drop_index_if_exists(driver, TEXT_INDEX, neo4j_database=database)


def graphrag_systems(
    driver: Driver, database: str | None, vectors: str, words: str, embedder: Embedder, k: int, ratio: int
) -> list[System]:
    """Return vector and hybrid search over the named indexes, the latter with both of its rankers."""
    own = QuestionEmbedder(embedder)
    vector = VectorRetriever(driver, vectors, own, _PROPERTIES, _item, database)
    hybrid = HybridRetriever(driver, vectors, words, own, _PROPERTIES, _item, database)

    def by_vector(text: str) -> Ranking:
        return _ranking(vector.search(query_text=text, top_k=k, effective_search_ratio=ratio))

    def by_both(text: str, ranker: HybridSearchRanker, alpha: float | None) -> Ranking:
        # The raw question would be parsed as a Lucene query, in which "Mars?" matches five letters and never Mars.
        try:
            found = hybrid.search(
                query_text=remove_lucene_chars(text),
                query_vector=own.embed_query(text),
                top_k=k,
                effective_search_ratio=ratio,
                ranker=ranker,
                alpha=alpha,
            )
        except (SearchQueryParseError, ClientError) as error:
            raise RefusedError(str(error)) from error
        return _ranking(found)

    return [
        System("neo4j-graphrag VectorRetriever", by_vector),
        System("neo4j-graphrag HybridRetriever", lambda text: by_both(text, HybridSearchRanker.NAIVE, None)),
        System(
            f"neo4j-graphrag HybridRetriever, linear {ALPHA}",
            lambda text: by_both(text, HybridSearchRanker.LINEAR, ALPHA),
        ),
    ]


def _item(record: Record) -> RetrieverResultItem:
    node = record["node"]
    return RetrieverResultItem(content=node["text"], metadata={"uri": node["uri"], "score": record["score"]})


def _ranking(found: RetrieverResult) -> Ranking:
    metadata = [item.metadata or {} for item in found.items]
    return [(about["uri"], about["score"]) for about in metadata]
