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

import pytest

from benchmarks.ray_cluster import Nodes, differences
from tests.index.sharded_builds import build, write_sources
from tests.waiting import until
from trivium.engine import Engine
from trivium.errors import ConfigurationError
from trivium.index.sharding.build import ShardPlan
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


@pytest.mark.slow
def test_a_node_that_is_killed_costs_nothing_but_time(nodes: Nodes, sources: Path, tmp_path: Path) -> None:
    build(tmp_path / "plain", sources)
    nodes.replace()  # a third
    killed: list[int] = []

    def kill_once(stage: str, done: int, _: int) -> None:
        if stage == "shards" and not killed:
            killed.append(done)
            nodes.kill()

    plan = ShardPlan(tmp_path / "shards", nodes.address, documents=3)
    report = build(tmp_path / "store", sources, plan, {"progress": kill_once})
    assert killed == [1]
    assert [problem.location.rpartition("/")[2] for problem in report.problems] == ["broken.pdf"]
    with Engine.open(tmp_path / "plain") as plain, Engine.open(tmp_path / "store") as store:
        assert differences(plain.store, store.store) == []
    left = [path.name for path in (tmp_path / "shards").rglob("*") if path.suffix in (".seen", ".part")]
    assert left == []


def test_the_command_is_interrupted_and_goes_on(
    nodes: Nodes, sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing but its result is on stdout, and relative paths mean the folder in which it was started."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [
        *(
            sys.executable,
            "-m",
            "trivium",
            "build",
            sources.name,
            "--store",
            tmp_path / "store",
            "--no-embed",
        ),
        *("--ray", nodes.address, "--shard-size", "2", "--json"),
    ]
    shards = tmp_path / "store.shards"
    with subprocess.Popen(
        command, cwd=sources.parent, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    ) as first:
        until(lambda: first.poll() is not None or len(list(shards.glob("*/*.pages"))) >= 2)
        first.send_signal(signal.SIGINT)
        _, err = first.communicate(timeout=60)
    assert first.returncode == 130 and b"Traceback" not in err, err
    done = {path: path.stat().st_mtime_ns for path in shards.glob("*/*.pages")}
    again = subprocess.run(
        command, cwd=sources.parent, env=environment, capture_output=True, timeout=120, check=False
    )
    assert again.returncode == 3, again.stderr  # for the file that cannot be read
    assert json.loads(again.stdout)["problems"]
    assert done and all(path.stat().st_mtime_ns == at for path, at in done.items())
    monkeypatch.chdir(sources.parent)
    with Engine.create(tmp_path / "plain") as engine:
        engine.build([Path(sources.name)], embed=False)
    with Engine.open(tmp_path / "plain") as one, Engine.open(tmp_path / "store") as other:
        assert differences(one.store, other.store) == []


@pytest.mark.slow
def test_what_fails_on_a_node_is_told_with_its_reason(nodes: Nodes, sources: Path, tmp_path: Path) -> None:
    """Here of a node on which the embedder is another."""
    with (
        pytest.raises(ConfigurationError, match=r"the node .*: expected the embedder .*=64.*got .*=65"),
        Engine.create(tmp_path / "store", Moody()) as engine,
    ):
        engine.build([sources / "plain.txt"], shards=ShardPlan(tmp_path / "shards", nodes.address))


def test_where_no_cluster_answers_the_command_that_starts_one_is_named(tmp_path: Path) -> None:
    """The first test has imported Ray, with the token of the cluster."""
    (tmp_path / "note.md").write_text("# Note\n\nText.\n")
    with pytest.raises(
        ConfigurationError, match=r"there is no Ray cluster at localhost:1 .*ray start --head"
    ):
        build(tmp_path / "store", tmp_path / "note.md", ShardPlan(tmp_path / "shards", "localhost:1"))


class Moody(HashEmbedder):
    """Another version in every process but the one that made it."""

    def __reduce__(self) -> tuple[type[HashEmbedder], tuple[int]]:
        return HashEmbedder, (self.identity.dimension + 1,)
