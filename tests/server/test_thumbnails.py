"""Thumbnails over HTTP: named by hits, citations and documents, given by their addresses."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from starlette.testclient import TestClient

from tests.pictures import drawn
from tests.server.world import Script, listening, serving
from trivium.engine import Engine
from trivium.server.settings import ServerSettings

pytest.importorskip("PIL")
from PIL import Image

QUESTION = "Which chair stands in the office?"
KEY = "a-key-of-more-than-16-characters"
PLAIN = "/thumbnails/Chairs%23chunk-1"
AWKWARD = "/thumbnails/Chairs%23A%2FC%20%25231%3F%23chunk-1"
"""The passage is ``Chairs#A/C %231?#chunk-1``: its heading is "A/C #1?"."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with two pictures, one below a heading that needs care in an address."""
    folder = tmp_path_factory.mktemp("pictures")
    docs = folder / "docs"
    docs.mkdir()
    (docs / "chair.png").write_bytes(drawn(size=(640, 480)))
    (docs / "page.md").write_text(
        "# Chairs\n\n![The chair that stands in the office](chair.png)\n\nDesks are round.\n\n"
        "## A/C #1?\n\n![The plan of the cooling](chair.png)\n"
    )
    with Engine.create(folder / "store", "minilm") as engine:
        engine.build([docs])
    return folder / "store"


@pytest.fixture(scope="module")
def client(store: Path) -> Iterator[TestClient]:
    with serving(store, extracts=True) as client:
        yield client


def test_hits_of_pictures_have_the_address_of_their_thumbnail(store: Path, client: TestClient) -> None:
    """No other hit has that field. What is there is a small WebP picture."""
    hits = client.post("/search", json={"question": QUESTION, "k": 5}).json()["hits"]
    named = {hit["uri"]: hit["thumbnail"] for hit in hits if "thumbnail" in hit}
    assert named == {"Chairs#chunk-1": PLAIN, "Chairs#A/C %231?#chunk-1": AWKWARD}
    assert {hit["kind"] for hit in hits if hit["uri"] not in named} == {"paragraph"}
    with listening(store) as server:  # the test client decodes paths twice
        for address in named.values():
            answer = requests.get(f"{server}{address}", timeout=10)
            assert (answer.status_code, answer.headers["content-type"]) == (200, "image/webp")
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert Image.open(io.BytesIO(answer.content)).size == (320, 240)


def test_citations_have_it_too(store: Path, client: TestClient) -> None:
    """Quoted or written, whole or streamed: in its first event, too."""
    cited = client.post("/ask", json={"question": QUESTION}).json()
    assert [citation["thumbnail"] for citation in cited["citations"]] == [PLAIN]
    with serving(store, script=Script(pieces=("The chair [1].",))) as scripted:
        whole = scripted.post("/ask", json={"question": QUESTION}).json()
        streamed = scripted.post("/ask", json={"question": QUESTION, "stream": True}).text
    first, *_, last = (json.loads(line[6:]) for line in streamed.splitlines() if line.startswith("data: "))
    assert whole["citations"][0]["thumbnail"] == last["citations"][0]["thumbnail"] == PLAIN
    assert (
        first["passages"][0]["thumbnail"]
        == last["passages"][0]["thumbnail"]
        == whole["passages"][0]["thumbnail"]
        == PLAIN
    )


def test_a_document_names_the_thumbnails_of_its_passages(client: TestClient) -> None:
    passages = client.get("/documents/Chairs").json()["passages"]
    assert [passage["thumbnail"] for passage in passages] == [PLAIN, None, AWKWARD]


def test_browsers_keep_none(client: TestClient) -> None:
    """Another picture may come to stand there."""
    assert client.get(PLAIN).headers["cache-control"] == "no-store"


@pytest.mark.parametrize("uri", ["Chairs%23chunk-2", "Chairs", "nothing", "%00", "..%2F..%2Fetc%2Fpasswd"])
def test_what_has_none_is_not_found(client: TestClient, uri: str) -> None:
    answer = client.get(f"/thumbnails/{uri}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


def test_pictures_are_documents_and_need_the_key_of_these(store: Path) -> None:
    with serving(store, ServerSettings(api_keys=(KEY,))) as client:
        assert client.get(PLAIN).status_code == 401
        assert client.get(PLAIN, headers={"X-API-Key": KEY}).status_code == 200
