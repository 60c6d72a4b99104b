"""Entities over HTTP: those that most passages mention, and the card of one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from tests.server.world import build_named_store, serving

MARY, CHARLES = "Mary Somerville", "Charles Babbage"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with serving(build_named_store(tmp_path_factory.mktemp("named"))) as client:
        yield client


def test_the_entities_of_most_passages_are_listed_with_the_passages_they_share(client: TestClient) -> None:
    listed = client.get("/entities").json()
    assert listed["entities"][:2] == [
        {"uri": MARY, "name": MARY, "kind": "person", "page": False, "passages": 4, "documents": 3},
        {"uri": CHARLES, "name": CHARLES, "kind": "person", "page": False, "passages": 2, "documents": 2},
    ]
    assert listed["kinds"]["person"] == 2
    assert listed["shared"] == [{"source": MARY, "target": CHARLES, "passages": 2}]
    assert [one["uri"] for one in client.get("/entities?limit=1").json()["entities"]] == [MARY]
    chosen = client.get("/entities?kind=place&kind=person").json()
    assert [one["uri"] for one in chosen["entities"]] == [MARY, CHARLES]
    assert client.get("/entities?kind=moon").json()["entities"] == []


def test_the_card_of_an_entity_says_what_is_said_of_it_and_where(client: TestClient) -> None:
    card = client.get("/entities/mary somerville/neighbours").json()
    assert (card["entity"], card["kind"], card["mentioned"], card["more"]) == (MARY, "person", 4, False)
    assert "Mrs Somerville" in card["forms"] or "Somerville" in card["forms"]
    said = {one["sentence"]: one for one in card["passages"]}
    budget = said["After lunch Mrs Somerville asked for two more telescopes."]
    assert budget == {
        "uri": "Minutes of May#Budget#chunk-1",
        "document": budget["document"],
        "section": "Minutes of May#Budget",
        "pages": [],
        "sentence": budget["sentence"],
    }
    assert budget["document"].endswith("minutes.md")
    assert {"id": MARY, "kind": "entity", "label": MARY, "type": "person"} in card["graph"]["nodes"]


def test_a_relation_has_the_sentence_that_says_it(client: TestClient) -> None:
    (relation,) = client.get("/entities/Quarry Books/neighbours").json()["relations"]
    assert client.get(f"/entities/{MARY}/neighbours").json()["relations"] == [relation]
    said = relation.pop("said")
    assert relation == {"source": MARY, "type": "chair of", "target": "Quarry Books"}
    assert said["sentence"] == "In the end, Mary Somerville was the chair of Quarry Books."
    assert (said["uri"], said["section"]) == ("Minutes of May#Budget#chunk-1", "Minutes of May#Budget")


def test_the_way_to_a_passage_of_the_second_hop_leads_over_who_is_named_in_both(client: TestClient) -> None:
    question = {"question": "Which telescopes does the one want whom Charles Babbage shows the engine?"}
    hits = client.post("/search", json=question).json()["hits"]
    budget = next(hit for hit in hits if hit["section"] == "Minutes of May#Budget")
    graph = client.post("/explain", json={**question, "uri": budget["uri"]}).json()["graph"]
    assert {node["id"]: node["type"] for node in graph["nodes"] if node["kind"] == "entity"} == {
        CHARLES: "person",
        MARY: "person",
    }
    ways = {(edge["source"], edge["type"], edge["target"]) for edge in graph["edges"]}
    assert (f"?{question['question']}", "names", CHARLES) in ways
    assert (MARY, "cites", budget["uri"]) in ways
