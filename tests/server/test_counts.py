"""What a server says its store contains is what it contains when it is asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.server.world import build_store
from tests.waiting import until
from trivium.engine import Engine
from trivium.fusion.stored_decision import Decision
from trivium.server.app import create_app


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return build_store(tmp_path)


def test_stats_follow_what_another_process_writes(store: Path) -> None:
    """Once the change is shown to searches, too."""
    with TestClient(create_app(store), base_url="http://localhost") as client:
        until(lambda: client.get("/ready").status_code == 200)
        assert client.get("/stats").json()["nodes"]["Page"] == 4
        with Engine.open(store) as other:
            other.remove(["Deimos"])
        until(lambda: client.get("/ready").json()["index_current"])
        assert client.get("/stats").json()["nodes"]["Page"] == 3


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
