"""The folder of an export: replaced, interrupted, refused."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

from tests.contract.graphs import codes, embed_pending, graph, unit
from tests.fakes.memory_store import MemoryStore
from tests.graph.neo4j_import.files import files_of
from trivium.errors import StoreError
from trivium.graph.neo4j_import import export
from trivium.graph.neo4j_import.files import Files
from trivium.graph.page_graph import RelationEdge
from trivium.graph.records import Passage
from trivium.graph.sqlite import EmbeddedStore


@pytest.fixture
def store() -> MemoryStore:
    """Four pages and five bare entities, with vectors."""
    store = MemoryStore()
    store.write(
        [
            graph(f"P{n}", [(f"t{n}", [f"P{n + 1}", f"E{n}"])], aliases=[f"a{n}"], relations=[("r", f"E{n}")])
            for n in range(4)
        ]
    )
    embed_pending(store)
    return store


def test_the_same_store_gives_the_same_bytes(store: MemoryStore, tmp_path: Path) -> None:
    """File by file."""
    export(store, tmp_path / "one")
    export(store, tmp_path / "other")
    assert files_of(tmp_path / "one") == files_of(tmp_path / "other")


def _later_page(store: MemoryStore) -> None:
    store.write([graph("P9", [("new", [])])])


def _other_text(store: MemoryStore) -> None:
    store.write([graph("P2", [("new", ["P3"])])])


def _fewer(store: MemoryStore) -> None:
    store.delete(["P3", "P0"])


def _alias(store: MemoryStore) -> None:
    store.add_aliases({"P1": ["E2"]})


def _claim(store: MemoryStore) -> None:
    store.add_aliases({"P1": ["P0"]})


def _relation(store: MemoryStore) -> None:
    store.add_relations({"P1": [RelationEdge("P1", "r", "E2")]})


def _type(store: MemoryStore) -> None:
    store.set_types({"E1": "thing"})


def _vector_of_a_chunk(store: MemoryStore) -> None:
    store.put_vectors(["P1: t1"], unit("other")[None])


def _sentences_of_a_chunk(store: MemoryStore) -> None:
    store.put_sentences([Passage(("P1",), "t1")], [codes("two words")])


def _vector_of_an_entity(store: MemoryStore) -> None:
    store.put_vectors(["E1"], unit("other")[None])


def _vector_of_a_relation_type(store: MemoryStore) -> None:
    store.put_vectors(["r"], unit("other")[None])


@pytest.mark.parametrize(
    "change",
    [
        _later_page,
        _other_text,
        _fewer,
        _alias,
        _claim,
        _relation,
        _type,
        _vector_of_a_chunk,
        _sentences_of_a_chunk,
        _vector_of_an_entity,
        _vector_of_a_relation_type,
    ],
)
def test_a_changed_store_is_exported_as_if_anew(store: MemoryStore, tmp_path: Path, change) -> None:
    """Whatever changed, also what leaves every count as it was: the folder ends up as that of a fresh export."""
    export(store, tmp_path / "old")
    before = files_of(tmp_path / "old")
    change(store)
    report = export(store, tmp_path / "old")
    export(store, tmp_path / "new")
    after = files_of(tmp_path / "old")
    assert after["store.csv"] != before["store.csv"]  # by which caches tell graphs apart
    assert after == files_of(tmp_path / "new")
    assert report.bytes == sum(
        len(content)
        for name, content in after.items()
        if name.endswith(".csv") and not name.startswith("headers/")
    )


@pytest.mark.parametrize("stop", [1, 3, 5])
def test_an_interrupted_export_leaves_nothing_and_begins_again(
    store: MemoryStore, tmp_path: Path, stop: int
) -> None:
    """Wherever the interrupt comes, also in place of an earlier export."""
    calls = 0

    def interrupt(done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        if calls == stop:
            raise KeyboardInterrupt

    folder = tmp_path / "interrupted"
    for _ in range(2):
        calls = 0
        with pytest.raises(KeyboardInterrupt):
            export(store, folder, progress=interrupt)
        assert not list(folder.iterdir())
        export(store, folder)
    export(store, tmp_path / "undisturbed")
    assert files_of(folder) == files_of(tmp_path / "undisturbed")


def test_an_export_that_is_under_way_again_cannot_be_imported(store: MemoryStore, tmp_path: Path) -> None:
    """The list of files goes before the first of them does."""
    export(store, tmp_path)

    def look(done: int, total: int) -> None:
        assert not (tmp_path / "import.json").exists()

    export(store, tmp_path, progress=look)
    assert (tmp_path / "import.json").exists()


def test_what_a_killed_process_leaves_is_cleared_away(store: MemoryStore, tmp_path: Path) -> None:
    """Some of the files, one of them cut short, and the beginning of that which is written last."""
    export(store, tmp_path / "whole")
    export(store, tmp_path / "hurt")
    (tmp_path / "hurt" / "import.json").unlink()
    (tmp_path / "hurt" / ".import.json.0123abcd.part").write_text("{")
    (tmp_path / "hurt" / "terms.csv").unlink()
    chunks = tmp_path / "hurt" / "chunks.csv"
    chunks.write_bytes(chunks.read_bytes()[:-9])
    export(store, tmp_path / "hurt")
    assert files_of(tmp_path / "hurt") == files_of(tmp_path / "whole")


def test_progress_counts_pages_and_entities(store: MemoryStore, tmp_path: Path) -> None:
    """Up to the number of entities."""
    seen: list[tuple[int, int]] = []
    export(store, tmp_path, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (9, 9)
    assert seen == sorted(seen)


def test_a_full_disk_is_said_and_leaves_nothing(
    store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says what to do."""
    write, lines = Files.write, 0

    def full(self: Files, table: str, some):
        nonlocal lines
        lines += 1
        if lines == 15:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(self, table, some)

    with monkeypatch.context() as patched, pytest.raises(StoreError, match=r"no space left .* make room"):
        patched.setattr(Files, "write", full)
        export(store, tmp_path)
    assert not list(tmp_path.iterdir())
    export(store, tmp_path)


