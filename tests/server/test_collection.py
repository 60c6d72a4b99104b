"""Readers see one whole state of the store, whatever is written meanwhile."""

from __future__ import annotations

import shutil
import sqlite3
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.server.world import HTML, QUESTION, build_store
from tests.waiting import until
from trivium.engine import Engine
from trivium.errors import StoreChangedError, StoreError
from trivium.graph.sqlite import EmbeddedStore
from trivium.graph.sqlite.connection import Connection, Database
from trivium.server import collection as module
from trivium.server.app import create_app
from trivium.server.collection import Collection


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_store(tmp_path_factory.mktemp("served"))


@pytest.fixture
def store(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "store"))


@pytest.fixture
def collection(store: Path) -> Iterator[Collection]:
    collection = Collection(Engine.open(store), 2)
    collection.open()
    yield collection
    collection.close()


def pages(engine: Engine) -> list[str]:
    return sorted({hit.page for hit in engine.search(QUESTION)})


def test_a_frozen_store_sees_nothing_that_comes_later(store: Path) -> None:
    with Engine.open(store) as engine:
        assert isinstance(engine.store, EmbeddedStore)
        with engine.store.frozen(2) as frozen:
            before = (frozen.info(), frozen.chunk_uris(), frozen.page_text("Mars"), frozen.state)
            engine.remove(["Mars"])
            assert engine.store.chunk_uris() != before[1]
            assert (frozen.info(), frozen.chunk_uris(), frozen.page_text("Mars"), frozen.state) == before
            assert frozen.fetch(["Mars#chunk-1"])[
                0
            ].page == "Mars" and "Mars#chunk-1" in frozen.keyword_search(["red"], 5)
            with pytest.raises(StoreError, match="reading only"):
                frozen.delete(["Phobos"])
        with pytest.raises(StoreError, match="closed"):
            frozen.info()


