"""A search over HTTP is the engine's search, and an explanation takes it apart."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from starlette.testclient import TestClient

from tests.contract.graphs import graph
from tests.fakes.packages import REVERSED, install_package
from tests.server.world import QUESTION, serving
from trivium.common.idle_cores import _HELPERS, Beside
from trivium.engine import Engine
from trivium.fusion.registry import FUSIONS
from trivium.retrievers.registry import RETRIEVERS
from trivium.serialization import hit_json
from trivium.server import service
from trivium.server.question_kinds import KINDS, Kind, Reply
from trivium.server.schemas import SearchBody
from trivium.server.settings import ServerSettings


@pytest.fixture(scope="module")
def client(store: Path) -> Iterator[TestClient]:
    """Without the cache of answers: several tests ask the same question and look at how it is searched for."""
    with serving(store, ServerSettings(cache_bytes=0)) as client:
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
    assert answer.status_code == 200
    assert answer.json() == {"hits": [hit_json(hit) for hit in hits], "warnings": [], "sources": []}
    assert answer.headers["x-trivium-scores"] == ("own" if "retrievers" in options else "log-odds")


def test_a_half_embedded_store_is_told(store: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(store, tmp_path / "store"))
    with Engine.open(copy) as engine:
        engine.store.write([graph("Vulcan", [("Vulcan is no planet.", [])])])
    with serving(copy) as client:
        (told,) = client.post("/search", json={"question": QUESTION}).json()["warnings"]
    assert told.startswith("2 of ") and "trivium embed" in told


def test_a_search_uses_no_thread_but_the_one_that_searches(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What FastAPI runs in a thread costs two switches of threads."""
    hops: list[str] = []

    async def run(function: Any, *_: Any, **__: Any) -> Any:
        hops.append(function.__name__)
        return function()

    for place in ("starlette.concurrency.run_in_threadpool", "fastapi.dependencies.utils.run_in_threadpool"):
        monkeypatch.setattr(place, run)
    assert client.post("/search", json={"question": QUESTION}).status_code == 200
    assert hops == []


@pytest.mark.parametrize(("cores", "helped"), [(1, False), (2, True)])
def test_a_second_core_is_used_only_while_fewer_questions_than_cores_are_asked(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, cores: int, helped: bool
) -> None:
    begun: list[bool] = []

    def work(*_: Any) -> Reply:
        with Beside() as beside:
            begun.append(beside.begin(lambda: None))
        return Reply(b"{}")

    monkeypatch.setattr("trivium.common.idle_cores.available_cores", lambda: 2)
    monkeypatch.setattr("trivium.common.idle_cores._HELPERS", type(_HELPERS)())
    monkeypatch.setattr(service, "_CORES", cores)
    monkeypatch.setitem(cast(dict[str, Kind], KINDS), "search", Kind(SearchBody, work))
    assert client.post("/search", json={"question": QUESTION}).status_code == 200
    assert begun == [helped]


def test_the_description_lists_the_names_that_come_with_the_package(client: TestClient) -> None:
    request = client.get("/openapi.json").json()["components"]["schemas"]["SearchBody"]["properties"]
    names = next(kind for kind in request["retrievers"]["anyOf"] if kind["type"] == "array")["items"][
        "examples"
    ]
    assert tuple(names) == RETRIEVERS and tuple(request["fusion"]["examples"]) == FUSIONS


