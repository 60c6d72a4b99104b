"""A build by shards makes the store of a plain build, and does nothing twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.ray_cluster import differences
from tests.index.sharded_builds import build, write_sources
from trivium.engine import Engine
from trivium.errors import ConfigurationError, InputError, MissingExtraError
from trivium.index.sharding import build as sharding
from trivium.index.sharding import cluster, files
from trivium.index.sharding.build import ShardPlan
from trivium.index.sharding.cluster import embed_on_node, parse_on_node
from trivium.index.sharding.shards import PageShard, page_shards
from trivium.index.sharding.work import Work
from trivium.limits import DEFAULT_LIMITS
from trivium.parser.sources.base import Item
from trivium.parser.sources.discover import discover
from trivium.testing.toys import HashEmbedder


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sources(tmp_path_factory.mktemp("sources"))


@pytest.fixture(scope="module")
def plain(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of a plain build."""
    store = tmp_path_factory.mktemp("plain") / "store"
    build(store, sources)
    return store


def differing(one: Path, other: Path) -> list[str]:
    with Engine.open(one, HashEmbedder()) as a, Engine.open(other, HashEmbedder()) as b:
        return differences(a.store, b.store)


def contents(folder: Path) -> dict[str, int]:
    """The files of shards, and when each was written."""
    return {str(path): path.stat().st_mtime_ns for path in folder.glob("*/*") if path.is_file()}


