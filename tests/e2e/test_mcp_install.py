"""`trivium mcp install`: the entry that it writes starts a server, and nothing else in the file changes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import ClientSession, StdioServerParameters, stdio_client

from tests.server.world import build_store
from trivium.cli import mcp_install
from trivium.cli.app import main

QUESTION = "Who found the moons of Mars?"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_store(tmp_path_factory.mktemp("moons of Mars"))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home with nothing in it."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for name in ("CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def install(*arguments: str | Path, code: int = 0) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["mcp", "install", *map(str, arguments)])
    assert ended.value.code == code


def test_a_client_that_starts_the_entry_can_ask(store: Path, home: Path) -> None:
    """From another folder, and without the variables of a shell."""
    install("cursor", "--store", os.path.relpath(store))
    entry = json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]["trivium-store"]

    async def talk() -> Any:
        server = StdioServerParameters(**entry, cwd=home, env={"PATH": "/nowhere"})
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            return await session.call_tool("ask", {"question": QUESTION})

    assert "Asaph Hall" in anyio.run(talk).structured_content["answer"]


@pytest.mark.parametrize(
    ("client", "platform", "variables", "place"),
    [
        ("cursor", "linux", {}, ".cursor/mcp.json"),
        ("claude-code", "darwin", {}, ".claude.json"),
        ("claude-code", "linux", {"CLAUDE_CONFIG_DIR": "work"}, "work/.claude.json"),
        ("claude-desktop", "darwin", {}, "Library/Application Support/Claude/claude_desktop_config.json"),
        ("claude-desktop", "win32", {}, "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("claude-desktop", "win32", {"APPDATA": "roams"}, "roams/Claude/claude_desktop_config.json"),
        ("claude-desktop", "linux", {}, ".config/Claude/claude_desktop_config.json"),
        ("claude-desktop", "linux", {"XDG_CONFIG_HOME": "own"}, "own/Claude/claude_desktop_config.json"),
    ],
)
def test_each_client_has_its_file(
    client: Any,
    platform: str,
    variables: dict[str, str],
    place: str,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, folder in variables.items():
        monkeypatch.setenv(name, str(home / folder))
    monkeypatch.setattr(mcp_install.sys, "platform", platform)
    assert mcp_install._file_of(client) == home / place


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON, max_size=4), st.dictionaries(st.text(min_size=9), JSON, max_size=2))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_all_else_stays_as_it_was(
    store: Path, home: Path, others: dict[str, Any], servers: dict[str, Any]
) -> None:
    """In its order; twice is once; and half a character stays half a character."""
    file = home / ".claude.json"
    before = {**others, "half": "\ud83d", "mcpServers": servers}
    file.write_text(json.dumps(before))
    file.chmod(0o600)
    install("claude-code", "--store", store)
    after = file.read_bytes()
    install("claude-code", "--store", store)
    assert file.read_bytes() == after and file.stat().st_mode & 0o777 == 0o600
    read = json.loads(after)
    assert list(read) == list(before)
    assert list(read["mcpServers"]) == [*servers, "trivium-store"]
    del read["mcpServers"]["trivium-store"]
    assert read == before


def test_what_was_added_to_an_entry_stays_and_another_stores_is_left_alone(
    store: Path, home: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    file = home / ".cursor" / "mcp.json"
    install("cursor", "--store", store)
    servers = json.loads(file.read_text())
    entry = servers["mcpServers"]["trivium-store"]
    own = {
        "command": "/old/trivium",
        "args": ["mcp", "--live", "allow", "--store", str(store)],
        "env": {"A": "b"},
    }
    servers["mcpServers"]["trivium-store"] = own
    file.write_text(json.dumps(servers))
    install("cursor", "--store", store)
    assert json.loads(file.read_text())["mcpServers"]["trivium-store"] == {
        **own,
        "command": entry["command"],
        "args": [*entry["args"][: entry["args"].index("mcp")], *own["args"]],
    }
    before = file.read_bytes()
    install("cursor", "--store", build_store(tmp_path_factory.mktemp("other")), code=1)
    assert "got another: rename it there" in capsys.readouterr().err
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    "content", ['{"mcpServers": {},}', "[]", '{"mcpServers": []}', "// mine\n{}", "\xff"]
)
def test_a_file_that_is_no_such_json_is_refused_and_left_as_it_is(
    store: Path, home: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = home / ".claude.json"
    file.write_bytes(content.encode("latin-1"))
    install("claude-code", "--store", store, code=1)
    assert "expected" in (told := capsys.readouterr().err) and ".claude.json" in told.replace("\n", "")
    assert file.read_bytes() == content.encode("latin-1")


def test_print_writes_nothing_and_a_store_must_be_there(
    store: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install("claude-desktop", "--store", store, "--print")
    place, _, entry = capsys.readouterr().out.partition(":\n")
    assert place.endswith("claude_desktop_config.json")
    assert json.loads(entry)["mcpServers"]["trivium-store"]["args"][-1] == str(store)
    install("claude-desktop", "--store", home / "missing", code=1)
    assert not list(home.iterdir())


def test_a_link_to_the_file_stays_a_link(store: Path, home: Path) -> None:
    """As where configurations are kept in a repository; an empty file is an empty configuration."""
    (home / "kept.json").write_text("")
    (home / ".claude.json").symlink_to(home / "kept.json")
    install("claude-code", "--store", store)
    assert (home / ".claude.json").is_symlink() and "trivium-store" in (home / "kept.json").read_text()
