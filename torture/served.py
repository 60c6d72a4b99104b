"""``trivium serve`` in a process of its own, on a small store, with checks from outside."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from tests.waiting import until
from torture.sandbox import Child, work_in_child
from torture.worlds import EMBEDDER
from trivium.cli import main
from trivium.engine import Engine
from trivium.testing.toys import TOY_RECORDS

QUESTION = "Who discovered the moons of Mars?"
QUICK = 5.0
"""Seconds an ordinary search may take beside all that is going on."""
_EXPECTED = "Asaph Hall"


def build_store(folder: Path) -> Path:
    """Build a store with an embedder that the command knows."""

    def build() -> None:
        source = folder / "served.jsonl"
        source.write_text("\n".join(json.dumps({"title": a, "text": b}) for a, b in TOY_RECORDS), "utf-8")
        with Engine.create(folder / "served", EMBEDDER) as engine:
            engine.build([source], workers=1)

    work_in_child(build)
    return folder / "served"


class Server:
    """A running server. ``address`` ends without a slash."""

    def __init__(self, child: Child, address: str) -> None:
        self.child = child
        self.address = address
        self.host, _, port = address.removeprefix("http://").rpartition(":")
        self.port = int(port)
        self._read = 0
        self.threads = self.descriptors = 0
        self.given_up = False

    def give_up(self) -> None:
        """Kill the server because something is wrong with it; the next case gets another one."""
        self.given_up = True
        self.child.kill()

    def note_usual(self) -> None:
        """Remember how many threads and descriptors it has after a few requests."""
        added = requests.post(
            f"{self.address}/documents",
            files={"files": ("warming.md", "# Warming\n\nWhat is loaded and started at the first change.\n")},
            timeout=60,
        ).json()
        job = f"{self.address}/jobs/{added['id']}"
        until(lambda: requests.get(job, timeout=60).json()["state"] == "done")
        for _ in range(3):
            self.check_search()
        self.threads, self.descriptors = self._counted()

    def check_search(self) -> None:
        """Raises AssertionError unless an ordinary search is answered right and quickly."""
        began = time.monotonic()
        given = {"question": QUESTION, "k": 10}
        answer = requests.post(f"{self.address}/search", json=given, timeout=60)
        seconds = time.monotonic() - began
        assert answer.status_code == 200, f"an ordinary search: HTTP {answer.status_code} {answer.text[:300]}"
        pages = [hit["page"] for hit in answer.json()["hits"]]
        assert _EXPECTED in pages, f"an ordinary search found {pages}"
        assert seconds < QUICK, f"an ordinary search took {seconds:.1f} s"

    def check_alive(self) -> None:
        """Raise AssertionError if the process has ended."""
        assert not self.child.ended(), f"the server ended: {self.child.printed()[-2000:]}"

    def check_log(self) -> None:
        """Raises AssertionError where a line that was logged since the last time is not JSON or tells of a mistake."""
        text = self.child.printed()[self._read :]
        text = text[: text.rfind("\n") + 1]
        self._read += len(text)
        for line in text.splitlines():
            if line.startswith("Trivium "):
                continue
            try:
                told = json.loads(line)
            except ValueError:
                raise AssertionError(f"a line of the log is not JSON: {line[:500]}") from None
            assert "traceback" not in told, _shortened(told)
            assert told.get("status") != 500, f"HTTP 500: {line[:300]}"

    def check_resources(self, seconds: float = 15.0) -> None:
        """Raises AssertionError where threads or descriptors stay that were not there before."""
        within = _Within(self)
        try:
            until(within, seconds)
        except AssertionError:
            raise AssertionError(
                f"threads and descriptors: {self._counted()}, were {(self.threads, self.descriptors)}"
            ) from None

    def counted(self) -> tuple[int, int]:
        """Return the numbers of threads and of file descriptors."""
        return self._counted()

    def _counted(self) -> tuple[int, int]:
        process = Path("/proc") / str(self.child.pid)
        return len(os.listdir(process / "task")), len(os.listdir(process / "fd"))  # noqa: PTH208


def _shortened(told: Mapping[str, Any]) -> str:
    """Return an exception and the last lines of its traceback."""
    lines = told["traceback"].strip().splitlines()
    places = [line.strip() for line in lines if line.lstrip().startswith("File ")]
    return f"logged: {told.get('message', '')[:200]}: {lines[-1][:500]} ({'; '.join(places[-3:])})"


class _Within:
    """Whether a server has no more threads and descriptors than usual; a pool may fill up, a connection be kept."""

    spare_threads, spare_descriptors = 24, 12

    def __init__(self, server: Server) -> None:
        self._server = server

    def __call__(self) -> bool:
        threads, descriptors = self._server.counted()
        usual = self._server
        return (
            threads <= usual.threads + self.spare_threads
            and descriptors <= usual.descriptors + self.spare_descriptors
        )


@contextmanager
def serving(
    store: Path,
    *options: str,
    environment: Mapping[str, str] | None = None,
    before: Callable[[], Any] = lambda: None,
) -> Iterator[Server]:
    """Run a server and yield it when it is ready. ``before`` is called in its process first."""

    def serve() -> None:
        os.environ.update(environment or {})
        os.chdir(store.parent)
        before()
        main(["serve", "--store", str(store), "--port", "0", *options])

    child = Child(serve)
    try:
        found: list[str] = []

        def listens() -> bool:
            assert not child.ended(), f"the server ended: {child.printed()[-2000:]}"
            found[:] = re.findall(r"http://[^\s/]+", child.printed())
            return bool(found)

        until(listens)
        server = Server(child, found[0])
        until(lambda: requests.get(f"{server.address}/ready", timeout=60).status_code == 200)
        yield server
        if not server.given_up:
            child.send(signal.SIGTERM)
            ended = child.wait(40)
            assert ended.code == 0, f"stopped with {ended.code}: {ended.output[-1500:]}"
    finally:
        if not child.ended():
            child.kill()
