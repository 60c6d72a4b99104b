"""What a build holds at once does not grow with the collection, or by a few bytes a passage that are said here."""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.contract.graphs import embed_pending, graph
from trivium.embedding.embed_in_slices import fill
from trivium.graph import page_facts as listing
from trivium.graph.arrays import keyword_index, vector_matrix
from trivium.graph.page_facts import each_page
from trivium.graph.page_graph import PageGraph
from trivium.graph.records import PageRecord, Vectors
from trivium.graph.sqlite import EmbeddedStore, index_rows, load_index, vectors
from trivium.index import record_pages
from trivium.index.embed_missing import Waiting
from trivium.index.load import load
from trivium.index.record_pages import RecordPages
from trivium.parser.gazetteer import Gazetteer
from trivium.parser.sources.source_items import Item
from trivium.settings.limits import DEFAULT_LIMITS
from trivium.testing import HashEmbedder

CHUNKS_A_PAGE = 10


def peak(work: Callable[[], object]) -> int:
    """Bytes of Python and NumPy that were in use at once while the work was done."""
    gc.freeze()  # what other tests left is not looked through for each slice
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        gc.unfreeze()


def records(path: Path, count: int, size: int) -> Item:
    """A file of records, each with a title of its own and a text of so many characters."""
    lines = (json.dumps({"title": f"Title {n}", "text": f"{n} {'x' * size}"}) for n in range(count))
    path.write_text("\n".join(lines), "utf-8")
    return Item("records", str(path))


def page(number: int) -> PageGraph:
    """A page whose passages have texts of their own."""
    return graph(
        f"Page {number}",
        [(f"passage {n} of {number}, " + "long " * 50, [f"Thing {n}"]) for n in range(CHUNKS_A_PAGE)],
    )


def test_records_wait_for_their_links_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their titles alone are in memory, and what knows them: 900 records more of 5,000 characters take less than 1 kB
    each."""
    monkeypatch.setattr(record_pages, "IN_MEMORY", 10_000)

    def work(count: int) -> Callable[[], None]:
        item = records(tmp_path / f"{count}.jsonl", count, 5_000)

        def read() -> None:
            with closing(RecordPages(DEFAULT_LIMITS)) as pages:
                assert not any(pages.read(item))
                for _, outcome in pages.graphs(Gazetteer(pages.names())):
                    assert isinstance(outcome, PageGraph) and len(outcome.text) > 5_000

        return read

    assert (peak(work(1_200)) - peak(work(300))) / 900 < 1_000


def test_records_of_one_title_come_out_in_order_and_once(tmp_path: Path) -> None:
    """Also from several files; the page's source is the file of the first."""
    files = []
    for name, texts in (("a", ["one", "two", "one"]), ("b", ["three", "two", "four"])):
        path = tmp_path / f"{name}.jsonl"
        lines = [json.dumps({"title": "T", "text": text, "n": len(text), "year": 7}) for text in texts]
        path.write_text("\n".join([*lines, json.dumps({"title": name, "text": "é ✓"})]), "utf-8")
        files.append(Item("records", str(path)))
    with closing(RecordPages(DEFAULT_LIMITS)) as pages:
        for file in files:
            assert not any(pages.read(file))
        assert len(pages) == 3
        graphs = [outcome for _, outcome in pages.graphs(Gazetteer([])) if isinstance(outcome, PageGraph)]
    assert [graph.uri for graph in graphs] == ["T", "a", "b"]
    assert [chunk.text for chunk in graphs[0].chunks] == ["one", "two", "three", "four"]
    assert (graphs[0].metadata, graphs[0].differing) == ({"year": 7}, ("n",))
    assert graphs[0].source == f"records:{files[0].location}"
    assert graphs[1].text == "é ✓"


def test_a_temporary_folder_without_room_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to do."""
    with closing(RecordPages(DEFAULT_LIMITS)) as pages:

        def full(_: bytes) -> int:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(pages._kept, "write", full)
        with pytest.raises(Exception, match=r"cannot be kept in .*No space left.*TMPDIR"):
            list(pages.read(records(tmp_path / "r.jsonl", 1, 1)))


def test_texts_are_read_embedded_and_written_a_slice_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The most that is held of them is the same in a collection four times as large, and fewer than 20 bytes a text are
    kept of which are missing."""
    monkeypatch.setattr(vectors, "TEXTS_A_READ", 50)

    def largest(count: int) -> tuple[int, int, int, int]:
        # The embedder remembers words, and tables of the interpreter grow at some time: not twice.
        return min(measured(count, time) for time in ("first", "second"))

    def measured(count: int, time: str) -> tuple[int, int, int, int]:
        held: list[int] = []
        with EmbeddedStore.create(tmp_path / f"{count}-{time}") as store:
            store.write([page(number) for number in range(count)])
            embedder = HashEmbedder(8)
            store.set_embedder(embedder.identity)
            pending = store.pending_texts()
            read = max(len(batch) for batch in pending.batches())

            def put(texts: Sequence[str], rows: Vectors) -> None:
                held.append(len(texts))
                gc.collect()  # when it is collected otherwise depends on what other tests have left
                store.put_vectors(texts, rows)

            taken = peak(lambda: fill(pending, embedder, put, slice_size=40, total=len(pending)))
            assert not store.pending_texts()
        return read, max(held), len(pending), taken

    small, large = largest(10), largest(40)
    assert small[:2] == large[:2] == (50, 40)
    assert (large[3] - small[3]) / (large[2] - small[2]) < 100


