"""docs/howto/your-own-data.md: its queries and programs run as they stand, on the sample with data of somebody else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, LiteralString

import pytest
from neo4j import Driver, GraphDatabase

from tests.code_blocks import Block, blocks
from tests.fakes.openai_server import OpenAIServer, chat
from tests.neo4j_servers import Server, log_in
from tests.sample_graph import fill_with_sample
from trivium.graph.neo4j import Neo4jStore

PAGE = "docs/howto/your-own-data.md"
ALL: LiteralString = """
MATCH (n) RETURN elementId(n) AS one, labels(n) AS kinds, properties(n) AS of ORDER BY one
UNION ALL MATCH (a)-[r]->(b)
RETURN elementId(r) AS one, [type(r)] AS kinds, {of: properties(r), start: elementId(a), end: elementId(b)} AS of
ORDER BY one
"""


def _blocks(language: str) -> list[Block]:
    return [block for block in blocks(PAGE) if block.language == language]


@pytest.fixture(scope="module")
def driver(neo4j_2026: Server) -> Iterator[Driver]:
    """Of a server that holds the sample, with typed relationships as long as these tests run."""
    fill_with_sample(neo4j_2026)
    with pytest.MonkeyPatch.context() as patch:
        log_in(patch, neo4j_2026)
        _relations(neo4j_2026, "upper")
        with GraphDatabase.driver(
            neo4j_2026.bolt, auth=neo4j_2026.auth, notifications_min_severity="OFF"
        ) as driver:
            yield driver
            driver.execute_query("DROP INDEX passages IF EXISTS")
            driver.execute_query("MATCH (person:Person) DETACH DELETE person")
        _relations(neo4j_2026, "none")


def _relations(server: Server, style: str) -> None:
    with Neo4jStore.open(f"{server.bolt}?relations={style}") as store:
        store.refresh()


def test_the_queries_answer_and_leave_the_store_as_it_was(driver: Driver) -> None:
    """In the order of the page: the last of the examples takes away what the first has made."""
    before = driver.execute_query(ALL).records
    found = [
        [record.data() for record in driver.execute_query(block.text).records]  # type: ignore[arg-type]
        for block in _blocks("cypher")
    ]
    people, passages, similar, kinds, discovered, gone, typed = found
    names = {"Asaph Hall", "Christiaan Huygens"}
    assert {(row["person"], row["title"]) for row in people} == {(name, name) for name in names}
    assert {row["person"] for row in passages} == names and all(row["text"] for row in passages)
    assert ("Asaph Hall", "Phobos (moon)") in {(row["person"], row["page"]) for row in passages}
    assert similar and {row["person"] for row in similar} <= names
    assert kinds[0] == {"relation": "discovered by", "cosine": 1.0} and len(kinds) == 5
    moons = {row["person"]: set(row["discovered"]) for row in discovered}
    assert moons["Asaph Hall"] == {"Phobos (moon)", "Deimos (moon)"}
    assert gone == []
    assert {row["who"]: set(row["discovered"]) for row in typed}["Asaph Hall"] == moons["Asaph Hall"]
    assert driver.execute_query(ALL).records == before


@pytest.mark.filterwarnings("ignore:The default returned .id. field:DeprecationWarning")
def test_the_retrievers_of_other_libraries_search_a_store(
    driver: Driver, neo4j_2026: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """neo4j-graphrag's three, langchain-neo4j's, and an agent whose model writes a query; one that writes is refused."""
    errors: Any = pytest.importorskip("neo4j_graphrag.exceptions")
    pytest.importorskip("langchain_neo4j")
    found: dict[str, Any] = {}
    with OpenAIServer() as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        model.script.append(
            chat(
                "MATCH (:TriviumEntity {name: 'asaph hall'})<-[:semantic_rel {type: 'discovered by'}]-(x)"
                " RETURN x.title AS title"
            )
        )
        for block in _blocks("python"):
            exec(compile(block.text.replace("bolt://localhost:7687", neo4j_2026.bolt), PAGE, "exec"), found)
        (request,) = model.requests
        assert found["graph"].strip() in request.body["messages"][-1]["content"]
        model.script.append(chat("MATCH (n:TriviumChunk) DETACH DELETE n"))
        with pytest.raises(errors.Text2CypherRetrievalError):
            found["agent"].search(query_text="Remove everything.")
    found["driver"].close()
    assert any("ocean" in item.content for item in found["found"].items) and len(found["found"].items) == 5
    assert "embedding" not in found["found"].items[0].content
    assert "page='" in found["pages"].items[0].content
    assert any("ocean" in item.content for item in found["hybrid"].items)
    assert any("ocean" in document.page_content for document in found["documents"])
    assert {"title", "uri"} <= found["documents"][0].metadata.keys()
    assert {item.content for item in found["answer"].items} == {
        f"<Record title='{moon}'>" for moon in ("Phobos (moon)", "Deimos (moon)")
    }
