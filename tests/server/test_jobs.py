"""Accepted changes over HTTP: kept through restarts, listed, and refused where they cannot be
kept; uploads that are too slow, too many or too large cost nobody else anything."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from starlette.testclient import TestClient

from tests.fakes.disks import make_read_only, small_disk
from tests.server.world import HTML, QUESTION, RECORDS, as_file, finished, listening, serving
from tests.waiting import until
from trivium.common.progress import StageProgress
from trivium.engine import Engine
from trivium.errors import StoreBusyError
from trivium.server import app, guard, jobs, uploads
from trivium.server.collection import Collection
from trivium.server.job_table import Change
from trivium.server.jobs_folder import Spool
from trivium.server.make_changes import perform
from trivium.server.settings import ServerSettings

MEGABYTE = 1 << 20
PART = b'--b\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\n<html>'
"""How a form begins."""


@pytest.fixture
def copy(store: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(store, tmp_path / "store"))


class Held:
    """Changes that begin, and go on when they are let; ``begun`` has their kinds."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.begun: list[str] = []

    def work(
        self, engine: Engine, change: Change, files: Mapping[str, str], progress: StageProgress
    ) -> Mapping[str, Any]:
        self.begun.append(change.kind)
        while not self.gate.wait(0.01):
            progress("parse", 1, 2)
        return perform(engine, change, files, progress)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    held = Held()
    monkeypatch.setattr(app, "perform", held.work)
    return held


def uploaded(store: Path) -> list[Path]:
    return list((store / "jobs" / "uploads").iterdir())


def add(client: TestClient, title: str) -> dict[str, Any]:
    answer = client.post("/documents", files=as_file({"title": title, "text": "A crater of Phobos."}))
    assert answer.status_code == 202, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_stopped_server_keeps_what_waits_and_the_next_one_makes_it_in_order(copy: Path, held: Held) -> None:
    with serving(copy) as client:
        accepted = [add(client, title) for title in ("Hall", "Sharpless", "Todd")]
        accepted.append(client.delete("/documents/Mars").json())
        until(lambda: client.get(f"/jobs/{accepted[0]['id']}").json()["stage"])
        running = client.get(f"/jobs/{accepted[0]['id']}").json()
        assert (running["state"], running["stage"], running["total"]) == ("running", "parse", 2)
        metrics = client.get("/metrics").text
        assert "trivium_jobs_waiting 3.0" in metrics and "trivium_jobs_oldest_seconds 0.0\n" not in metrics
    assert len(uploaded(copy)) == 3
    (copy / "jobs" / "uploads" / "of a server that was killed").mkdir()
    held.gate.set()
    with serving(copy) as client:
        done = [finished(client, job) for job in accepted]
        assert [job["state"] for job in done] == ["done"] * 4
        assert sorted(job["finished"] for job in done) == [job["finished"] for job in done]
        listed = {page["uri"] for page in client.get("/documents").json()["documents"]}
        assert {"Hall", "Sharpless", "Todd"} <= listed and "Mars" not in listed
        until(lambda: not uploaded(copy))


def test_jobs_are_listed_newest_first(copy: Path, held: Held) -> None:
    with serving(copy) as client:
        ids = [add(client, f"Crater {number}")["id"] for number in range(4)][::-1]
        until(lambda: held.begun)
        assert [job["id"] for job in client.get("/jobs").json()["jobs"]] == ids
        assert [job["id"] for job in client.get("/jobs", params={"limit": 3}).json()["jobs"]] == ids[:3]
        assert client.get("/jobs/unknown").status_code == 404


@pytest.mark.parametrize("limit", [{"queue_jobs": 1}, {"spool_bytes": 60}])
def test_a_full_queue_and_too_many_bytes_are_refused(copy: Path, held: Held, limit: dict[str, int]) -> None:
    """One job is being done, one waits."""
    with serving(copy, ServerSettings(**limit)) as client:
        add(client, "Hall")
        until(lambda: held.begun)
        add(client, "Sharpless")
        refused = client.post("/documents", files=as_file({"title": "Todd", "text": "A crater."}))
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "busy")
        assert "retry-after" in refused.headers
        assert len(uploaded(copy)) == 2