def test_a_folder_with_something_else_is_not_touched(store: MemoryStore, tmp_path: Path) -> None:
    """Neither someone's files, nor a file, nor files with the names of ours or beside ours."""
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(StoreError, match="new or empty folder"):
        export(store, tmp_path)
    with pytest.raises(StoreError, match="got a file"):
        export(store, tmp_path / "letter.txt")
    (tmp_path / "letter.txt").rename(tmp_path / "pages.csv")
    with pytest.raises(StoreError, match="new or empty folder"):
        export(store, tmp_path)
    assert (tmp_path / "pages.csv").read_text() == "dear"
    export(store, tmp_path / "mine")
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    before = files_of(tmp_path / "mine")
    with pytest.raises(StoreError, match="new or empty folder"):
        export(store, tmp_path / "mine")
    assert files_of(tmp_path / "mine") == before


def test_a_store_without_pages_is_not_exported(tmp_path: Path) -> None:
    """An import of nothing would be no store."""
    with pytest.raises(StoreError, match="no pages"):
        export(MemoryStore(), tmp_path / "folder")
    assert not (tmp_path / "folder").exists()


def test_a_store_that_changes_meanwhile_gives_no_export(store: MemoryStore, tmp_path: Path) -> None:
    """Half of the old and half of the new would be neither."""

    def write(done: int, total: int) -> None:
        _later_page(store)

    with pytest.raises(StoreError, match="changed while"):
        export(store, tmp_path, progress=write)
    assert not (tmp_path / "import.json").exists()


def test_a_page_the_server_could_not_hold_is_refused(tmp_path: Path) -> None:
    """By the rules of the Neo4j store itself."""
    with EmbeddedStore.create(tmp_path / "store") as store:
        store.write([graph("x" * 9_000, [("t", [])])])
        with pytest.raises(StoreError, match="at most 8,000 bytes"):
            export(store, tmp_path / "files")


def test_every_file_is_imported(store: MemoryStore, tmp_path: Path) -> None:
    """The arguments name each file once, and once more where it is read backwards; the buffer holds the longest line."""
    store.write([graph("Long", [("x" * 3_000_000, [])])])
    export(store, tmp_path)
    arguments = json.loads((tmp_path / "import.json").read_text("utf-8"))["arguments"]
    named: list[str] = []
    for argument in arguments:
        if argument.startswith(("--nodes=", "--relationships=")):
            named += argument.split("=")[-1].split(",")
    there = [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.csv")]
    headers = [name for name in there if name.startswith("headers/")]
    assert set(named) - set(headers) == set(there) - set(headers)
    mirrored = {name for name in named if named.count(name) == 2}
    assert {Path(name).stem for name in mirrored} == {"cites"}
    assert "--read-buffer-size=16777216" in arguments
