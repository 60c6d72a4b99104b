"""Exports that are repeated, interrupted, or cannot be."""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path

import pytest

from tests.contract.graphs import codes, embed_pending, graph, unit
from tests.fakes.memory_store import MemoryStore
from tests.graph.bulk.files import files_of, read_export
from trivium.errors import StoreError
from trivium.graph.bulk import export
from trivium.graph.bulk.folder import Part
from trivium.graph.model import QuestionNode, RelationEdge
from trivium.graph.records import Passage
from trivium.graph.sqlite import EmbeddedStore


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """One page, or two entities, a part."""
    monkeypatch.setattr("trivium.graph.bulk.store_parts.PAGES_A_PART", 1)
    monkeypatch.setattr("trivium.graph.bulk.store_parts.ENTITIES_A_PART", 2)


@pytest.fixture
def store() -> MemoryStore:
    """Four pages, five bare entities, with vectors: eleven parts."""
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
    """File by file, the manifests included."""
    export(store, tmp_path / "one")
    export(store, tmp_path / "other")
    assert files_of(tmp_path / "one") == files_of(tmp_path / "other")


def test_a_repeated_export_writes_nothing_again(store: MemoryStore, tmp_path: Path) -> None:
    """Every part is kept, and all is as it was."""
    first = export(store, tmp_path)
    before = files_of(tmp_path)
    again = export(store, tmp_path)
    assert (first.written, first.kept) == (11, 0)
    assert (again.written, again.kept) == (0, 11)
    assert files_of(tmp_path) == before
    assert (
        again.bytes
        == first.bytes
        == sum(len(content) for name, content in before.items() if name.endswith(".csv"))
    )


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
    export(store, tmp_path / "old")
    export(store, tmp_path / "new")
    assert files_of(tmp_path / "old") != before
    assert files_of(tmp_path / "old") == files_of(tmp_path / "new")


@pytest.mark.parametrize("stop", range(1, 8))
def test_an_interrupted_export_goes_on_where_it_was(store: MemoryStore, tmp_path: Path, stop: int) -> None:
    """Wherever the interrupt comes, nothing is left that could be imported or taken for whole; the same call again
    keeps what is done and ends with the files of an undisturbed export."""
    calls = 0

    def interrupt(done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        if calls == stop:
            raise KeyboardInterrupt

    folder = tmp_path / "interrupted"
    with pytest.raises(KeyboardInterrupt):
        export(store, folder, progress=interrupt)
    assert not (folder / "import.json").exists()
    assert not list(folder.glob("*.unfinished"))
    report = export(store, folder)
    assert report.kept == (
        stop - 1 if stop <= 4 else stop + 1
    )  # between pages and entities come two parts more
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
    """Half a part, half a manifest, a note of a part that was never renamed, a file cut short."""
    export(store, tmp_path / "whole")
    export(store, tmp_path / "hurt")
    (tmp_path / "hurt" / "import.json").unlink()
    (tmp_path / "hurt" / "pages-00001").rename(tmp_path / "hurt" / "pages-00001.unfinished")
    (tmp_path / "hurt" / "pages-00009.unfinished").mkdir()
    (tmp_path / "hurt" / "export.json.unfinished").write_text("{")
    (tmp_path / "hurt" / ".export.json.0123abcd.part").write_text("{")
    chunks = tmp_path / "hurt" / "pages-00002" / "chunks.csv"
    chunks.write_bytes(chunks.read_bytes()[:-9])
    report = export(store, tmp_path / "hurt")
    assert report.written == 2
    assert files_of(tmp_path / "hurt") == files_of(tmp_path / "whole")


def test_progress_counts_pages_and_entities(store: MemoryStore, tmp_path: Path) -> None:
    """Up to the number of entities, whether parts are written or kept."""
    for _ in range(2):
        seen: list[tuple[int, int]] = []
        export(store, tmp_path, progress=lambda done, total, seen=seen: seen.append((done, total)))
        assert seen[-1] == (9, 9)
        assert seen == sorted(seen)


def test_a_full_disk_is_said_and_leaves_what_was_done(
    store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The part under way goes, those before it stay, and the message says what to do."""
    write, lines = Part.write, 0

    def full(self: Part, table: str, some) -> None:
        nonlocal lines
        lines += 1
        if lines == 15:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(self, table, some)

    with monkeypatch.context() as patched, pytest.raises(StoreError, match=r"no space left .* make room"):
        patched.setattr(Part, "write", full)
        export(store, tmp_path)
    assert not list(tmp_path.glob("*.unfinished"))
    assert export(store, tmp_path).kept == 3


def test_a_folder_with_something_else_is_not_touched(store: MemoryStore, tmp_path: Path) -> None:
    """Neither someone's files, nor a file, nor a manifest of another make."""
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(StoreError, match="new or empty folder"):
        export(store, tmp_path)
    with pytest.raises(StoreError, match="got a file"):
        export(store, tmp_path / "letter.txt")
    (tmp_path / "export.json").write_text("[]")
    with pytest.raises(StoreError, match="not the manifest"):
        export(store, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["export.json", "letter.txt"]


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
    assert "--read-buffer-size=33554432" in arguments


def test_questions_keep_their_numbers_where_only_their_part_is_written_again(
    store: MemoryStore, tmp_path: Path
) -> None:
    """After an interrupt between the part with aliases and that with questions: no number is given twice."""
    chunk = next(store.page_graphs(["P1"])).chunks[0].uri
    store.put_questions({"P1": [QuestionNode("question/1", "Which?", ("t1",), (chunk,))]})
    export(store, tmp_path)
    before = files_of(tmp_path)
    shutil.rmtree(tmp_path / "questions")
    assert export(store, tmp_path).written == 1
    assert files_of(tmp_path) == before
    read_export(tmp_path)
