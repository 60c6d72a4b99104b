"""The API's description is true: whatever fits it, and whatever almost does, is answered as described and never by a
mistake of the server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.testclient import TestClient

from tests.fakes.speech import FakeRecogniser, FakeVoice
from tests.server.world import listening, serving
from trivium.speech import Speech

ANSWERED_AS_DESCRIBED = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
EXAMPLES = 8
"""Of each operation, well and badly formed each."""


@pytest.fixture(scope="module")
def client(store: Path) -> Iterator[TestClient]:
    with serving(store) as client:
        yield client


@pytest.fixture(scope="module")
def api(store: Path) -> Iterator[Any]:
    """The description as a server gives it, on a copy whose documents come and go."""
    copy = Path(shutil.copytree(store, store.parent / "changed"))
    with listening(copy, speech=Speech(recogniser=FakeRecogniser(), voice=FakeVoice())) as address:
        yield schemathesis.openapi.from_url(f"{address}/openapi.json")


def test_nothing_that_can_be_sent_breaks_the_server(api: Any) -> None:
    """Every operation is sent data that fits its description, and data that does not."""
    tried = set()
    for found in api.get_all_operations():
        operation = found.ok()
        # What comes back of a change depends on what others did to the document meanwhile.
        changes = operation.method.upper() == "DELETE" or operation.path == "/documents"
        checks = [not_a_server_error] if changes else ANSWERED_AS_DESCRIBED
        for mode in GenerationMode:
            try_out(operation, mode, checks)
        tried.add(operation.label)
        if operation.path == "/live":  # nothing is to be asked of anybody
            switched = requests.post(urljoin(operation.base_url, "/live"), json={"mode": "off"}, timeout=30)
            assert switched.status_code == 200
    assert len(tried) == 27


def try_out(operation: Any, mode: GenerationMode, checks: list[Any]) -> None:
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case: Any) -> None:
        case.call_and_validate(checks=checks)

    try:
        send()
    except Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE, "an operation without parameters cannot be asked wrongly"


def test_every_operation_is_described_with_its_errors(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    operations = {
        f"{method.upper()} {path}": operation
        for path, item in paths.items()
        for method, operation in item.items()
    }
    assert set(operations) == {
        "POST /search",
        "POST /explain",
        "POST /ask",
        "POST /v1/chat/completions",
        "POST /v1/embeddings",
        "GET /v1/models",
        "POST /transcribe",
        "POST /speak",
        "GET /conflicts",
        "GET /documents",
        "POST /documents",
        "GET /documents/{page}",
        "DELETE /documents/{page}",
        "GET /thumbnails/{uri}",
        "GET /originals/{document}",
        "GET /page-images/{document}",
        "GET /jobs",
        "GET /jobs/{identifier}",
        "POST /feedback",
        "GET /entities",
        "GET /entities/{uri}/neighbours",
        "GET /live",
        "POST /live",
        "GET /stats",
        "GET /health",
        "GET /ready",
        "GET /metrics",
    }
    assert all(operation.get("description") for operation in operations.values())


def test_the_examples_of_the_description_work(client: TestClient) -> None:
    """Each is sent as it stands; the passages they name are not in this collection, and that is said."""
    description = client.get("/openapi.json").json()
    tried = 0
    for name, path in (("SearchBody", "/search"), ("AskBody", "/ask"), ("ExplainBody", "/explain")):
        for example in description["components"]["schemas"][name]["examples"]:
            assert client.post(path, json=example).status_code in (200, 404), example
            tried += 1
    assert tried == 4


def test_the_description_is_served_with_no_page_from_elsewhere(client: TestClient) -> None:
    assert client.get("/openapi.json").json()["info"]["title"] == "Trivium"
    assert client.get("/redoc").status_code == 404
    page = client.get("/docs")
    assert page.status_code == 200 and "http" not in page.text