def test_a_full_disk_refuses_the_upload_and_leaves_nothing_of_it(copy: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk, 2), serving(copy, ServerSettings(spool=disk)) as client:
        (spool,) = disk.iterdir()
        page = HTML + "x" * 3 * MEGABYTE
        answer = client.post("/documents", files=[("files", ("a.html", page, "text/html"))])
        assert (answer.status_code, answer.json()["error"]["code"]) == (507, "disk_full")
        assert not list((spool / "uploads").iterdir())
        assert finished(client, add(client, "Hall"))["state"] == "done"


def test_a_store_on_a_read_only_file_system_is_searched_and_changes_are_refused(
    store: Path, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk, 20):
        shutil.copytree(store, disk / "store")
        make_read_only(disk)
        with serving(disk / "store", ServerSettings(min_free_bytes=0)) as client:
            assert client.post("/search", json={"question": QUESTION}).status_code == 200
            for refused in (
                client.delete("/documents/Mars"),
                client.post("/documents", files=as_file(*RECORDS)),
            ):
                assert (refused.status_code, refused.json()["error"]["code"]) == (503, "read_only")
            assert client.get("/jobs").json() == {"jobs": []}


def test_of_two_servers_one_makes_changes_and_the_other_one_can_after_it(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_RETRY_SECONDS", 0.05)
    records = as_file({"title": "Todd", "text": "A crater of Phobos."})
    with ExitStack() as stack:
        with serving(copy) as first:
            second = stack.enter_context(serving(copy))
            refused = second.post("/documents", files=records)
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "read_only")
            assert second.post("/search", json={"question": QUESTION}).json()["hits"]
            assert finished(first, add(first, "Hall"))["state"] == "done"
        assert finished(second, add(second, "Todd"))["state"] == "done"


def test_a_change_waits_while_another_process_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "BUSY_SECONDS", 0.01)
    refused = iter([True] * 5 + [False])

    class Busy:
        def change(self, work: Callable[[Any], Any]) -> Any:
            if next(refused):
                raise StoreBusyError("another process is writing")
            return work(None)

    queue = jobs.Jobs(
        cast(Collection, Busy()),
        Spool(tmp_path, tmp_path / "jobs"),
        lambda *_: {"added": 1},
        10,
        lambda *_: None,
    )
    assert queue.open()
    queue.submit(Change("a", "add"))
    queue.start()
    until(lambda: [(job.state, job.report) for job in queue.recent(2)] == [("done", {"added": 1})])
    assert queue.stop(10)


# -- on real sockets ---------------------------------------------------------------------------------------------------


@contextmanager
def uploading(address: str, length: int, path: str = "/documents") -> Iterator[socket.socket]:
    """A connection whose head says that so many bytes of a form come, when the server asks for them or answers."""
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as client:
        kind = "multipart/form-data; boundary=b"
        head = (
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n"
        )
        client.sendall(f"{head}Expect: 100-continue\r\n\r\n".encode())
        yield client


def status_of(client: socket.socket) -> int:
    return int(client.recv(65536).split()[1])


def asked_for(client: socket.socket) -> None:
    assert status_of(client) == 100


def test_an_upload_that_is_too_slow_is_given_up_and_delays_nobody(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "_UPLOAD_TIMES", 2)
    monkeypatch.setattr(uploads, "MAX_AT_ONCE", 2)
    with listening(copy, ServerSettings(timeout=0.5)) as address, uploading(address, MEGABYTE) as silent:
        asked_for(silent)
        with uploading(address, MEGABYTE) as slow:
            asked_for(slow)
            slow.sendall(PART)
            with uploading(address, MEGABYTE) as third:
                assert status_of(third) == 503, "before its body is asked for"
            assert status_of(slow) == 408
        assert status_of(silent) == 408
        until(lambda: not uploaded(copy))
        with uploading(address, MEGABYTE) as next_one:
            asked_for(next_one)


def test_an_upload_that_breaks_off_leaves_nothing_and_its_place_is_free(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MAX_AT_ONCE", 1)
    with listening(copy) as address:
        with uploading(address, MEGABYTE) as client:
            asked_for(client)
            client.sendall(PART)

        def is_free() -> bool:
            with uploading(address, MEGABYTE) as another:
                return status_of(another) == 100

        until(is_free)
        assert not uploaded(copy)
