"""What a server says its store contains is what it contains when it is asked."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from tests.server.world import build_store
from tests.waiting import until
from trivium.engine import Engine
from trivium.errors import StoreError
from trivium.fusion.default_decision import Decision
from trivium.server.app import create_app
from trivium.server.collection import Collection
from trivium.server.routes import state


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return build_store(tmp_path)


def _metric(client: TestClient, **labels: str) -> float:
    answer = client.get("/metrics")
    assert answer.status_code == 200
    (value,) = [
        sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
        if sample.name == "trivium_store_nodes" and sample.labels == labels
    ]
    return float(value)


def test_stats_and_metrics_follow_what_another_process_writes(store: Path) -> None:
    """Once the change is shown to searches, too."""
    with TestClient(create_app(store), base_url="http://localhost") as client:
        until(lambda: client.get("/ready").status_code == 200)
        assert client.get("/stats").json()["nodes"]["Page"] == _metric(client, label="Page") == 4
        with Engine.open(store) as other:
            other.remove(["Deimos"])
        until(lambda: client.get("/ready").json()["index_current"])
        assert client.get("/stats").json()["nodes"]["Page"] == _metric(client, label="Page") == 3


def test_stats_name_the_fusion_that_answers(store: Path) -> None:
    """The one for the embedder; then the one that another process decided on, once the server shows a later state; none
    if that cannot be read."""
    with TestClient(create_app(store), base_url="http://localhost") as client:
        until(lambda: client.get("/ready").status_code == 200)
        assert client.get("/stats").json()["default_fusion"] == "network"
        with Engine.open(store) as other:
            for decision, name, gone in (
                (Decision("rrf", "better", 30).to_json(), "rrf", "Deimos"),
                ("{", None, "Mars"),
            ):
                other.store.set_fusion_decision(decision)
                other.remove([gone])
                until(lambda: client.get("/ready").json()["index_current"])
                assert client.get("/stats").json()["default_fusion"] == name


@pytest.mark.parametrize("fails", [True, False])
def test_metrics_are_there_while_the_store_is_not(
    store: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    """One that fails or does not answer: the numbers of before stay."""
    with TestClient(create_app(store), base_url="http://localhost") as client:
        until(lambda: client.get("/ready").status_code == 200)
        assert _metric(client, label="Page") == 4

        def info(_: Collection) -> Any:
            if fails:
                raise StoreError("the database does not answer")
            time.sleep(1)

        monkeypatch.setattr(Collection, "info", property(info))
        monkeypatch.setattr(state, "_STORE_SECONDS", 0.05)
        begun = time.monotonic()
        assert _metric(client, label="Page") == 4
        assert time.monotonic() - begun < 0.9
