"""Reranking and cutting over HTTP: as the engine does, by names that cost nothing or that the server was told of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.fakes.cross_encoder_files import write_cross_encoder
from tests.server.world import QUESTION, serving
from trivium.engine import Engine
from trivium.serialization import hit_json
from trivium.server.settings import ServerSettings


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"cross-encoder:{write_cross_encoder(tmp_path_factory.mktemp('model'))}"


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One whose file cannot be loaded, which shows when it is asked."""
    folder = write_cross_encoder(tmp_path_factory.mktemp("broken"))
    (folder / "model.onnx").write_bytes(b"no model")
    return f"cross-encoder:{folder}"


@pytest.fixture(scope="module")
def client(store: Path, encoder: str, broken: str) -> Iterator[TestClient]:
    with serving(store, ServerSettings(rerankers=(encoder, broken)), extracts=True) as client:
        yield client


def _post(client: TestClient, path: str, **given: Any) -> dict[str, Any]:
    answer = client.post(path, json={"question": QUESTION, **given})
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


@pytest.mark.parametrize(
    "options",
    [
        {"rerank": "bm25"},
        {"rerank": "weighted:0.7", "retrievers": ["vector"]},
        {"rerank": "bm25", "cut": "gap:1-3"},
        {"cut": "probability:0.01"},
        {"retrievers": ["vector", "rerank:bm25"]},
    ],
    ids=str,
)
def test_hits_are_those_of_the_engine(client: TestClient, store: Path, options: dict[str, Any]) -> None:
    found = _post(client, "/search", k=3, **options)
    with Engine.open(store) as engine:
        hits = engine.search(QUESTION, 3, **options)
    assert found == {"hits": [hit_json(hit) for hit in hits], "warnings": [], "sources": []}


def test_a_cross_encoder_that_the_server_was_told_of(client: TestClient, encoder: str) -> None:
    """The passage with most of its words, moon 3, mars 2, hall .5, dull -1; each under its title."""
    hits = _post(client, "/search", k=4, rerank=encoder)["hits"]
    scores = [hit["rerank_score"] for hit in hits]
    assert scores == sorted(scores, reverse=True)
    # Questions weigh ten times themselves: "Mars" 20. Phobos and Deimos: moon and mars. Mars: its title and text.
    assert {hit["page"]: hit["rerank_score"] for hit in hits} == {
        "Phobos": -20 + 3 + 2 + 0.5,
        "Deimos": -20 + 3 + 2,
        "Mars": -20 + 2 + 2,
        "Asaph Hall": -20 + 0.5 + 0.5,
    }


def test_one_that_fails_is_told_of_beside_the_passages(client: TestClient, broken: str) -> None:
    plain = _post(client, "/search")
    found = _post(client, "/search", rerank=broken)
    assert found["hits"] == plain["hits"]
    (warning,) = found["warnings"]
    assert "onnxruntime cannot load" in warning and "in the order of the search" in warning
    answer = _post(client, "/ask", rerank=broken)
    assert answer["warnings"] == found["warnings"]
    assert answer["answer"] == _post(client, "/ask")["answer"]
    streamed = client.post("/ask", json={"question": QUESTION, "stream": True, "rerank": broken})
    assert streamed.text.count("in the order of the search") == 2  # with what was found, and with the answer


def test_answers_are_made_of_what_is_left(client: TestClient) -> None:
    answer = _post(client, "/ask", rerank="bm25", cut="gap:1-3", k=3)
    found = _post(client, "/search", rerank="bm25", cut="gap:1-3", k=3)
    assert [hit["uri"] for hit in answer["passages"]] == [hit["uri"] for hit in found["hits"]]
    assert answer["warnings"] == []


@pytest.mark.parametrize("path", ["/search", "/ask"])
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rerank": "cross-encoder:/etc"}, "rerank: unknown reranker 'cross-encoder:/etc'"),
        ({"rerank": "llm-listwise:openai:gpt"}, "expected one of 'bm25', 'tfidf', 'diffusion', 'weighted'"),
        ({"rerank": "weighted:2"}, "from 0 to 1"),
        ({"rerank": "bm25", "settings": {"rerank.passages": 0}}, "rerank.passages"),
        ({"retrievers": ["rerank:cross-encoder:/etc"]}, "unknown retriever"),
        ({"cut": "elbow"}, "unknown cut"),
        ({"cut": "gap:1-99999"}, "k must be"),
        ({"cut": "probability", "fusion": "rrf"}, "needs probabilities"),
        ({"rerank": ""}, "rerank"),
    ],
    ids=str,
)
def test_what_is_not_offered_is_refused(
    client: TestClient, path: str, given: dict[str, Any], said: str
) -> None:
    answer = client.post(path, json={"question": QUESTION, **given})
    assert answer.status_code in (400, 422), answer.text
    assert said in answer.json()["error"]["message"]