def test_retrievers_and_fusions_of_installed_packages_are_asked_by_their_names(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fusion = """
from trivium.fusion.rrf import ReciprocalRank


class Other(ReciprocalRank):
    name = "other"


def make_fusion(embedder):
    return Other()
"""
    monkeypatch.syspath_prepend(tmp_path)
    install_package(
        tmp_path,
        "reversing_retriever",
        {"reversed": "reversing_retriever:Reversed"},
        REVERSED,
        group="trivium.retrievers",
    )
    install_package(
        tmp_path, "other_fusion", {"other": "other_fusion:make_fusion"}, fusion, group="trivium.fusions"
    )

    def found(**options: Any) -> list[str]:
        answer = client.post("/search", json={"question": QUESTION, "k": 3, **options})
        assert answer.status_code == 200, answer.text
        return [hit["uri"] for hit in answer.json()["hits"]]

    straight = found(retrievers=["vector"])
    assert found(retrievers=["reversed"]) == straight[::-1]
    assert found(retrievers=["reversed"], settings={"reversed.sign": 1}) == straight
    both = ["vector", "reversed"]
    assert found(retrievers=both, fusion="other") == found(retrievers=both, fusion="rrf")
    refused = client.post("/search", json={"question": QUESTION, "retrievers": ["telepathy"]})
    assert refused.status_code == 422 and "reversed" in refused.json()["error"]["message"]


def test_settings_hold_for_one_question_and_for_its_explanation(client: TestClient, store: Path) -> None:
    given = {"question": QUESTION, "retrievers": ["walk"], "settings": {"walk.damping": 0.1}}
    with Engine.open(store) as engine:
        expected = engine.search(QUESTION, retrievers=["walk"], settings={"walk.damping": 0.1})
        usual = engine.search(QUESTION, retrievers=["walk"])
    hits = client.post("/search", json=given).json()["hits"]
    assert [(hit["uri"], hit["score"]) for hit in hits] == [(hit.uri, hit.score) for hit in expected]
    assert [hit.score for hit in expected] != [hit.score for hit in usual]
    why = client.post("/explain", json={**given, "uri": hits[0]["uri"]}).json()
    assert why["score"] == hits[0]["score"]
    after = client.post("/search", json={"question": QUESTION, "retrievers": ["walk"]}).json()["hits"]
    assert [hit["score"] for hit in after] == [hit.score for hit in usual]


def test_the_recall_query_of_an_answer_gathers_candidates_and_explains_them(client: TestClient) -> None:
    """What only the other words find is searched and explained with them, by its score for the question."""
    given = {"question": "Who is an astronomer?", "retrievers": ["lexical"], "recall_query": "smaller"}
    hits = client.post("/search", json=given).json()["hits"]
    assert [hit["page"] for hit in hits] == ["Asaph Hall", "Deimos"]
    for hit in hits:
        why = client.post("/explain", json={**given, "uri": hit["uri"]}).json()
        assert why["candidate"] and why["score"] == hit["score"]
    alone = {name: value for name, value in given.items() if name != "recall_query"}
    assert len(client.post("/search", json=alone).json()["hits"]) == 1
    assert not client.post("/explain", json={**alone, "uri": hits[1]["uri"]}).json()["candidate"]
    for path, more in (("/search", {}), ("/explain", {"uri": "Mars#chunk-1"})):
        refused = client.post(path, json={**given, **more, "recall_query": " "})
        assert refused.status_code == 422 and "recall_query" in refused.json()["error"]["message"]


@pytest.mark.parametrize("path", ["/search", "/explain", "/ask"])
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"settings": {"walk.dumping": 0.4}}, "did you mean walk.damping?"),
        ({"settings": {"walk.damping": 7}}, "[0, 1)"),
        ({"settings": {"walk.damping": "much"}}, "walk.damping"),
        ({"settings": {"walk": {"damping": 0.4}}}, "settings"),
        ({"settings": 5}, "settings"),
        ({"retrievers": ["telepathy"]}, "expected some of vector"),
        ({"retrievers": []}, "retrievers: expected at least one retriever, got an empty list"),
        ({"fusion": "/etc"}, "'convex'"),
    ],
)
def test_what_is_not_known_is_refused_and_says_what_there_is(
    client: TestClient, path: str, options: dict[str, Any], says: str
) -> None:
    given = {"question": QUESTION, **options} | ({"uri": "Mars#chunk-1"} if path == "/explain" else {})
    for more in ({}, {"stream": True}) if path == "/ask" else ({},):
        answer = client.post(path, json={**given, **more})
        assert answer.status_code == 422, answer.text
        assert answer.json()["error"]["code"] == "invalid" and says in answer.json()["error"]["message"]


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
        ({"question": "q", "K": 5}, 422, "K: Extra inputs are not permitted"),
        ({"q": "x"}, 422, "q: Extra inputs are not permitted"),
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


def test_json_under_another_content_type_is_refused_with_the_header_to_send(client: TestClient) -> None:
    """As `curl -d` sends it where no header is given."""
    headers = {"content-type": "application/x-www-form-urlencoded"}
    answer = client.post("/search", content=b'{"question": "Who?"}', headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid")
    assert "content-type: application/json" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("GET", "/search", 405, "method_not_allowed"),
        ("GET", "/page/../app.py", 404, "not_found"),
        ("GET", "/page/%2e%2e/app.py", 404, "not_found"),
        ("GET", "/jobs/none", 404, "not_found"),
        ("GET", "/redoc", 404, "not_found"),
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


def test_the_retriever_image_is_refused_where_pictures_have_no_vectors(client: TestClient) -> None:
    """As a wrong option: the store itself is well."""
    answer = client.post("/search", json={"question": QUESTION, "retrievers": ["image"]})
    assert answer.status_code == 422
    assert "the pictures of this collection have no vectors" in answer.text


def test_conditions_that_take_long_hold_up_no_other_search(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered, gate = threading.Event(), threading.Event()

    def hints(engine: Engine, where: str) -> list[str]:
        entered.set()
        gate.wait(30)
        return []

    monkeypatch.setattr(Engine, "hints", hints)
    statuses: list[int] = []
    with serving(store, ServerSettings(workers=1)) as client:

        def search() -> None:
            asked = {"question": QUESTION, "where": "title = 'M*'"}
            statuses.append(client.post("/search", json=asked).status_code)

        expensive = [threading.Thread(target=search) for _ in range(3)]
        for thread in expensive:
            thread.start()
        assert entered.wait(30)
        assert client.post("/search", json={"question": QUESTION}).status_code == 200
        assert statuses == []
        gate.set()
        for thread in expensive:
            thread.join()
    assert statuses == [200, 200, 200]
