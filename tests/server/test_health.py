"""A server says what is wrong with it, stays in service where it can, and says when only a restart helps."""

from __future__ import annotations

import re
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from starlette.testclient import TestClient

from tests.fakes.disks import small_disk
from tests.server.world import QUESTION, build_store, serving
from tests.waiting import until
from trivium.server.collection import Collection
from trivium.server.settings import ServerSettings

RECORDS = {"records": [{"title": "Io", "text": "Io is a moon of Jupiter."}]}


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
            refused = client.post("/documents", json=RECORDS)
            assert (refused.status_code, refused.json()["error"]["code"]) == (507, "no_space")
            assert client.post("/search", json={"question": QUESTION}).json()["hits"]
            assert client.get("/health").status_code == 200
            filler.unlink()
            until(lambda: ready(client) == (200, set()))
            assert client.post("/documents", json=RECORDS).status_code == 202


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("name", ["follow", "jobs"])
def test_a_thread_that_died_is_a_reason_to_restart(
    client: TestClient, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Fatal(BaseException):
        """What no thread expects."""

    def fail(*_: Any) -> Any:
        raise Fatal

    service = client.app.state.service  # type: ignore[attr-defined]
    if name == "follow":
        monkeypatch.setattr(Collection, "current", property(fail))
    else:
        monkeypatch.setattr(service.collection, "change", fail)
        client.post("/documents", json=RECORDS)
    until(lambda: client.get("/health").status_code == 503)
    told = client.get("/health").json()
    assert told["status"] == "failing" and repr(name) in told["problems"][0]["message"]
    monkeypatch.undo()
    # Within the short time that these settings give a question, which a busy machine may miss.
    until(lambda: client.post("/search", json={"question": QUESTION}).status_code == 200)
    assert "thread" in ready(client)[1]


def test_searches_that_never_end_are_a_reason_to_restart(store: Path) -> None:
    """Not before they have taken ten times as long as a question may: two seconds here, so that a busy machine has time
    to be asked before."""
    gate = threading.Event()
    with serving(store, ServerSettings(timeout=0.2, workers=1)) as client:
        collection = cast(Collection, client.app.state.service.collection)  # type: ignore[attr-defined]
        stuck = threading.Thread(target=lambda: collection.read(lambda _: gate.wait(30)))
        stuck.start()
        try:
            assert client.get("/health").status_code == 200
            until(lambda: client.get("/health").status_code == 503)
            assert client.get("/health").json()["problems"][0]["code"] == "stuck"
        finally:
            gate.set()
            stuck.join()
        assert client.get("/health").status_code == 200


def test_a_change_that_cannot_be_shown_is_told_with_for_how_long(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection = cast(Collection, client.app.state.service.collection)  # type: ignore[attr-defined]
    collection._fail("a change of the store cannot be shown yet", 1.0, OSError("/some/file"))
    monkeypatch.setattr(collection, "_problem_since", time.monotonic() - 77)
    (problem,) = client.get("/ready").json()["problems"]
    # a busy machine may answer seconds later
    assert problem["code"] == "index_behind" and re.search(r"since (7[7-9]|[89]\d) s", problem["message"])
    assert "/some/file" not in problem["message"] and client.get("/ready").status_code == 200
