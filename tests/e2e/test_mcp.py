"""`trivium mcp` as the process that a client starts: asked over its pipes and over HTTP, and what it says when it
cannot."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, TextIO

import anyio
import pytest
import requests
from mcp import Client, ClientSession, StdioServerParameters, stdio_client
from mcp.types import CallToolResult

from trivium.cli.app import main
from trivium.engine import Engine

QUESTION = "Who discovered the two moons of Mars?"


def command(store: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "trivium", "mcp", "--store", str(store), *options]


def wait_for(port: int, server: subprocess.Popen[str]) -> None:
    """Until somebody listens."""
    deadline = time.monotonic() + 60
    while server.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    server.kill()
    pytest.fail(f"nobody listens: {server.communicate()[1]}")


def test_the_sdks_client_asks_the_real_process(sample_store: Path, tmp_path: Path) -> None:
    """Every tool, structured as its schema says (the client checks it); the passages are the engine's. Nothing but the
    protocol is on stdout, also where a tool fails; what is logged goes to stderr, as JSON."""
    wire, log = tmp_path / "wire", tmp_path / "log"

    async def talk() -> dict[str, CallToolResult]:
        server = StdioServerParameters(
            command="sh",
            args=["-c", 'wire=$1; shift; "$@" | tee "$wire"', "sh", str(wire), *command(sample_store)],
            env={"PYTHONPATH": os.environ.get("PYTHONPATH", "")},
        )
        with log.open("w") as errors:
            return await ask_all(server, errors)

    async def ask_all(server: StdioServerParameters, errors: TextIO) -> dict[str, CallToolResult]:
        async with (
            stdio_client(server, errors) as (read, write),
            ClientSession(read, write) as session,
        ):
            opened = await session.initialize()
            assert opened.server_info.name == "trivium" and "data" in (opened.instructions or "")
            await session.list_tools()
            return {
                "search": await session.call_tool("search", {"question": QUESTION, "k": 4}),
                "ask": await session.call_tool("ask", {"question": QUESTION}),
                "open_section": await session.call_tool("open_section", {"uri": "Mars#Atmosphere"}),
                "neighbours": await session.call_tool("neighbours", {"entity": "Phobos (moon)"}),
                "stats": await session.call_tool("stats", {}),
                "wrong": await session.call_tool("open_section", {"uri": "Vulcan (planet)"}),
            }

    results = anyio.run(talk)
    found = results["search"].structured_content["passages"]
    with Engine.open(sample_store) as engine:
        hits = engine.search(QUESTION, 4)
    assert [(one["uri"], one["score"], one["text"]) for one in found] == [
        (hit.uri, hit.score, hit.text) for hit in hits
    ]
    assert "Asaph Hall" in results["ask"].structured_content["answer"]
    assert results["open_section"].structured_content["headings"] == ["Mars", "Atmosphere"]
    related = results["neighbours"].structured_content["relations"]
    assert {"source": "Mars", "type": "moons", "target": "Phobos (moon)"} in related
    assert results["stats"].structured_content["nodes"]["Page"] == 51
    assert results["wrong"].is_error
    assert not any(result.is_error for name, result in results.items() if name != "wrong")
    answers = [json.loads(line) for line in wire.read_text("utf-8").splitlines()]
    assert len(answers) >= 8 and all(answer["jsonrpc"] == "2.0" for answer in answers)
    logged = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert any("Vulcan" in line["message"] for line in logged)


def test_every_line_that_is_no_request_is_answered_with_an_error(sample_store: Path) -> None:
    """Half a surrogate pair, no JSON, wrong types, endless lines: each gets its error, and what comes after is served."""

    def line(number: int, **params: object) -> bytes:
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()

    refused = {
        1: line(1, name="search", arguments={"question": "Mars \ud800"}),
        2: line(2, name="\udfff", arguments={}),
        3: line(3, name="search", arguments={"question": "Mars", "settings": {"\ud800": 1}}),
        4: b'{"jsonrpc": "2.0", "id": 4, "method": 7}',
        5: b'{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": [1]}',
        6: b'{"id": 6, "method": "ping"}',
        7: b'{"jsonrpc": "2.0", "id": 7, "method": "no/such"}',
    }
    nameless = [
        b'{"jsonrpc": nope',
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b"[1, 2]",
        b"null",
        b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}',
        b"x" * 9_000_000,
        line(8, name="search", arguments={"question": "x" * 9_000_000}),
    ]
    failing = {
        10: line(10, name="no_such_tool", arguments={}),
        11: line(11, name="search", arguments={"question": 42}),
        12: line(12, name="search", arguments={"question": "x" * 1_000_000}),
    }
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    opening = [
        json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}).encode(),
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
    ]
    last = line(99, name="stats", arguments={})
    with subprocess.Popen(
        command(sample_store), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        assert server.stdin is not None and server.stdout is not None
        late = threading.Timer(60, server.kill)
        late.start()
        for sent in (*opening, b"", *refused.values(), *nameless, *failing.values(), last):
            server.stdin.write(sent + b"\n")
            server.stdin.flush()
        answers: list[dict[str, Any]] = []
        wanted = 2 + len(refused) + len(nameless) + len(failing)
        while len(answers) < wanted and (got := server.stdout.readline()):
            answers.append(json.loads(got))
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=5) == -signal.SIGINT, "an interrupt ends it while it waits for a line"
        late.cancel()
    by_number = {answer["id"]: answer for answer in answers}
    assert {number for number in refused if "error" in by_number[number]} == set(refused)
    assert [answer["error"]["code"] for answer in answers if answer["id"] is None] == [
        *[-32700] * 3,
        *[-32600] * 5,
    ]
    assert all(by_number[number]["result"]["isError"] for number in failing)
    assert by_number[99]["result"]["structuredContent"]["nodes"]["Page"] == 51


def test_over_http_it_serves_this_machine_only(sample_store: Path) -> None:
    """The SDK's client finds the same tools there; a page of the web that rebound its name is refused."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}/mcp"

    async def talk() -> CallToolResult:
        async with Client(address) as client:
            return await client.call_tool("search", {"question": QUESTION, "k": 1})

    with subprocess.Popen(
        command(sample_store, "--port", str(port)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as server:
        wait_for(port, server)
        result = anyio.run(talk)
        foreign = requests.post(address, headers={"Host": "evil.example"}, json={}, timeout=10)
        server.send_signal(signal.SIGTERM)
        out, err = server.communicate(timeout=60)
    assert address in err.replace("\n", "")
    assert len(result.structured_content["passages"]) == 1
    assert foreign.status_code in (403, 421)
    assert out == ""


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (["--store", "nowhere"], 1, "nowhere"),
        (["--live", "telepathy"], 2, "telepathy"),
        (["--model", "local:missing.gguf"], 1, "missing.gguf"),
        (["--port", "0"], 2, "--port"),
    ],
)
def test_what_cannot_be_served_is_said_at_once(
    sample_store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    options: list[str],
    code: int,
    says: str,
) -> None:
    """On stderr: a client shows its user that. Nothing is begun."""
    monkeypatch.chdir(tmp_path)
    store = [] if "--store" in options else ["--store", str(sample_store)]
    with pytest.raises(SystemExit) as ended:
        main(["mcp", *store, *options])
    out, err = capfd.readouterr()
    assert (ended.value.code, out) == (code, "")
    assert says in err and "Traceback" not in err


