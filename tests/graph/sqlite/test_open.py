"""The doors of the embedded store: what is opened, what is refused and how it is said."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest

from tests.contract.graphs import embed_pending, graph, unit
from tests.contract.state import state_of
from tests.fakes.disks import make_read_only, small_disk
from tests.fakes.kills import kill_at_event
from tests.fakes.memory_store import MemoryStore
from trivium.errors import StoreBusyError, StoreError, StoreFormatError, StoreNotFoundError
from trivium.graph.open_store import open_or_create_store
from trivium.graph.page_graph import RelationEdge
from trivium.graph.schema import SCHEMA_VERSION, Hop, Label
from trivium.graph.sqlite import EmbeddedStore, connection, vectors
from trivium.graph.sqlite.open_database import open_database

PAGE = graph("Mars", [("red planet", ["Sun"])])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store with one embedded page."""
    folder = tmp_path / "a store's é#%? folder"
    with EmbeddedStore.create(folder) as store:
        store.write([PAGE])
        embed_pending(store)
    return folder


def test_what_was_written_is_there_when_opened_again(folder: Path) -> None:
    """Also where the folder's name has characters that mean something in an address."""
    assert EmbeddedStore.exists(folder)
    with EmbeddedStore.open(folder) as store:
        assert store.chunk_uris() == ["Mars#chunk-1"]
        assert store.info().location == str(folder)
    assert sorted(path.name for path in folder.parent.iterdir()) == [folder.name]


def test_nothing_is_created_over_something(folder: Path, tmp_path: Path) -> None:
    """Neither over a store nor over other files; an empty folder will do."""
    with pytest.raises(StoreError, match="new or empty folder"):
        EmbeddedStore.create(folder)
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="new or empty folder"):
        EmbeddedStore.create(tmp_path / "file")
    (tmp_path / "empty").mkdir()
    EmbeddedStore.create(tmp_path / "empty").close()


def test_a_process_killed_while_it_makes_a_store_leaves_none_or_a_whole_one(tmp_path: Path) -> None:
    """At each thing it does with files; whatever is left, the next one builds there."""
    imports = "from trivium.graph.open_store import open_or_create_store"
    for number in count(1):
        folder = tmp_path / str(number)
        killed = kill_at_event(number, imports, "open_or_create_store(sys.argv[2]).close()", folder)
        with open_or_create_store(folder) as store:
            store.write([PAGE])
            assert store.chunk_uris() == ["Mars#chunk-1"]
        assert not [path for path in folder.iterdir() if path.name.endswith(".part")]
        if not killed:
            break
    assert number > 5


def test_of_several_processes_that_make_a_store_at_once_all_get_it(tmp_path: Path) -> None:
    """One makes it, the others open what it made."""
    code = "import sys; from trivium.graph.open_store import open_or_create_store as make; input(); make(sys.argv[1])"
    for attempt in range(3):
        command = [sys.executable, "-c", code, str(tmp_path / str(attempt))]
        processes = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)
        ]
        for process in processes:
            assert process.stdin is not None
            process.stdin.write(b"\n")
            process.stdin.close()
        for process in processes:
            assert process.stderr is not None
            assert (process.wait(60), process.stderr.read()) == (0, b"")
            process.stderr.close()


def test_a_missing_store_is_not_found(tmp_path: Path) -> None:
    """No folder, or a folder without a store."""
    assert not EmbeddedStore.exists(tmp_path / "none")
    with pytest.raises(StoreNotFoundError, match="trivium build"):
        EmbeddedStore.open(tmp_path / "none")
    with pytest.raises(StoreNotFoundError, match=r"graph\.db"):
        EmbeddedStore.open(tmp_path)


