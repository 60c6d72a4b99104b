"""What is known of requests afterwards: ids, lines of the log, measures, spans; and what browsers are told."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from tests.server.world import QUESTION, Script, serving
from trivium.server.logs import JsonFormatter

SECRET = "a question that must not be logged"


@pytest.fixture(scope="module")
def client(store: Path) -> Iterator[TestClient]:
    with serving(store, script=Script(error=RuntimeError("broken"))) as client:
        yield client


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """The log as a server writes it."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger("trivium.server")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield text
    logger.removeHandler(handler)
    logger.setLevel(before)


def parsed(lines: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines.getvalue().splitlines()]


@pytest.mark.parametrize(
    ("given", "kept"),
    [("abc-123.X:y_z", True), ("x" * 65, False), ("a b", False), ("a\u00e9", False), ("", False)],
)
def test_a_valid_id_is_kept_and_any_other_replaced(client: TestClient, given: str, kept: bool) -> None:
    identifier = client.get("/health", headers={"x-request-id": given.encode()}).headers["x-request-id"]  # type: ignore[dict-item]
    assert (identifier == given) is kept and identifier


def test_an_id_is_made_without_asking_the_system(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """It need not be secret, and another thread takes over when the system is asked."""

    def fail(_: int) -> bytes:
        raise AssertionError

    monkeypatch.setattr("uuid.os.urandom", fail)
    made = {client.get("/health").headers["x-request-id"] for _ in range(20)}
    assert len(made) == 20 and all(len(bytes.fromhex(identifier)) == 16 for identifier in made)


def test_a_request_is_one_line_of_json_and_says_nothing_of_the_question(
    client: TestClient, lines: io.StringIO
) -> None:
    client.post(f"/search?q={SECRET}", json={"question": SECRET}, headers={"x-request-id": "mine"})
    (line,) = parsed(lines)
    assert (
        line["request_id"] == "mine" and line["route"] == line["path"] == "/search" and line["status"] == 200
    )
    assert line["seconds"] > 0 and line["bytes"] > 100 and line["method"] == "POST"
    assert SECRET not in lines.getvalue()


def test_a_mistake_is_logged_with_its_traceback_and_answered_without(
    client: TestClient, lines: io.StringIO
) -> None:
    answer = client.post("/ask", json={"question": QUESTION}, headers={"x-request-id": "mine"})
    assert answer.status_code == 500 and "broken" not in answer.text and "mine" in answer.text
    failed, line = parsed(lines)
    assert "RuntimeError: broken" in failed["traceback"] and failed["request_id"] == "mine"
    assert line["status"] == 500


def test_hostile_text_stays_one_line_of_the_log(client: TestClient, lines: io.StringIO) -> None:
    client.get("/documents/a%0A%7B%22level%22:%22forged%22%7D%1b%5b31m")
    (line,) = parsed(lines)
    assert line["level"] == "info" and line["status"] == 404
    assert "\x1b" not in lines.getvalue()


def test_prometheus_is_told_of_routes_and_stages(client: TestClient) -> None:
    client.post("/search", json={"question": QUESTION})
    client.get("/nowhere/at/all")
    client.request("BREW", "/coffee")
    values = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(client.get("/metrics").text)
        for sample in family.samples
    }

    def value(name: str, **labels: str) -> float:
        return values[name, tuple(sorted(labels.items()))]

    assert value("trivium_http_requests_total", method="POST", route="/search", status="200") >= 1
    assert value("trivium_http_requests_total", method="GET", route="unmatched", status="404") >= 1
    assert value("trivium_http_requests_total", method="other", route="unmatched", status="404") == 1
    assert value("trivium_http_request_seconds_count", method="POST", route="/search") >= 1
    for stage in ("embed", "vector", "walk"):
        assert value("trivium_search_stage_seconds_count", stage=stage) >= 1
    assert not [name for name, _ in values if "nowhere" in str(name)]


def test_browsers_are_told_to_trust_nothing(client: TestClient) -> None:
    for path in ("/", "/health", "/nowhere"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
        assert headers["x-content-type-options"] == "nosniff"


def test_spans_are_made_where_an_sdk_is_set_up(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the web framework itself; they hold the route and not the question."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr("opentelemetry.trace._TRACER_PROVIDER", provider)
    with serving(store) as client:
        client.post("/search", json={"question": SECRET})
    spans = exporter.get_finished_spans()
    assert any(span.name == "POST /search" for span in spans), [span.name for span in spans]
    assert SECRET not in "".join(span.to_json() for span in spans)
