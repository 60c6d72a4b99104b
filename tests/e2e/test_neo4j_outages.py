"""Servers that are killed, read-only or out of disk, through the command line: clear errors, and nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.conftest import Run
from tests.fakes.disks import small_disk
from tests.neo4j_servers import V5, Server, count_pages, log_in, own_server, start_server, stop_server

pytestmark = pytest.mark.slow

SOME = 100
"""One transaction."""
LOADED = 600
"""Pages of the load that is killed."""


def pid_of(server: Server) -> int:
    return int(json.loads((server.home / "server.json").read_text("utf-8"))["pid"])


def test_a_load_goes_on_after_the_server_was_killed(
    trivium: Run, records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """kill -9 in the middle, a restart, and the same command again: every count is that of an undisturbed load."""
    pages = tmp_path / "pages.jsonl"
    pages.write_text("".join(records.read_text("utf-8").splitlines(keepends=True)[:LOADED]), "utf-8")
    whole = trivium("build", pages, "--store", tmp_path / "whole", "--no-embed", "--json").json
    with own_server(tmp_path / "home", V5, password="-begins with a dash") as server:
        log_in(monkeypatch, server)
        load = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "trivium",
                "build",
                pages,
                "--store",
                server.bolt,
                "--no-embed",
                "--json",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        deadline = time.monotonic() + 120
        while count_pages(server) < 200 and load.poll() is None:
            assert time.monotonic() < deadline, "the load commits nothing"
            time.sleep(0.05)
        os.kill(pid_of(server), signal.SIGKILL)
        _, said = load.communicate(timeout=120)
        assert load.returncode == 1, said
        assert "make neo4j" in said and "what was committed stays" in said and "Traceback" not in said

        server = start_server(server.home, V5)
        kept = count_pages(server)
        assert 100 <= kept < LOADED
        done = trivium("build", pages, "--store", server.bolt, "--no-embed", "--json")
        assert done.code == 0, done.err
        assert done.json["pages"]["added"] == LOADED - kept
        stats = trivium("stats", "--store", server.bolt, "--json").json
        assert stats["nodes"] == whole["nodes"]
        assert stats["relationships"] == whole["relationships"]


def test_a_database_in_read_only_mode_can_be_searched_and_refuses_writes(
    trivium: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says so; nothing changes."""
    pages = tmp_path / "two.jsonl"
    pages.write_text(
        json.dumps({"title": "Mars", "text": "Mars is red."})
        + "\n"
        + json.dumps({"title": "Moon", "text": "The Moon is grey, not like Mars."})
        + "\n"
    )
    home = tmp_path / "home"
    with own_server(home, V5) as server:
        log_in(monkeypatch, server)
        built = trivium("build", pages, "--store", server.bolt, "--embedder", "minilm", "--json")
        assert built.code == 0, built.err
        stop_server(home)
        server = start_server(home, V5, "--read-only")
        found = trivium("search", "Which planet is red?", "--store", server.bolt, "--json")
        assert found.code == 0, found.err
        assert found.json["hits"][0]["page"] == "Mars"
        for command in (["remove", "Mars"], ["add", str(pages).replace("two", "three")]):
            Path(str(pages).replace("two", "three")).write_text('{"title": "Io", "text": "Io is yellow."}\n')
            refused = trivium(*command, "--store", server.bolt)
            assert refused.code == 1 and "read-only" in refused.err, refused.err
        assert trivium("stats", "--store", server.bolt, "--json").json["nodes"] == built.json["nodes"]


def test_a_full_disk_is_said_and_what_was_committed_is_there_when_there_is_room_again(
    trivium: Run, records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The load ends with an error that names the disk; with room again the same command finishes it."""
    disk = tmp_path / "disk"
    some = tmp_path / "some.jsonl"
    some.write_text("".join(records.read_text("utf-8").splitlines(keepends=True)[:SOME]), "utf-8")
    with small_disk(disk, 700), own_server(disk / "home", V5) as server:
        log_in(monkeypatch, server)
        assert trivium("build", some, "--store", server.bolt, "--no-embed", "--workers", "1").code == 0
        filler = disk / "filler"
        more = tmp_path / "more.jsonl"
        with more.open("w", encoding="utf-8") as file:
            for number in range(SOME):
                file.write(
                    json.dumps({"title": f"Long {number}", "text": f"{number} is long. " * 4000}) + "\n"
                )
        free = os.statvfs(disk)
        with filler.open("wb") as file:
            file.write(b"\0" * max(0, free.f_bavail * free.f_frsize - 2_000_000))
        full = trivium("build", more, "--store", server.bolt, "--no-embed", "--workers", "1")
        filler.unlink()
        os.kill(pid_of(server), signal.SIGKILL)  # a server that could not write waits long before it stops
        assert full.code == 1, full.err
        assert "Traceback" not in full.err
        assert "could not write to its disk" in full.err, full.err
        server = start_server(disk / "home", V5)
        assert count_pages(server) == SOME
        done = trivium("build", more, "--store", server.bolt, "--no-embed", "--workers", "1", "--json")
        assert done.code == 0, done.err
        assert done.json["nodes"]["Page"] == 2 * SOME
