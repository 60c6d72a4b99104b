"""`trivium serve` as a process: it says where it is, answers as the command line does, and ends when it is told."""

from __future__ import annotations

import json
import signal
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests

from tests.e2e.conftest import Run
from tests.e2e.served import ready, serve
from tests.server.world import build_store

QUESTION = "Who discovered the moons of Mars?"


def under_way(client: socket.socket, host: str, length: int) -> None:
    """Begin a search whose body of ``length`` bytes is still to be sent, and wait until the server asks for that."""
    head = f"POST /search HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    client.sendall(f"{head}Content-Length: {length}\r\nExpect: 100-continue\r\n\r\n".encode())
    assert client.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_answers_as_the_command_line_does_and_ends_cleanly(
    trivium: Run, sample_store: Path, how: signal.Signals
) -> None:
    """A request under way when it is told to stop is still answered; nothing but JSON is logged."""
    with serve(sample_store) as (running, address):
        assert requests.get(f"{address}health", timeout=60).json() == {"status": "ok"}
        ready(address)
        given = {"question": QUESTION, "k": 5, "explain": True}
        answer = requests.post(f"{address}search", json=given, timeout=60)
        page = requests.get(address, timeout=60)
        assert page.headers["content-type"].startswith("text/html") and "<title>Trivium</title>" in page.text
        host, port = address.removeprefix("http://").rstrip("/").split(":")
        with socket.create_connection((host, int(port)), timeout=60) as client:
            body = json.dumps(given).encode()
            under_way(client, f"{host}:{port}", len(body))
            running.send_signal(how)
            client.sendall(body)
            last = b""
            while piece := client.recv(65536):
                last += piece
        assert last.startswith(b"HTTP/1.1 200")
        _, err = running.communicate(timeout=60)
    assert running.returncode == 0
    *lines, stopped = err.strip().splitlines()
    assert stopped == "stopped" and all(json.loads(line) for line in lines)
    expected = trivium("search", QUESTION, "--store", sample_store, "--k", "5", "--explain", "--json").json
    assert answer.json()["hits"] == expected["hits"]


def test_a_store_that_does_not_exist_is_made_and_filled_from_outside(tmp_path: Path) -> None:
    with serve(tmp_path / "new") as (running, address):
        assert requests.get(f"{address}ready", timeout=60).status_code == 503  # nothing can be found yet
        asked = {"question": "Where do the swifts nest?", "k": 1}
        files = {"files": ("swifts.md", b"# Swifts\n\nThe swifts nest under the eaves of the mill.\n")}
        assert requests.post(f"{address}documents", files=files, timeout=60).status_code == 202
        deadline = time.monotonic() + 60
        while not (hits := requests.post(f"{address}search", json=asked, timeout=60).json().get("hits")):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert "eaves of the mill" in hits[0]["text"]
        running.send_signal(signal.SIGTERM)
        _, err = running.communicate(timeout=60)
    assert "new, empty store" in err


def test_an_answer_does_not_wait_for_the_acknowledgement_of_the_one_before(tmp_path: Path) -> None:
    """On one connection; systems acknowledge after 40 ms where they have nothing to send."""
    with serve(build_store(tmp_path)) as (_, address), requests.Session() as client:
        ready(address)
        seconds = []
        for _ in range(40):
            asked = time.perf_counter()
            assert client.get(f"{address}health", timeout=60).status_code == 200
            seconds.append(time.perf_counter() - asked)
    assert statistics.median(seconds[10:]) < 0.03


def test_the_second_signal_does_not_wait_for_requests(sample_store: Path) -> None:
    """The first one waits for a request whose body has not arrived."""
    with serve(sample_store) as (running, address):
        ready(address)
        host, port = address.removeprefix("http://").rstrip("/").split(":")
        with socket.create_connection((host, int(port)), timeout=60) as client:
            under_way(client, "localhost", 100)
            running.send_signal(signal.SIGINT)
            with pytest.raises(subprocess.TimeoutExpired):
                running.wait(1.5)
            running.send_signal(signal.SIGINT)
            running.wait(60)
    assert running.returncode == 0


def test_listening_for_everybody_without_a_key_is_warned_of(sample_store: Path, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("a-key-of-some-length\n")
    for options, warned in (([], True), (["--api-key-file", str(keys)], False)):
        with serve(sample_store, "--host", "0.0.0.0", *options) as (running, _):
            running.send_signal(signal.SIGTERM)
            _, err = running.communicate(timeout=60)
        assert ("warning" in err and "--api-key-file" in err) is warned
        assert running.returncode == 0


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (["--port", "99999"], 2, "65535"),
        (["--api-key-file", "missing"], 1, "missing"),
        (["--cors-origin", "*"], 2, "https://example.org"),
        (["--host", "no.such.host.invalid"], 1, "--host"),
        ([], 2, "--store"),
    ],
)
def test_what_cannot_be_served_is_said_at_once(
    trivium_process: Run, sample_store: Path, tmp_path: Path, options: list[str], code: int, says: str
) -> None:
    store = [] if "--store" in options or not options else ["--store", str(sample_store)]
    result = trivium_process("serve", *store, *options, cwd=tmp_path)
    assert result.code == code and says in result.err and "Traceback" not in result.err


def test_a_port_in_use_is_said_with_what_to_do(trivium_process: Run, tmp_path: Path) -> None:
    """Before a store is made for it."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = trivium_process("serve", "--store", tmp_path / "new", "--port", str(taken.getsockname()[1]))
    assert result.code == 1 and "--port" in result.err and not (tmp_path / "new").exists()
    assert result.err.startswith("error: cannot listen")


def test_only_serving_needs_the_web_and_says_how_to_get_it(sample_store: Path) -> None:
    """No other command loads a web framework; without one, `serve` names the extra."""
    code = """
import sys
import time
import trivium, trivium.cli
assert not {"fastapi", "starlette", "uvicorn", "prometheus_client"} & set(sys.modules)
sys.modules["fastapi"] = None
trivium.cli.main(["serve", "--store", sys.argv[1]])
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(sample_store)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and "pip install 'trivium[serve]'" in done.stderr.replace("\n", " ")
