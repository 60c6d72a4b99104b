"""A search over HTTP is the engine's search, and an explanation takes it apart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from starlette.testclient import TestClient

from tests.server.world import QUESTION, build_store, serving
from trivium.engine import Engine
from trivium.fusion.registry import FUSIONS
from trivium.retrievers.registry import RETRIEVERS
from trivium.serialization import hit_json
from trivium.server.fields import FusionName, RetrieverName


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_store(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def client(store: Path) -> Iterator[TestClient]:
    with serving(store) as client:
        yield client


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"k": 2, "explain": True},
        {"retrievers": ["walk"]},
        {"retrievers": ["vector", "lexical"], "fusion": "rrf"},
    ],
)
def test_hits_are_those_of_the_engine_field_by_field(
    client: TestClient, store: Path, options: dict[str, Any]
) -> None:
    answer = client.post("/search", json={"question": QUESTION, **options})
    with Engine.open(store) as engine:
        hits = engine.search(QUESTION, **options)
        log_odds = engine.searcher.gives_log_odds(options.get("retrievers"), options.get("fusion"))
    assert answer.status_code == 200
    assert answer.json() == {"hits": [hit_json(hit) for hit in hits]}
    assert answer.headers["x-trivium-scores"] == ("log-odds" if log_odds else "own")


def test_the_names_over_http_are_all_the_names_there_are() -> None:
    assert get_args(RetrieverName) == RETRIEVERS
    assert get_args(FusionName) == FUSIONS


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ({"question": ""}, 422, "question"),
        ({"question": "  \n"}, 422, "question"),
        ({"question": "x" * 4001}, 422, "4000"),
        ({}, 422, "question"),
        ({"question": "q", "k": 0}, 422, "k"),
        ({"question": "q", "k": 101}, 422, "k"),
        ({"question": "q", "k": "5"}, 422, "k"),
        ({"question": "q", "retrievers": ["telepathy"]}, 422, "vector"),
        ({"question": "q", "fusion": "/etc"}, 422, "fusion"),
        ({"question": "q", "K": 5}, 422, "K"),
        ([], 422, ""),
    ],
)
def test_bad_input_is_refused_and_says_where(
    client: TestClient, body: object, status: int, says: str
) -> None:
    answer = client.post("/search", json=body)
    assert answer.status_code == status
    assert set(answer.json()) == {"error"} and set(answer.json()["error"]) == {"code", "message"}
    assert says in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "body", [b"{", b"", b'{"question": "\\ud800"}', b"\xff\xfe", b"nul", b'{"question": NaN}', b"[" * 100_000]
)
def test_what_is_no_json_is_refused(client: TestClient, body: bytes) -> None:
    answer = client.post("/search", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]["code"] in ("malformed", "invalid", "bad_request")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("GET", "/search", 405, "method_not_allowed"),
        ("GET", "/page/../app.py", 404, "not_found"),
        ("GET", "/page/%2e%2e/app.py", 404, "not_found"),
        ("GET", "/jobs/none", 404, "not_found"),
        ("GET", "/docs", 404, "not_found"),
    ],
)
def test_errors_outside_the_routes_look_alike(
    client: TestClient, method: str, path: str, status: int, code: str
) -> None:
    answer = client.request(method, path)
    assert answer.status_code == status and answer.json()["error"]["code"] == code


def test_an_explanation_adds_up_to_the_score_of_the_search(client: TestClient) -> None:
    hits = client.post("/search", json={"question": QUESTION, "explain": True}).json()["hits"]
    for hit in hits[:2]:
        why = client.post("/explain", json={"question": QUESTION, "uri": hit["uri"]}).json()
        assert (why["rank"], why["score"]) == (hit["rank"], hit["score"])
        assert why["candidate"] is True and why["candidates"] == 4
        assert why["contributions"] == pytest.approx(hit["contributions"])
        assert why["baseline"] == hit["baseline"] != 0
        total = why["baseline"] + sum(why["contributions"].values())
        assert total == pytest.approx(why["score"], rel=1e-4)
        assert {
            name: view["source_node"]
            for name, view in why["views"].items()
            if view["source_node"] is not None
        } == hit["provenance"]
        assert all((view["rank"] is None) == (view["source_node"] is None) for view in why["views"].values())


def test_one_view_alone_is_explained_by_its_own_list(client: TestClient) -> None:
    given = {"question": QUESTION, "retrievers": ["lexical"]}
    (hit, *_) = client.post("/search", json=given).json()["hits"]
    why = client.post("/explain", json={**given, "uri": hit["uri"]}).json()
    assert (why["rank"], why["score"]) == (1, hit["score"])
    assert why["contributions"] == {"lexical": hit["score"]} and set(why["views"]) == {"lexical"}


def test_a_passage_nobody_found_has_no_place_and_an_unknown_one_is_not_found(client: TestClient) -> None:
    given = {"question": "1877", "retrievers": ["lexical"]}
    why = client.post("/explain", json={**given, "uri": "Deimos#chunk-1"}).json()
    assert (why["candidate"], why["rank"], why["score"]) == (False, None, None)
    answer = client.post("/explain", json={**given, "uri": "Deimos#chunk-9"})
    assert answer.status_code == 404 and "Deimos#chunk-9" in answer.json()["error"]["message"]


def test_an_empty_store_says_what_to_do(tmp_path: Path) -> None:
    Engine.create(tmp_path / "store").close()
    with serving(tmp_path / "store") as client:
        answer = client.post("/search", json={"question": "q"})
        assert answer.status_code == 409 and "add documents" in answer.json()["error"]["message"]
        assert client.get("/ready").status_code == 503
        assert client.get("/health").json() == {"status": "ok"}
