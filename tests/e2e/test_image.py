"""The image of the Dockerfile, without Docker: its steps are run in a folder, and the server as a container runs it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from tests.e2e.image_steps import ROOT, Image, copy_context, make_image, stages
from tests.e2e.served import ready
from tests.server.world import serving
from trivium.server.run_server import CLOSE_SECONDS
from trivium.server.settings import ServerSettings

COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
QUESTION = "Who discovered the two moons of Mars?"


def test_a_container_is_no_root_and_gets_its_signals_itself(sample_store: Path) -> None:
    """Everything is there before it runs: the last stage ends with no step that root or a shell would have to do."""
    _, last = stages()
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", last.last("USER"))
    assert last.program()[:2] == ["trivium", "serve"] and last.last("STOPSIGNAL") == "SIGTERM"
    (path,) = re.findall(r":8000(/\w+)'", last.health()[-1])
    with serving(sample_store) as client:
        assert client.get(path).status_code == 200
    assert not re.search(r"apt-get|gcc|ziglang", " ".join(last.runs()))


def test_the_context_has_what_the_wheel_is_made_of_and_nothing_of_its_user(tmp_path: Path) -> None:
    """Compared with the files that are tracked below the package."""
    copy_context(tmp_path)
    tracked = subprocess.run(
        ["git", "ls-files", "trivium"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert all((tmp_path / name).is_file() for name in tracked if (ROOT / name).exists())
    copied = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert not [name for name in copied if name.endswith((".so", ".pyc", ".db", ".env"))]
    needed = re.findall(r'^"(docs/\S+)" = ', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    assert needed and all((tmp_path / name).exists() for name in needed)


def test_the_composed_server_is_for_this_machine_alone_and_starts_only_when_named() -> None:
    """Beside the database, which is what it was: `tools/neo4j/docker` starts all that has no profile."""
    services = COMPOSE["services"]
    assert [name for name, service in services.items() if "profiles" not in service] == ["neo4j"]
    server = services["trivium"]
    for service in services.values():
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert server["read_only"] and server["cap_drop"] == ["ALL"] and server["tmpfs"] == ["/tmp"]
    assert {volume.split(":")[-1] for volume in server["volumes"]} == {"/data", "ro"}
    assert int(server["stop_grace_period"][:-1]) > ServerSettings().shutdown_timeout + CLOSE_SECONDS
    assert "--allow-host" in server["command"]


@pytest.fixture(scope="module")
def image() -> Iterator[Image]:
    """Made in a folder that other users may enter, and that nobody may change afterwards."""
    root = Path(tempfile.mkdtemp(prefix="trivium-image-"))
    root.chmod(0o755)
    try:
        made = make_image(root)
        shutil.rmtree(root / "src")
        shutil.rmtree(root / "wheels")
        if made.user is None:
            _write_protect(root / "opt", True)
        yield made
        if made.user is None:
            _write_protect(root / "opt", False)
    finally:
        shutil.rmtree(root)


@pytest.mark.slow
def test_a_container_serves_from_its_volume_and_writes_nowhere_else(
    image: Image, sample_store: Path, tmp_path: Path
) -> None:
    """The loops and the model are those of the image, nothing is compiled, fetched or left behind; SIGTERM ends it."""
    store = image.root / "data" / "store"
    shutil.copytree(sample_store, store)
    for path in (image.root / "data", store, *store.rglob("*")):
        if image.user is not None:
            os.chown(path, image.user, image.user)
    before = _files(image.root / "opt")
    with _no_network() as (proxy, asked), (tmp_path / "log").open("w+") as log:
        port = _free_port()
        command = [*image.stage.program(), "--port", str(port)]
        container: dict[str, Any] = {"env": image.environment(**proxy), "cwd": "/"}
        if image.user is not None:
            container |= {"user": image.user, "group": image.user, "extra_groups": ()}
        command[0] = str(image.root / "opt" / "trivium" / "bin" / command[0])
        server = subprocess.Popen(command, stdout=log, stderr=log, **container)
        try:
            address = f"http://127.0.0.1:{port}/"
            _listening(server, port)
            health = [part.replace("8000", str(port)) for part in image.stage.health()]
            health[0] = str(image.root / "opt" / "trivium" / "bin" / health[0])
            assert subprocess.run(health, check=False, **container).returncode == 0
            ready(address)
            found = requests.post(f"{address}search", json={"question": QUESTION, "k": 3}, timeout=60).json()
            assert "Asaph Hall" in json.dumps(found["hits"])
            added = requests.post(f"{address}documents", files={"files": ("a.txt", b"A ferry.")}, timeout=60)
            assert added.status_code == 202
            maps = Path(f"/proc/{server.pid}/maps")
            if maps.exists():
                assert f"{image.root}/opt/trivium/" in " ".join(
                    line for line in maps.read_text().splitlines() if "/native/compiled/loops-" in line
                )
            server.send_signal(signal.SIGTERM)
            assert server.wait(ServerSettings().shutdown_timeout + CLOSE_SECONDS) == 0
        finally:
            if server.poll() is None:
                server.kill()
            server.wait()
        log.seek(0)
        assert "Traceback" not in (said := log.read()), said
    assert asked == [] and _files(image.root / "opt") == before
    assert list((image.root / "tmp").iterdir()) == []
    assert {path.name for path in (image.root / "data").iterdir()} == {"store"}
    # The check of health fails where no server is.
    assert subprocess.run(health, check=False, capture_output=True, **container).returncode != 0


def _write_protect(folder: Path, yes: bool) -> None:
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & ~0o222 if yes else path.stat().st_mode | 0o200)


def _files(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_size) for path in folder.rglob("*")}


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


def _listening(server: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + 60
    while server.poll() is None and time.monotonic() < deadline:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"the server ended with {server.poll()}")


@contextmanager
def _no_network() -> Iterator[tuple[dict[str, str], list[str]]]:
    """Variables that lead every request elsewhere to a proxy, and the requests that have come to it."""
    asked: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        address = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
        yield {name: address for each in names for name in (each, each.lower())}, asked
        proxy.settimeout(0)
        with suppress(BlockingIOError):
            asked.append(str(proxy.accept()[1]))
