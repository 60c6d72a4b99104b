"""Derived files may be deleted, damaged, old or half written, and are not believed when they should not."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.contract.graphs import embed_pending, graph
from tests.contract.state import state_of
from trivium.graph.sqlite import EmbeddedStore

PAGES = [
    graph(
        f"Page {n}", [(f"red moon {n}", [f"Page {n + 1}", "Sun"])], {"S": [("blue", [])]}, aliases=[f"P{n}"]
    )
    for n in range(6)
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store whose labels all have an approximate index."""
    monkeypatch.setenv("TRIVIUM_APPROXIMATE_FROM", "2")
    with EmbeddedStore.create(tmp_path / "s") as store:
        store.write(PAGES)
        embed_pending(store)
        store.refresh()
    return tmp_path / "s"


def _state(folder: Path) -> dict[str, object]:
    with EmbeddedStore.open(folder) as store:
        return state_of(store)


def _files(folder: Path) -> list[Path]:
    paths = [path for path in (folder / "index").rglob("*") if path.is_file()]
    return sorted(path for path in paths if not path.name.endswith(".lock"))


def test_the_index_folder_may_be_deleted(folder: Path) -> None:
    """Also under an open store."""
    before = _state(folder)
    with EmbeddedStore.open(folder) as store:
        shutil.rmtree(folder / "index")
        assert state_of(store) == before
    assert _state(folder) == before


