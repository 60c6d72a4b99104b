"""A server says what is wrong with it, and stays in service where it can."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from starlette.testclient import TestClient

from tests.fakes.disks import small_disk
from tests.server.world import QUESTION, as_file, build_store, serving
from tests.waiting import until
from trivium.server.collection import Collection
from trivium.server.settings import ServerSettings

RECORDS = as_file({"title": "Io", "text": "Io is a moon of Jupiter."})


@pytest.fixture
def client(store: Path) -> Iterator[TestClient]:
    with serving(store, ServerSettings(timeout=0.05, workers=1)) as client:
        yield client


def ready(client: TestClient) -> tuple[int, set[str]]:
    """Status, and the codes of the problems."""
    answer = client.get("/ready")
    return answer.status_code, {problem["code"] for problem in answer.json()["problems"]}


def test_a_server_that_is_well_has_no_problems(client: TestClient) -> None:
    until(lambda: ready(client) == (200, set()))
    assert client.get("/health").json() == {"status": "ok"}


def test_a_disk_that_is_nearly_full_takes_nothing_more_and_is_searched_all_the_same(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 48):
        store = build_store(tmp_path / "disk")
        with serving(store, ServerSettings(min_free_bytes=20 << 20)) as client:
            until(lambda: ready(client) == (200, set()))
            filler = store.parent / "filler"
            filler.write_bytes(bytes(shutil.disk_usage(store).free - (10 << 20)))
            until(lambda: ready(client) == (200, {"no_space"}))
            refused = client.post("/documents", files=RECORDS)
            assert (refused.status_code, refused.json()["error"]["code"]) == (507, "no_space")
            assert client.post("/search", json={"question": QUESTION}).json()["hits"]
            assert client.get("/health").status_code == 200
            filler.unlink()
            until(lambda: ready(client) == (200, set()))
            assert client.post("/documents", files=RECORDS).status_code == 202


def test_a_change_that_cannot_be_shown_is_told(client: TestClient) -> None:
    collection = cast(Collection, client.app.state.service.collection)  # type: ignore[attr-defined]
    collection._fail("a change of the store cannot be shown yet", 1.0, OSError("/some/file"))
    (problem,) = client.get("/ready").json()["problems"]
    assert problem["code"] == "index_behind" and "/some/file" not in problem["message"]
    assert client.get("/ready").status_code == 200
