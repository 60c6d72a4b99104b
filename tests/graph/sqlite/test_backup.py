"""A store as one file: consistent while it is written to, whole or not there, and the same store again."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from tests.contract.graphs import embed_pending, graph
from tests.contract.state import state_of
from tests.fakes.flips import flip
from tests.fakes.kills import kill_at_event
from trivium.errors import InputError, StoreError, StoreNotFoundError
from trivium.graph.backup import back_up, restore
from trivium.graph.sqlite import EmbeddedStore

PAGES = [
    graph(
        title,
        [(f"red {title}", ["Sun", "Mars"])],
        {"Moons": [("two moons", ["Phobos"])]},
        aliases=[f"The {title}"],
        relations=[("orbits", "Sun")],
    )
    for title in ("Mars", "Earth", "Venus")
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store of three pages."""
    folder = tmp_path / "store"
    with EmbeddedStore.create(folder) as store:
        store.write(PAGES)
        store.set_types({"Phobos": "moon"})
        store.set_fusion_decision("convex")
        embed_pending(store)
    return folder


def test_what_is_restored_answers_as_the_original_does(folder: Path, tmp_path: Path) -> None:
    """Every read, the rankings included; and it can be written to like any store."""
    report = back_up(folder, tmp_path / "backup" / "mars.trivium")
    assert report.file_bytes < report.database_bytes
    with EmbeddedStore.open(folder) as store:
        before = state_of(store)
    restored = restore(report.file, tmp_path / "again")
    assert (restored.state, restored.database_bytes) == (report.state, report.database_bytes)
    assert [path.name for path in (tmp_path / "again").iterdir()] == ["graph.db"]
    with EmbeddedStore.open(tmp_path / "again") as store:
        assert state_of(store) == before
        assert store.checker().check() == []
        assert store.fusion_decision == "convex"
        store.delete(["Mars"])


_WRITER = """
import sys
from itertools import count
from tests.contract.graphs import graph
from trivium.graph.sqlite import EmbeddedStore
from trivium.graph.page_graph import RelationEdge
with EmbeddedStore.open(sys.argv[1]) as store:
    for number in count():
        store.write([graph(title, [(f"{number} " * 500, ["Sun"])]) for title in ("Mars", "Earth", "Venus")])
        print(number, flush=True)
"""


@contextmanager
def _another_process_writes(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Always all three pages at once."""
    process = subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(folder)], stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_backup_holds_one_state_while_another_process_writes(folder: Path, tmp_path: Path) -> None:
    """Of three pages that are always written together, all have the same number in each backup."""
    seen = set()
    with _another_process_writes(folder) as process:
        assert process.stdout is not None
        process.stdout.readline()
        for number in count():
            back_up(folder, tmp_path / "backup")
            process.stdout.readline()
            restore(tmp_path / "backup", tmp_path / str(number))
            with EmbeddedStore.open(tmp_path / str(number)) as store:
                (same,) = {page.chunks[0].text for page in store.page_graphs()}
                assert store.checker().check() == []
            seen.add(same)
            if len(seen) > 3:
                break
            assert number < 100, "the other process does not write"


def test_a_backup_that_is_killed_leaves_nothing_or_the_earlier_one(folder: Path, tmp_path: Path) -> None:
    """At each thing it does with files; the next one works and tidies up what the killed ones left."""
    imports = "from trivium.graph.backup import back_up"
    file = tmp_path / "backups" / "mars.trivium"
    for number in count(1, 3):
        killed = kill_at_event(number, imports, "back_up(sys.argv[2], sys.argv[3])", folder, file)
        if file.exists():
            restore(file, tmp_path / str(number))
        if not killed:
            break
    assert number > 10
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_restore_that_is_killed_leaves_no_store_or_a_whole_one(folder: Path, tmp_path: Path) -> None:
    """At each thing it does with files; where there is none, the next restore works there."""
    imports = "from trivium.graph.backup import restore"
    file = back_up(folder, tmp_path / "mars.trivium").file
    for number in count(1, 2):
        target = tmp_path / str(number)
        killed = kill_at_event(number, imports, "restore(sys.argv[2], sys.argv[3])", file, target)
        if not EmbeddedStore.exists(target):
            restore(file, target)
        with EmbeddedStore.open(target) as store:
            assert store.checker().check() == []
        assert not [path for path in target.iterdir() if path.name.endswith(".part")]
        if not killed:
            break
    assert number > 5


def test_a_backup_replaces_an_earlier_one_and_two_at_once_do_not_disturb_each_other(
    folder: Path, tmp_path: Path
) -> None:
    """The last one that ends is there."""
    code = "import sys; from trivium.graph.backup import back_up; input(); back_up(*sys.argv[1:])"
    file = tmp_path / "mars.trivium"
    back_up(folder, file)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(folder), str(file)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for process in processes:
        _, said = process.communicate("\n")
        assert process.returncode == 0, said
    restore(file, tmp_path / "again")
    assert not list(tmp_path.glob(".*"))


def test_nothing_is_restored_over_something(folder: Path, tmp_path: Path) -> None:
    """Neither over a store nor into a folder with other files."""
    file = back_up(folder, tmp_path / "mars.trivium").file
    with pytest.raises(StoreError, match="new or empty folder"):
        restore(file, folder)
    with pytest.raises(StoreError, match="new or empty folder"):
        restore(file, tmp_path)
    with pytest.raises(StoreNotFoundError):
        back_up(tmp_path / "nowhere", tmp_path / "file")
    assert not (tmp_path / "file").exists()


def test_a_damaged_backup_is_refused_and_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    """A flipped bit anywhere in what is compressed, a file cut short, no archive at all."""
    file = back_up(folder, tmp_path / "mars.trivium").file
    whole = file.read_bytes()
    refused = 0
    with zipfile.ZipFile(file) as archive:
        compressed = archive.start_dir  # behind it stands the directory, where some bits mean nothing
    for place in range(50, compressed, compressed // 12):
        file.write_bytes(whole)
        flip(file, place, 3)
        target = tmp_path / str(place)
        try:
            restore(file, target)
        except InputError:
            assert not target.exists()
            refused += 1
        else:  # a bit that says nothing, such as of a time
            with EmbeddedStore.open(target) as store:
                assert store.checker().check() == []
    assert refused >= 8
    for content in (b"", b"no archive", whole[: len(whole) // 2], whole[: len(whole) - 30]):
        file.write_bytes(content)
        with pytest.raises(InputError, match="no backup of a store, or a damaged one"):
            restore(file, tmp_path / "other")
        assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("name", ["../graph.db", "/tmp/graph.db", "index/file", "graph.db-wal"])
def test_archives_with_anything_else_in_them_are_refused(folder: Path, tmp_path: Path, name: str) -> None:
    """Whatever their paths."""
    file = back_up(folder, tmp_path / "mars.trivium").file
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(name, b"x")
    with pytest.raises(InputError, match="and nothing else"):
        restore(file, tmp_path / "again")
    assert not (tmp_path / "again").exists()