def test_something_else_than_a_store_is_refused(tmp_path: Path) -> None:
    """A file, garbage, another program's database."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreFormatError, match="got a file"):
        EmbeddedStore.open(tmp_path / "file")
    (tmp_path / "graph.db").write_bytes(b"garbage " * 1000)
    with pytest.raises(StoreFormatError, match="damaged or no database"):
        EmbeddedStore.open(tmp_path)
    (tmp_path / "graph.db").unlink()
    other = sqlite3.connect(tmp_path / "graph.db")
    other.execute("CREATE TABLE page (id INTEGER)")
    other.close()
    with pytest.raises(StoreFormatError, match="not of a Trivium store"):
        EmbeddedStore.open(tmp_path)


@pytest.mark.parametrize("version", [0, SCHEMA_VERSION - 1, SCHEMA_VERSION + 1])
def test_another_schema_version_is_refused(folder: Path, version: int) -> None:
    """Both versions are named, and the way out."""
    database = sqlite3.connect(folder / "graph.db")
    database.execute(f"PRAGMA user_version = {version}")
    database.close()
    with pytest.raises(
        StoreFormatError, match=rf"schema version {version}.*version {SCHEMA_VERSION}.*build the store again"
    ):
        EmbeddedStore.open(folder)


def test_a_truncated_database_is_damaged_not_empty(folder: Path) -> None:
    """Whether it shows at once or at the first read."""
    path = folder / "graph.db"
    path.write_bytes(path.read_bytes()[: 3 * 8192])
    with pytest.raises(StoreFormatError, match="damaged"), EmbeddedStore.open(folder) as store:
        store.info()


def test_a_store_opened_for_reading_refuses_every_change(folder: Path) -> None:
    """And answers every read."""
    with EmbeddedStore.open(folder, read_only=True) as store:
        for change in (
            lambda: store.write([PAGE]),
            lambda: store.delete(["Mars"]),
            lambda: store.add_aliases({"Mars": ["Ares"]}),
            lambda: store.add_relations({"Mars": []}),
            lambda: store.set_types({"Mars": "planet"}),
            lambda: store.set_embedder(store.embedder),  # type: ignore[arg-type]
            lambda: store.put_vectors([], unit("x")[None][:0]),
        ):
            with pytest.raises(StoreError, match="reading only"):
                change()
        assert store.nearest([Label.CHUNK], unit("q"), 5)[0].uri == "Mars#chunk-1"
        assert store.keyword_search(["red"], 5) == ["Mars#chunk-1"]


def test_a_second_writer_is_told_while_readers_go_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader sees the last committed state, the writer an error that says to wait."""
    monkeypatch.setattr(connection, "BUSY_SECONDS", 0.05)
    other = sqlite3.connect(folder / "graph.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    other.execute("UPDATE page SET text = 'half'")
    with EmbeddedStore.open(folder) as store:
        assert store.page_text("Mars") == PAGE.text
        with pytest.raises(StoreBusyError, match="another process is writing"):
            store.write([graph("Venus")])
        other.execute("ROLLBACK")
        store.write([graph("Venus")])
    other.close()


def test_a_closed_store_says_so(folder: Path) -> None:
    """Closing twice is fine."""
    store = EmbeddedStore.open(folder)
    adjacency = store.adjacency()
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.pages()
    assert list(adjacency.chunks) == ["Mars#chunk-1"]


def test_a_lone_surrogate_is_refused_and_changes_nothing(folder: Path) -> None:
    """It is no text that could be stored."""
    with EmbeddedStore.open(folder) as store:
        with pytest.raises(StoreError, match="surrogate"):
            store.write([graph("bad \ud800")])
        assert [page.uri for page in store.pages()] == ["Mars"]
        assert store.resolve(["\ud800"]) == {}
        assert store.expand(["\ud800"], Hop.CHILD) == {"\ud800": []}


@pytest.mark.parametrize("vector", [unit("q")[:3], unit("q")[None], unit("q") * float("nan")])
def test_a_question_vector_that_does_not_fit_is_refused(folder: Path, vector: object) -> None:
    """The shape or the numbers that were expected are named."""
    with EmbeddedStore.open(folder) as store, pytest.raises(StoreError, match="expected a question vector"):
        store.nearest([Label.CHUNK], vector, 1)  # type: ignore[arg-type]


def test_pages_are_read_from_one_state_while_others_write(tmp_path: Path) -> None:
    """A slow reader sees what was there when it began, and does not delay writers."""
    with EmbeddedStore.create(tmp_path / "s") as store:
        store.write([graph("A"), graph("B"), graph("C")])
        pages = store.page_graphs()
        assert next(pages).uri == "A"
        store.delete(["B"])
        store.add_relations({"C": [RelationEdge("C", "r", "D")]})
        assert [(page.uri, page.relations) for page in pages] == [("B", ()), ("C", ())]
        assert [page.uri for page in store.page_graphs()] == ["A", "C"]
        assert next(store.page_graphs()).uri == "A"  # the rest is never asked for


def test_only_the_connection_that_writes_has_a_large_cache(folder: Path) -> None:
    """It is not lent to readers afterwards, and goes when the indexes are brought up to date at the end of a load."""
    database = open_database(folder, read_only=False)

    def cache(used: sqlite3.Connection) -> int:
        return int(used.execute("PRAGMA cache_size").fetchone()[0])

    with database.writing() as writer:
        assert cache(writer) == -connection.WRITE_CACHE_KIB
    with database.writing() as again:
        assert again is writer
    with database.reading() as reader:
        assert cache(reader) == -connection.READ_CACHE_KIB
    database.release_write_cache()
    with database.writing() as later:
        assert later is writer
    database.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        writer.execute("SELECT 1")


def test_texts_without_a_vector_are_read_some_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each once and in order, however few are read at once; what is deleted meanwhile is left out."""
    monkeypatch.setattr(vectors, "TEXTS_A_READ", 2)
    pages = [
        graph(
            "Io", [("same", ["Mars"]), ("same", [])], {"S": [("deep", [])]}, relations=[("orbits", "Jupiter")]
        ),
        graph("Mars", [("red", ["Io (moon)"]), ("cold", []), ("small", [])]),
        graph("Z"),
    ]
    oracle = MemoryStore()
    oracle.write(pages)
    with EmbeddedStore.create(tmp_path / "store") as store:
        store.write(pages)
        pending, passages = store.pending_texts(), store.pending_sentences()
        assert list(pending) == list(oracle.pending_texts())
        assert list(passages) == list(oracle.pending_sentences())
        assert (len(pending), len(passages)) == (len(oracle.pending_texts()), len(oracle.pending_sentences()))
        texts = iter(pending)
        read = [next(texts)]
        store.delete(["Mars"])
        read += texts
        assert len(read) < len(pending)
        assert set(read) >= set(store.pending_texts())
        assert len(list(passages)) == 2


def test_more_chunks_than_there_are_cost_nothing(folder: Path) -> None:
    """The library of the keyword index takes room for all that is asked for before it looks."""
    with EmbeddedStore.open(folder) as store:
        assert store.keyword_search(["red"], 10**9) == store.keyword_search(["red"], 5) != []


def test_a_store_on_a_read_only_file_system_can_be_read(folder: Path, tmp_path: Path) -> None:
    """All of it; changes are refused. So is a store in whose log something is left: it would be read without."""
    with EmbeddedStore.open(folder) as store:
        before = state_of(store)
    with small_disk(tmp_path / "disk", 20):
        whole, torn = tmp_path / "disk" / "whole", tmp_path / "disk" / "torn"
        shutil.copytree(folder, whole)
        with EmbeddedStore.open(folder) as store:
            store.write([graph("Moon", [("grey", [])])])
            shutil.copytree(folder, torn)
        make_read_only(tmp_path / "disk")
        with EmbeddedStore.open(whole) as store:
            assert state_of(store) == before
            with store.pinned() as pinned:
                assert pinned.chunk_uris() == ["Mars#chunk-1"]
            with pytest.raises(StoreError, match="read-only file system: change a copy"):
                store.delete(["Mars"])
        with pytest.raises(StoreError, match=r"still in graph\.db-wal: open it once where it can be written"):
            EmbeddedStore.open(torn)
