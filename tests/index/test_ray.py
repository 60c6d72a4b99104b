"""A cluster of several nodes makes the store of a plain build, whatever becomes of one of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from benchmarks.ray_cluster import Nodes, differences
from tests.index.mixed_sources import write_sources
from tests.waiting import until
from trivium.engine import Engine
from trivium.errors import ConfigurationError
from trivium.index import build_parts
from trivium.index.load_report import IngestReport
from trivium.testing.toys import HashEmbedder

pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra ray"),
    # Processes that Ray has started here, and does not wait for when it loses sight of them.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sources(tmp_path_factory.mktemp("sources"), pages=12)


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    made = Nodes(2)
    yield made
    made.close()


def build(store: Path, sources: Path, **options: Any) -> IngestReport:
    with Engine.create(store, HashEmbedder()) as engine:
        return engine.build([sources], **options)


def test_the_command_is_interrupted_and_goes_on_although_a_node_is_killed(
    nodes: Nodes, sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No part is made twice, and the store is that of an ordinary build. Nothing but its result is on stdout, and
    relative paths mean the folder in which it was started."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    store = tmp_path / "store"
    command = [sys.executable, "-c", IN_SMALL_PARTS, "build", sources.name, "--store", store, "--no-embed"]
    command += ["--ray", nodes.address, "--json"]

    def made() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in Path(f"{store}.parts").glob("*/*.npz")}

    with subprocess.Popen(
        command, cwd=sources.parent, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    ) as first:
        until(lambda: first.poll() is not None or len(made()) >= 2)
        first.send_signal(signal.SIGINT)
        _, err = first.communicate(timeout=60)
    assert first.returncode == 130 and b"Traceback" not in err, err
    done = made()
    with subprocess.Popen(
        command, cwd=sources.parent, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    ) as again:
        until(lambda: again.poll() is not None or len(made()) > len(done))
        nodes.kill()
        out, err = again.communicate(timeout=120)
    assert again.returncode == 3, err  # for the file that cannot be read
    assert json.loads(out)["problems"]
    assert done and done.items() <= made().items()
    monkeypatch.chdir(sources.parent)
    with Engine.create(tmp_path / "ordinary") as engine:
        engine.build([Path(sources.name)], embed=False)
    with Engine.open(tmp_path / "ordinary") as one, Engine.open(store) as other:
        assert differences(one.store, other.store) == []


IN_SMALL_PARTS = """
from trivium.index import build_parts
build_parts.DOCUMENTS = 2
from trivium.__main__ import run
run()
"""


@pytest.mark.slow
def test_a_node_that_is_killed_costs_nothing_but_time(
    nodes: Nodes, sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it embeds."""
    monkeypatch.setattr(build_parts, "DOCUMENTS", 3)
    build(tmp_path / "ordinary", sources)
    nodes.replace()
    killed: list[int] = []

    def kill_once(stage: str, done: int, _: int) -> None:
        if stage == "parts" and not killed:
            killed.append(done)
            nodes.kill()

    report = build(tmp_path / "store", sources, ray=nodes.address, progress=kill_once)
    assert killed == [1]
    assert [problem.location.rpartition("/")[2] for problem in report.problems] == ["broken.pdf"]
    with Engine.open(tmp_path / "ordinary") as one, Engine.open(tmp_path / "store") as other:
        assert differences(one.store, other.store) == []


@pytest.mark.slow
def test_what_fails_on_a_node_is_told_with_its_reason(nodes: Nodes, sources: Path, tmp_path: Path) -> None:
    """Here of a node on which the embedder is another."""
    with (
        pytest.raises(ConfigurationError, match=r"the node .*: expected the embedder .*=64.*got .*=65"),
        Engine.create(tmp_path / "store", Moody()) as engine,
    ):
        engine.build([sources / "plain.txt"], ray=nodes.address)


def test_where_no_cluster_answers_the_command_that_starts_one_is_named(nodes: Nodes, tmp_path: Path) -> None:
    """Ray has been imported with the token of the cluster."""
    (tmp_path / "note.md").write_text("# Note\n\nText.\n")
    with pytest.raises(
        ConfigurationError, match=r"there is no Ray cluster at localhost:1 .*ray start --head"
    ):
        build(tmp_path / "store", tmp_path / "note.md", ray="localhost:1")


class Moody(HashEmbedder):
    """Another version in every process but the one that made it."""

    def __reduce__(self) -> tuple[type[HashEmbedder], tuple[int]]:
        return HashEmbedder, (self.identity.dimension + 1,)