def test_the_configuration_blocks_of_the_documentation_are_understood(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """All that is wrong with them is that there is no store at that path."""
    guide = (Path(__file__).parents[2] / "docs" / "howto" / "mcp.md").read_text("utf-8")
    blocks = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", guide, re.DOTALL)]
    servers = [server["trivium"] for block in blocks for server in block.values()]
    shell = [line.partition(" -- ")[2].split() for line in guide.splitlines() if " -- trivium " in line]
    assert [server["command"] for server in servers] == ["trivium"] * 2 and len(shell) == 1
    for arguments in (*(server["args"] for server in servers), shell[0][1:]):
        with pytest.raises(SystemExit, match="1"):
            main(arguments)
        assert "/path/to/my-store" in capfd.readouterr().err.replace("\n", "")


def test_nothing_else_loads_the_libraries_and_without_one_its_extra_is_named(sample_store: Path) -> None:
    code = """
import importlib, sys
import trivium, trivium.engine, trivium.cli
assert not {"haystack", "langchain_core", "llama_index", "mcp", "mcp_types"} & set(sys.modules)
sys.modules |= dict.fromkeys(("haystack", "langchain_core", "langchain_core.callbacks", "llama_index", "mcp"))
for name in ("haystack", "langchain", "llama_index"):
    try:
        importlib.import_module(f"trivium.integrations.{name}")
    except trivium.TriviumError as error:
        assert error.__suppress_context__ and error.__cause__ is None  # one traceback, which ends with the command
        print(error, file=sys.stderr)
trivium.cli.main(["mcp", "--store", sys.argv[1]])
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(sample_store)], capture_output=True, text=True, check=False
    )
    said = done.stderr.replace("\n", " ")
    assert done.returncode == 1
    assert all(
        f"pip install 'trivium[{extra}]'" in said for extra in ("haystack", "langchain", "llamaindex", "mcp")
    )