def test_pages_are_listed_some_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them, once, whatever number is read at a time; pages that change meanwhile do not disturb it."""
    asked: list[int] = []
    with EmbeddedStore.create(tmp_path / "s") as store:
        store.write([graph(f"Page {number:02}", [("x", [])]) for number in range(12)])
        read = EmbeddedStore.pages

        def pages(
            self: EmbeddedStore, after: str | None = None, limit: int | None = None
        ) -> Sequence[PageRecord]:
            found = read(self, after, limit)
            asked.append(len(found))
            return found

        monkeypatch.setattr(EmbeddedStore, "pages", pages)
        for size in (1, 5, 6, 12, 13):
            monkeypatch.setattr(listing, "PAGES_A_READ", size)
            asked.clear()
            assert [p.uri for p in each_page(store)] == [f"Page {number:02}" for number in range(12)]
            assert max(asked) <= size


def test_records_that_were_there_get_new_links_some_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages that a load makes link anew are read in batches of the same size, however many there are."""
    asked: list[int] = []
    read = EmbeddedStore.page_graphs

    def page_graphs(self: EmbeddedStore, uris: Sequence[str] | None = None) -> Iterable[PageGraph]:
        asked.append(len(uris or ()))
        return read(self, uris)

    monkeypatch.setattr(EmbeddedStore, "page_graphs", page_graphs)
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    old.write_text(
        "\n".join(json.dumps({"title": f"Old {n}", "text": f"The {n}th is not Neptune."}) for n in range(120))
    )
    new.write_text(json.dumps({"title": "Neptune", "text": "A planet."}))
    with EmbeddedStore.create(tmp_path / "s") as store:
        load([str(old)], store, entities="none")
        asked.clear()
        report = load([str(new)], store)
        assert report.relinked == 120
        assert max(asked) <= 50
        cited = store.cited(store.chunk_uris())
    assert sum("Neptune" in uris for uris in cited.values()) == 120


def test_indexes_are_built_in_so_many_bytes_a_passage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fewer than 1,000 of Python and NumPy, with the passage's share of names, whatever is read at once."""
    for module, name in (
        (vector_matrix, "_BLOCK"),
        (index_rows, "_BLOCK"),
        (index_rows, "_VECTORS_A_READ"),
        (index_rows, "_TERMS_A_READ"),
        (keyword_index, "_BATCH"),
    ):
        monkeypatch.setattr(module, name, 100)
    sizes = []
    for count in (30, 120):
        with EmbeddedStore.create(tmp_path / str(count)) as store:
            store.write([page(number) for number in range(count)])
            embed_pending(store)
            sizes.append(peak(lambda: load_index.build_snapshot(store._database)))
    assert (sizes[1] - sizes[0]) / (90 * CHUNKS_A_PAGE) < 1_000


def test_late_chunking_knows_what_waits_in_a_few_bytes_a_text() -> None:
    """Fewer than 60 while it learns them; each is among them until it has its vector, others never are."""
    texts = [f"text {number}" for number in range(20_000)]
    assert peak(lambda: Waiting(texts)) / len(texts) < 60
    waiting = Waiting(texts[:3])
    assert waiting.among(["other", *texts[:5]]) == [1, 2, 3]
    waiting.remove(texts[1:2])
    assert waiting.among(texts[:3]) == [0, 2] and waiting
    waiting.remove(texts)
    assert not waiting and not waiting.among(texts[:3])
    assert not Waiting([]) and not Waiting([]).among(["other"])


def test_a_load_knows_its_files_and_records_in_so_many_bytes_each(tmp_path: Path) -> None:
    """Fewer than 3,000 a file and 1,500 a record: what is in docs/scaling.md, about 2,000 and 1,000."""

    def loading(name: str, lines: Sequence[str]) -> int:
        folder = tmp_path / name
        folder.mkdir()
        if name.startswith("files"):
            for number, line in enumerate(lines):
                (folder / f"page_{number}.html").write_text(f"<title>Page {number}</title><p>{line}</p>")
        else:
            titled = (json.dumps({"title": f"Page {n}", "text": line}) for n, line in enumerate(lines))
            (folder / "records.jsonl").write_text("\n".join(titled))
        # Names of files are interned. The table of such strings grows in steps of megabytes, at some time: not twice.
        return min(loaded([str(folder)], tmp_path / f"{name}-{time}") for time in ("first", "second"))

    def loaded(sources: Sequence[str], where: Path) -> int:
        with EmbeddedStore.create(where) as store:
            return peak(lambda: load(sources, store, workers=1))

    few, many = ([f"the words of {number}" for number in range(count)] for count in (100, 300))
    assert (loading("files-many", many) - loading("files-few", few)) / 200 < 3_000
    assert (loading("records-many", many) - loading("records-few", few)) / 200 < 1_500