def test_the_store_is_that_of_a_plain_build(
    sources: Path, plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the documents, and however texts are spread over shards: also those that are embedded when all names are
    known. What could not be read is reported alike."""
    monkeypatch.setattr(sharding, "_FEW", 10)
    monkeypatch.setattr(sharding, "_TEXTS", 50)
    monkeypatch.setattr(sharding, "_PASSAGES", 7)
    store = tmp_path / "store"
    report = build(store, sources, ShardPlan(tmp_path / "shards", documents=7))
    assert differing(plain, store) == []
    again = build(tmp_path / "plain", sources)
    assert (report.added, report.languages, report.problems) == (again.added, again.languages, again.problems)
    assert [problem.location.rpartition("/")[2] for problem in report.problems] == ["broken.pdf"]
    assert [(d.page, d.kept) for d in report.duplicates] == [(d.page, d.kept) for d in again.duplicates] != []


def test_two_different_stores_are_told_apart(sources: Path, plain: Path, tmp_path: Path) -> None:
    """The comparison that these tests rest on."""
    other = tmp_path / "other"
    with Engine.create(other, HashEmbedder()) as engine:
        engine.build([sources])
        engine.remove(["Earth"])
    assert differing(plain, other)
    without = tmp_path / "without"
    build(without, sources, options={"sentences": False})
    assert differing(plain, without) == ["vectors of sentences"]


def test_a_build_that_is_killed_goes_on_with_the_shards_that_are_missing(
    sources: Path, plain: Path, tmp_path: Path
) -> None:
    store, shards = tmp_path / "store", tmp_path / "shards"
    command = [sys.executable, "-m", "tests.index.sharded_builds", store, sources, shards]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.split() == ["shards", "3"]:
                os.kill(process.pid, signal.SIGKILL)
    done = contents(shards)
    assert process.returncode == -signal.SIGKILL and len(done) >= 6
    report = build(store, sources, ShardPlan(shards, documents=5))
    after = contents(shards)
    kept = [path for path in done if path in after and done[path] == after[path]]
    assert len(kept) >= 5 and len(after) > len(done), "one shard may have a problem, and is then done again"
    assert report.read > 0 and differing(plain, store) == []


def test_building_again_writes_no_shard_anew_and_changes_nothing(sources: Path, tmp_path: Path) -> None:
    """But for the one with a problem, whose cause may be gone."""
    store, plan = tmp_path / "store", ShardPlan(tmp_path / "shards", documents=5)
    build(store, sources, plan)
    before = contents(tmp_path / "shards")
    with Engine.open(store, HashEmbedder()) as engine:
        state = engine.store.state
    report = build(store, sources, plan)
    after = contents(tmp_path / "shards")
    anew = {path for path in after if before.get(path) != after[path]}
    (faulty,) = (path for path in after if path.endswith(".faulty"))
    key = Path(faulty).name.partition(".")[0]
    assert before.keys() == after.keys() and anew == {path for path in after if key in path}
    assert (report.added, report.replaced) == (0, 0)
    with Engine.open(store, HashEmbedder()) as engine:
        assert engine.store.state == state


def test_only_the_shard_of_a_changed_document_is_done_again(tmp_path: Path) -> None:
    folder, plan = tmp_path / "notes", ShardPlan(tmp_path / "shards", documents=2)
    folder.mkdir()
    for n in range(6):
        (folder / f"{n}.md").write_text(f"# Note {n}\n\nText {n}. More of it.\n")
    build(tmp_path / "store", folder, plan)
    before = contents(tmp_path / "shards")
    (folder / "3.md").write_text("# Note 3\n\nAnother text. More of it.\n")
    assert build(tmp_path / "store", folder, plan).replaced == 1
    after = contents(tmp_path / "shards")
    assert len(before) == 6 and len(after) == 8 and before.items() <= after.items()


def test_shards_are_filled_to_their_size_in_documents_and_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from trivium.index.sharding import shards

    items = []
    for n in range(5):
        file = tmp_path / f"{n}.txt"
        file.write_text("x" * (10 if n < 3 else 100))
        items.append(Item("text", str(file)))
    monkeypatch.setattr(shards, "_MAX_BYTES", 100)
    found = list(page_shards(items, 2, "all"))
    assert [len(shard.items) for shard in found] == [2, 2, 1]
    assert [shard.key for shard in found] != [shard.key for shard in page_shards(items, 2, "others")]


def test_a_damaged_shard_is_named(sources: Path, tmp_path: Path) -> None:
    plan = ShardPlan(tmp_path / "shards", documents=5)
    build(tmp_path / "store", sources, plan)
    victim = min((tmp_path / "shards").glob("*/*.pages"))
    victim.write_bytes(victim.read_bytes()[:-20])
    with pytest.raises(InputError, match=f"{victim.name} cannot be read .*: delete it and build again"):
        build(tmp_path / "second", sources, plan)


def test_shards_in_a_folder_of_sources_are_no_documents(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("# Note\n\nText.\n")
    build(tmp_path / "store", tmp_path, ShardPlan(tmp_path / "made.shards"))
    found = list(discover([str(tmp_path)], "auto", DEFAULT_LIMITS))
    assert [Path(item.location).name for item in found] == ["note.md"]


@pytest.mark.parametrize(
    ("options", "named"), [({"late": True}, "chunked late"), ({"chunker": "semantic"}, "chunker semantic")]
)
def test_what_hangs_on_more_than_a_shard_is_refused(
    options: dict[str, object], named: str, sources: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match=named):
        build(tmp_path / "store", sources, ShardPlan(tmp_path / "shards"), options)  # type: ignore[arg-type]


def test_where_nodes_have_cards_this_machine_embeds_nothing(tmp_path: Path) -> None:
    """It may have none: the last few texts, which it embeds otherwise, are a shard, too."""
    plain = HashEmbedder()

    class OnCard(HashEmbedder):
        gpus = 1.0

    on_cluster, here = ShardPlan(tmp_path, "auto"), ShardPlan(tmp_path)
    given = [(on_cluster, OnCard()), (on_cluster, plain), (here, OnCard()), (on_cluster, None)]
    assert [sharding.few_texts(plan, embedder) for plan, embedder in given] == [0, 200, 200, 200]


def test_nothing_is_embedded_where_that_is_not_wanted(sources: Path, plain: Path, tmp_path: Path) -> None:
    """And later the same pages are embedded without being parsed again."""
    plan = ShardPlan(tmp_path / "shards", documents=5)
    build(tmp_path / "store", sources, plan, {"embed": False})
    assert {Path(path).suffix for path in contents(tmp_path / "shards")} == {".pages", ".faulty"}
    build(tmp_path / "store", sources, plan)
    assert differing(plain, tmp_path / "store") == []


# -- what a node says ----------------------------------------------------------------------------------------


@pytest.fixture
def work(tmp_path: Path) -> Work:
    (tmp_path / "seen").write_text("")
    return Work(tmp_path / "shards", str(tmp_path), DEFAULT_LIMITS, "blocks")


def test_a_node_that_sees_other_folders_says_which(
    work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(files, "_SECONDS", 0.0)
    seen = str(tmp_path / "seen")
    shard = PageShard("00", (Item("text", "gone/a.txt"), Item("text", "gone/b.txt")))
    for given, marker, reason in (
        (work, str(tmp_path / "unseen"), f"does not see the folder {work.folder}"),
        (Work(work.folder, "/nowhere", work.limits, "blocks"), seen, "does not see the folder /nowhere"),
        (work, seen, f"does not see the sources \\({tmp_path}/gone/a.txt\\)"),
        (Work(work.folder, work.cwd, work.limits, "blocks", version="0"), seen, "expected Trivium 0"),
    ):
        failure = parse_on_node(given, marker, shard)
        assert failure is not None and not failure[0]
        with pytest.raises(ConfigurationError, match=f"the node .*{reason}"):
            raise ConfigurationError(failure[1])
        assert embed_on_node(given, marker, shard, failure) is failure, "a shard that is not parsed"
    cluster._PARSERS.clear()


def test_a_node_with_another_version_of_the_embedder_says_so(work: Work, tmp_path: Path) -> None:
    identity = HashEmbedder(8).identity
    other = Work(work.folder, work.cwd, work.limits, "blocks", HashEmbedder(16), identity)
    failure = embed_on_node(other, str(tmp_path / "seen"), PageShard("00", ()), None)
    assert failure is not None and "dimension=8" in failure[1] and "dimension=16" in failure[1]


@pytest.mark.parametrize("address", ["here", "host:", ":1", "ray://host:10001", "host:port"])
def test_what_is_no_address_of_a_cluster_is_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="expected auto, local or HOST:PORT"):
        ShardPlan(tmp_path, address).check()


def test_without_ray_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'trivium\[ray\]'"):
        cluster.check_ray()