def test_a_frozen_store_reads_through_connections_of_earlier_ones(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening them takes longer than following a change. They are closed with the store, or with the last view."""
    connect = Database._connect
    opened: list[Connection] = []

    def counted(database: Database) -> Connection:
        opened.append(connect(database))
        return opened[-1]

    monkeypatch.setattr(Database, "_connect", counted)
    with EmbeddedStore.open(store) as source:
        with source.frozen(3) as frozen:
            known = len(opened)
            assert "Mars" in frozen.page_text("Mars")
        source.delete(["Mars"])
        with source.frozen(3) as frozen:
            assert "Mars" not in [page.uri for page in frozen.pages()]
        assert len(opened) == known + 1  # the one that wrote
        last = source.frozen(2)
    assert last.pages()
    last.close()
    for connection in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")


def test_a_frozen_store_does_not_give_back_what_somebody_reads_from(store: Path) -> None:
    """It would show the store as it was to whoever borrows it next."""
    with EmbeddedStore.open(store) as source:
        frozen = source.frozen(1)
        reading = frozen._database.reading()
        rows = reading.__enter__().execute("SELECT id FROM page")
        assert next(rows)
        frozen.close()
        with EmbeddedStore.open(store) as other:
            other.delete(["Mars"])
            assert source.state == other.state
            with source.frozen(1) as later:
                assert later.state == other.state


def test_a_frozen_store_answers_several_threads_at_once(store: Path) -> None:
    """Four threads on two connections."""
    with EmbeddedStore.open(store) as opened, opened.frozen(2) as frozen:
        texts: list[str] = []

        def read() -> None:
            texts.extend(frozen.page_text("Mars") for _ in range(50))

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(texts) == 200 and len(set(texts)) == 1


def test_a_reader_keeps_its_state_until_it_is_done_and_the_next_one_has_the_new(
    collection: Collection, tmp_path: Path
) -> None:
    (tmp_path / "v.html").write_text(HTML)
    with collection.reading() as engine:
        collection.change(lambda writer: writer.build([tmp_path / "v.html"]))
        collection.change(lambda writer: writer.remove(["Mars"]))
        assert pages(engine) == ["Asaph Hall", "Deimos", "Mars", "Phobos"]
        old = engine.store
    assert pages_of(collection) == ["Asaph Hall", "Deimos", "Phobos", "Vulcan"]
    assert collection.info.nodes["Page"] == 4
    with pytest.raises(StoreError, match="closed"):
        old.info()


def test_whether_a_frozen_view_is_embedded_is_read_once(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every search asks, and the state does not change."""
    with collection.reading() as engine:
        kind = type(engine.store)
    read, reads = kind.embedder, []

    def embedder(store: Any) -> Any:
        reads.append(store)
        return read.fget(store)  # type: ignore[attr-defined]

    monkeypatch.setattr(kind, "embedder", property(embedder))
    assert all(collection.embedded for _ in range(3)) and not reads
    collection.change(lambda writer: writer.remove(["Mars"]))
    adopted = len(reads)
    assert all(collection.embedded for _ in range(3)) and len(reads) == adopted


def test_a_change_that_fails_half_way_shows_what_it_committed(collection: Collection) -> None:
    def work(engine: Engine) -> None:
        engine.remove(["Mars"])
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        collection.change(work)
    assert pages_of(collection) == ["Asaph Hall", "Deimos", "Phobos"] and collection.current


def test_what_another_process_writes_is_noticed(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CHECK_SECONDS", 0.02)
    collection = Collection(Engine.open(store), 2)
    collection.open()
    with Engine.open(store) as other:
        other.remove(["Deimos"])
    until(lambda: collection.current)
    assert pages_of(collection) == ["Asaph Hall", "Mars", "Phobos"]
    collection.close()


def test_a_change_that_cannot_be_shown_is_logged_and_tried_again_less_often(
    store: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Also where reading it fails with an error that is not the package's own, such as that of a damaged index."""
    monkeypatch.setattr(module, "_CHECK_SECONDS", 0.02)
    collection = Collection(Engine.open(store), 2)
    collection.open()
    failures = [zipfile.BadZipFile("damaged"), StoreError("half written"), ZeroDivisionError("a bug")]
    refresh = collection._writer.store.refresh

    def fail_at_first(*arguments: Any) -> None:
        if failures:
            raise failures.pop(0)
        refresh(*arguments)

    monkeypatch.setattr(collection._writer.store, "refresh", fail_at_first)
    with Engine.open(store) as other:
        other.remove(["Deimos"])
    until(lambda: collection.current, 20)
    assert pages_of(collection) == ["Asaph Hall", "Mars", "Phobos"]
    collection.close()
    told = [record for record in caplog.records if "cannot be shown yet" in record.getMessage()]
    assert [record.getMessage().rpartition("again in ")[2] for record in told] == [
        "0.04 s: BadZipFile: damaged",
        "0.08 s: StoreError: half written",
        "0.16 s: ZeroDivisionError: a bug",
    ]
    assert [bool(record.exc_info) for record in told] == [True, False, True], (
        "a traceback of what is unexpected"
    )


def test_searches_go_on_without_an_error_while_documents_come_and_go(
    collection: Collection, tmp_path: Path
) -> None:
    """Every ranking is of a state that was: with Vulcan or without, and whole."""
    (tmp_path / "v.html").write_text(HTML)
    seen: set[tuple[str, ...]] = set()
    stop = threading.Event()
    failures: list[BaseException] = []

    def search() -> None:
        while not stop.is_set():
            try:
                seen.add(tuple(pages_of(collection)))
            except BaseException as error:
                failures.append(error)
                return

    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(4):
        collection.change(lambda writer: writer.build([tmp_path / "v.html"]))
        collection.change(lambda writer: writer.remove(["Vulcan"]))
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []
    whole = ("Asaph Hall", "Deimos", "Mars", "Phobos")
    assert seen <= {whole, (*whole, "Vulcan")}


def test_a_store_that_cannot_be_frozen_is_asked_again_when_it_changed(collection: Collection) -> None:
    """Three times; then the request gets an error."""
    attempts = []

    def work(_: Engine) -> str:
        attempts.append(1)
        if len(attempts) < 3:
            raise StoreChangedError("gone")
        return "found"

    assert collection.read(work) == "found"

    def never(_: Engine) -> str:
        raise StoreChangedError("gone")

    with pytest.raises(StoreChangedError):
        collection.read(never)


def test_before_it_is_open_there_is_nothing_to_read(store: Path) -> None:
    collection = Collection(Engine.open(store), 2)
    assert not collection.ready and not collection.current and not collection.embedded
    with pytest.raises(StoreError, match="not open yet"), collection.reading():
        pass
    collection.close()


def pages_of(collection: Collection) -> list[str]:
    return collection.read(pages)


@pytest.mark.parametrize("closed_before", [False, True])
def test_a_server_tries_again_to_open_its_store(
    store: Path, closed_before: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """And says meanwhile what is wrong; it can be stopped while it waits."""
    index, aside = store / "index", store.with_name("aside")
    index.rename(aside)
    index.write_text("in the way")
    with TestClient(create_app(store), base_url="http://localhost") as client:
        told = "the store cannot be served yet (StoreError); the log says more"
        until(lambda: client.get("/ready").json()["problems"] == [{"code": "store", "message": told}])
        assert client.get("/ready").status_code == 503
        assert "cannot be written" in caplog.text and "trying again in 1 s" in caplog.text
        assert client.post("/search", json={"question": QUESTION}).json()["error"]["code"] == "starting"
        if closed_before:
            return
        index.unlink()
        aside.rename(index)
        until(lambda: client.get("/ready").status_code == 200)
        assert client.get("/ready").json()["problems"] == []
        assert client.post("/search", json={"question": QUESTION}).json()["hits"]
