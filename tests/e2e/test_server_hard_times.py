"""`trivium serve` as a process: what happens to it from outside neither keeps it from answering nor from ending."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.conftest import Run
from tests.e2e.served import host_and_port, ready, serve, started
from tests.waiting import until
from trivium.server.keys import Key, KeyRing, parse_key

QUESTION = {"question": "Who discovered the moons of Mars?"}

_STUCK = """
import sys, threading
from fastapi import FastAPI
from trivium.server import run_server
from trivium.server.app import create_app
from trivium.server.collection import Collection
from trivium.server.logs import log_as_json
from trivium.server.settings import ServerSettings
store, what = sys.argv[1:]
forever = threading.Event()
class Stuck:
    def ask_stream(self, question, **options):
        forever.wait()
        yield
if what == "opening":
    Collection.open = lambda collection: forever.wait()
run_server.CLOSE_SECONDS = 1.0
settings = ServerSettings(port=0, shutdown_timeout=1.0)
app = create_app(store, settings, answerer=lambda engine: Stuck())
log_as_json()
run_server.run(app, settings, lambda address: print(address, flush=True))
"""


@pytest.mark.parametrize("what", ["answer", "opening"])
def test_one_signal_always_ends_it_within_the_stated_time(sample_store: Path, what: str) -> None:
    """Also while something never ends: an answer, or opening the store. It waits a second for requests here, and one for
    the rest; the log says what happened."""
    with started(["-c", _STUCK, str(sample_store), what]) as (running, address), ExitStack() as stack:
        if what == "answer":
            ready(address)
            body = json.dumps(QUESTION).encode()
            for path, sent in (("ask", len(body)), ("search", 5)):
                client = stack.enter_context(socket.create_connection(host_and_port(address), timeout=20))
                head = f"POST /{path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                client.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[:sent])
            time.sleep(0.3)
        began = time.monotonic()
        running.send_signal(signal.SIGTERM)
        _, err = running.communicate(timeout=30)
    assert 0.9 < time.monotonic() - began < 1.0 + 1.0 + 3.0
    told = [json.loads(line)["message"] for line in err.splitlines()]
    assert running.returncode == 1 and any("has not ended within 2 s" in message for message in told)


def _runs(process: int) -> bool:
    """Whether it is there, and no zombie that waits to be collected."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_two_signals_end_it_at_once(sample_store: Path) -> None:
    """A process that is stopped, and is not to be left over, included."""
    with serve(sample_store, "--processes", "1") as (running, address):
        ready(address)
        listed = subprocess.run(["pgrep", "-P", str(running.pid)], capture_output=True, text=True, check=True)
        children = [int(child) for child in listed.stdout.split()]
        with socket.create_connection(host_and_port(address), timeout=20) as client:
            head = "POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            client.sendall(f"{head}Content-Length: 100\r\nExpect: 100-continue\r\n\r\n".encode())
            assert client.recv(1000).startswith(b"HTTP/1.1 100")
            for child in children:
                os.kill(child, signal.SIGSTOP)
            began = time.monotonic()
            running.send_signal(signal.SIGTERM)
            time.sleep(0.05)
            running.send_signal(signal.SIGTERM)
            running.wait(10)
        assert time.monotonic() - began < 2.0 and running.returncode == 0
        # Killed, but on a busy machine not gone before the server is.
        until(lambda: not any(_runs(child) for child in children), seconds=10)


def test_a_key_is_shown_once_and_its_line_opens_what_it_is_for(trivium: Run) -> None:
    made = trivium("keys", "new", "dashboard", "--scope", "read", "--json").json
    key = parse_key(made["line"])
    assert KeyRing([key]).find(made["key"]) == key and (key.name, key.scope) == ("dashboard", "read")
    text, line = trivium("keys", "new", "editor").out.split()
    assert KeyRing([parse_key(line)]).find(text) == Key("editor", "write", parse_key(line).digest)
    refused = trivium("keys", "new", "two words")
    assert refused.code == 2 and "letters, digits" in refused.err