@pytest.mark.parametrize(
    "damage",
    [
        "delete",
        "truncate",
        "flip",
        # Two more of another length.
        pytest.param("empty", marks=pytest.mark.slow),
        pytest.param("replace", marks=pytest.mark.slow),
    ],
)
def test_any_damaged_file_is_noticed_and_built_anew(folder: Path, damage: str) -> None:
    """Every file of the index in turn."""
    before = _state(folder)
    count = len(_files(folder))
    assert count > 10
    for number in range(count):
        path = _files(folder)[number]
        content = path.read_bytes()
        if damage == "delete":
            path.unlink()
        elif damage == "truncate":
            path.write_bytes(content[: len(content) // 2])
        elif damage == "empty":
            path.write_bytes(b"")
        elif damage == "flip":
            middle = len(content) // 2
            path.write_bytes(content[:middle] + bytes(255 - b for b in content[middle:]))
        else:
            path.write_bytes(b"garbage")
        assert _state(folder) == before, path.name


@pytest.mark.parametrize("changed", [False, True])
def test_damage_that_leaves_size_and_time_is_noticed_when_a_file_is_read(
    folder: Path, changed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """As of a disk that fails: whatever a library says of its file, the index is built anew, and that is said. Also where
    the file belongs to the state before, which the next index takes over what it can from."""
    arrays = [path.name for path in _files(folder) if path.suffix in (".npy", ".npz")]
    warned = 0
    for number, name in enumerate(arrays):
        (path,) = (folder / "index").rglob(name)
        status, content = path.stat(), path.read_bytes()
        path.write_bytes(b"garbage!" + content[8:-8] + b"garbage!")
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        caplog.clear()
        with EmbeddedStore.open(folder) as store:
            if changed:
                store.write([graph(f"New {number}", [("more", ["Sun"])])])
            after = state_of(store)
        warned += "is damaged and is built anew" in caplog.text
        shutil.rmtree(folder / "index")
        assert after == _state(folder), name
    assert warned >= len(arrays) / 2


def test_an_intact_index_is_not_built_again(folder: Path) -> None:
    """Neither when the store is opened again nor when its files were copied and have other times."""
    inodes = [path.stat().st_ino for path in _files(folder)]
    _state(folder)
    for path in _files(folder):
        os.utime(path)
    _state(folder)
    assert [path.stat().st_ino for path in _files(folder)] == inodes


def test_a_half_built_snapshot_is_not_used(folder: Path) -> None:
    """A folder that was not renamed, and one without its list of files."""
    before = _state(folder)
    index = folder / "index"
    whole = next(index.glob("generation-*"))
    shutil.copytree(whole, index / "building-x")
    (whole / "manifest.json").unlink()
    assert _state(folder) == before
    assert sorted(path.name for path in index.iterdir() if path.is_dir()) == [whole.name]


def test_a_damaged_lock_does_not_lock_anyone_out(folder: Path) -> None:
    """It is a file like the others."""
    before = _state(folder)
    shutil.rmtree(folder / "index")
    (folder / "index").mkdir()
    (folder / "index" / "lock.db").write_bytes(b"garbage" * 1000)
    assert _state(folder) == before


def test_a_restored_backup_does_not_meet_the_indexes_of_a_later_history(folder: Path, tmp_path: Path) -> None:
    """The database goes back one state, then goes elsewhere: the count is the same, the history is not."""
    backup = tmp_path / "backup.db"
    source, target = sqlite3.connect(folder / "graph.db"), sqlite3.connect(backup)
    source.backup(target)
    source.close()
    target.close()
    with EmbeddedStore.open(folder) as store:
        store.write([graph("One", [("only in one", [])])])
        store.refresh()
    shutil.copy(backup, folder / "graph.db")
    with EmbeddedStore.open(folder) as store:
        store.write([graph("Two", [("only in two", [])])])
        assert store.keyword_search(["two"], 5) == ["Two#chunk-1"]
        assert store.keyword_search(["one"], 5) == []


def test_readers_see_what_another_connection_wrote(folder: Path) -> None:
    """Without being told."""
    with EmbeddedStore.open(folder) as reader, EmbeddedStore.open(folder) as writer:
        assert reader.keyword_search(["fresh"], 5) == []
        writer.write([graph("New", [("fresh", [])])])
        assert reader.keyword_search(["fresh"], 5) == ["New#chunk-1"]
        assert state_of(reader) == state_of(writer)


def test_refresh_tells_its_progress(folder: Path) -> None:
    """Up to the total, and only what is new is counted."""
    steps: list[tuple[int, int]] = []
    with EmbeddedStore.open(folder) as store:
        store.refresh(lambda done, total: steps.append((done, total)))
        assert steps == []
        store.write([graph("New", [("fresh", []), ("fresher", [])])])
        store.refresh(lambda done, total: steps.append((done, total)))
    assert steps == [(2, 2)]


def test_a_writer_that_is_killed_leaves_the_last_committed_pages(tmp_path: Path) -> None:
    """SIGKILL in the middle of a transaction that had already changed every table."""
    folder = tmp_path / "s"
    with EmbeddedStore.create(folder) as store:
        store.write(PAGES)
        before = state_of(store)
    script = textwrap.dedent(
        """
        import os, signal, sys
        from tests.contract.graphs import graph
        from trivium.graph.sqlite import EmbeddedStore, writer

        def die(*_):
            print("reached", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

        writer.begin_state = die
        store = EmbeddedStore.open(sys.argv[1])
        store.write([graph("Page 0", [("changed", ["New"])])] + [graph(f"More {n}") for n in range(2000)])
        """
    )
    ended = subprocess.run([sys.executable, "-c", script, str(folder)], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (-signal.SIGKILL, "reached\n"), ended.stderr
    assert _state(folder) == before
    with EmbeddedStore.open(folder) as store:
        store.write([graph("After")])
        assert "After" in [page.uri for page in store.pages()]


def test_a_builder_that_is_killed_leaves_nothing_that_is_believed(folder: Path) -> None:
    """SIGKILL when all files are there but the rename: the next reader builds, and is not locked out."""
    before = _state(folder)
    shutil.rmtree(folder / "index")
    script = textwrap.dedent(
        """
        import os, signal, sys
        from trivium.graph.arrays import snapshot
        from trivium.graph.sqlite import EmbeddedStore
        snapshot.write_manifest = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        EmbeddedStore.open(sys.argv[1]).refresh()
        """
    )
    ended = subprocess.run([sys.executable, "-c", script, str(folder)], capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert list((folder / "index").glob("building-*"))
    assert _state(folder) == before
    assert not list((folder / "index").glob("building-*"))


def test_a_store_writes_nothing_outside_its_folder(tmp_path: Path) -> None:
    """Whatever the titles are."""
    titles = ["../../outside", "/etc/x", "..", "a/b"]
    with EmbeddedStore.create(tmp_path / "in" / "s") as store:
        store.write([graph(title, [("text", [title])], aliases=[f"../{title}"]) for title in titles])
        embed_pending(store)
        store.refresh()
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["s"]
    assert {path.name for path in (tmp_path / "in" / "s").iterdir()} == {"graph.db", "index"}
