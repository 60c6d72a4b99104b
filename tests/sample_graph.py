"""The sample encyclopaedia in a server, whole or a part of it."""

from __future__ import annotations

import pytest
from neo4j import Driver, GraphDatabase

from tests.built_stores import vectors_of_sample
from tests.neo4j_servers import Server, log_in
from tests.neo4j_wipe import wipe
from trivium.engine import Engine
from trivium.graph.neo4j.cypher.schema import VECTOR_INDEXES
from trivium.sample import pages_folder
from trivium.testing import HashEmbedder

DIMENSION = 384
PAGES_OF_A_PART = 8


def fill_with_sample(server: Server) -> None:
    """Make the database the sample's store, unless it is that already: other tests use the server, too."""
    with GraphDatabase.driver(server.bolt, auth=server.auth, notifications_min_severity="OFF") as driver:
        if _is_sample(driver):
            return
    wipe(server)
    with pytest.MonkeyPatch.context() as patch:
        log_in(patch, server)
        with Engine.create(server.bolt, "minilm") as engine:
            engine.build([pages_folder()], embed=False)
            texts = list(engine.store.pending_texts())
            engine.store.put_vectors(texts, vectors_of_sample(texts))
            engine.store.refresh()


def fill_with_a_part(server: Server) -> None:
    """Make the database a store of the first pages of the sample, with toy vectors as long, unless it holds the
    sample: enough for the server's statistics, and a fraction of the work."""
    with GraphDatabase.driver(server.bolt, auth=server.auth, notifications_min_severity="OFF") as driver:
        if _is_sample(driver):
            return
    wipe(server)
    with pytest.MonkeyPatch.context() as patch:
        log_in(patch, server)
        with Engine.create(server.bolt, HashEmbedder(DIMENSION)) as engine:
            engine.build(sorted(pages_folder().glob("*.html"))[:PAGES_OF_A_PART])
            engine.store.refresh()


def _is_sample(driver: Driver) -> bool:
    counted, _, _ = driver.execute_query(
        "MATCH (page:Page) OPTIONAL MATCH (page)<-[:is_chunk_of]-(chunk:Chunk)"
        " RETURN count(DISTINCT page) AS pages, count(chunk) > 0 AND count(chunk) = count(chunk.embedding) AS embedded"
    )
    indexed, _, _ = driver.execute_query("SHOW VECTOR INDEXES YIELD name RETURN name")
    pages = len(list(pages_folder().glob("*.html")))
    return (counted[0]["pages"], counted[0]["embedded"]) == (pages, True) and len(indexed) == len(
        VECTOR_INDEXES
    )
