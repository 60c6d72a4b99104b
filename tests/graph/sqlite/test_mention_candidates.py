"""Pages that may mention a name are found by an index of words: no fewer than by reading all texts, and few others."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contract.graphs import graph
from trivium.errors import StoreError, StoreFormatError
from trivium.graph.page_graph import PageGraph
from trivium.graph.sqlite import EmbeddedStore, mention_candidates, open_database
from trivium.graph.sqlite.open_database import schema_script
from trivium.index.link_mentions import pages_mentioning
from trivium.parser.gazetteer import Gazetteer
from trivium.text.normalise import normalise_title

# Letters in two cases, of other scripts, composed and not, that change their number when lower-cased or depend on what
# follows; digits, common words, and what separates words in texts but not in identifiers.
_WORDS = """a B c of THE Io moon MOON mooning Deimos 7 1877 C++ x é E\u0301 \u0301 ß ẞ İ ı ſ K ΟΔΟΣ σ ς Ж ж Луна 日本 月
क का אב ١٢ ²"""
_PIECES = st.sampled_from(_WORDS.split())
_BETWEEN = st.sampled_from([" ", "", "_", "-", "'", ". ", "\n", "(", ")", " (", "\u00ad", "/"])
_phrases = st.lists(st.tuples(_PIECES, _BETWEEN), min_size=1, max_size=7).map(
    lambda parts: "".join(piece + between for piece, between in parts)
)
_names = st.lists(
    _phrases.map(normalise_title).filter(bool) | st.sampled_from(("Io (moon)", "Deimos", "X")), max_size=4
)
_documents = st.lists(st.tuples(st.integers(0, 5), st.lists(_phrases, max_size=3)), max_size=4)


def _page(number: int, text: str, *, record: bool = False) -> PageGraph:
    page = graph(f"P{number}", [(text, ())], source="records:x" if record else f"d{number}.md")
    return page if record else replace(page, content_hash=f"{page.content_hash}.linked")


def _said(store: EmbeddedStore, names: Sequence[str], **which: str) -> list[str]:
    return [page.uri for page in pages_mentioning(store, names, **which)]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(before=_documents, after=_documents, gone=st.sets(st.integers(0, 5), max_size=2), names=_names)
def test_the_index_finds_what_reading_all_texts_finds(
    before: list[tuple[int, list[str]]],
    after: list[tuple[int, list[str]]],
    gone: set[int],
    names: list[str],
) -> None:
    """Whatever the script, after pages were written, replaced and removed. The first three pages are documents, the
    others records. Some names are what texts say."""
    names = [*names, *(normalise_title(phrases[0]).upper() for _, phrases in before[:2] if phrases)]
    with TemporaryDirectory() as folder, EmbeddedStore.create(Path(folder) / "s") as store:
        for documents in (before, after):
            store.write([_page(n, " ".join(phrases), record=n > 2) for n, phrases in documents])
            store.delete([f"P{number}" for number in gone])
        gazetteer = Gazetteer((name, name) for name in filter(None, names))
        for which, prefix in (({"mark": "."}, "d"), ({"source": "records:"}, "records:")):
            all_pages = [page for page in store.pages() if page.source.startswith(prefix)]
            wanted = [page.uri for page in all_pages if gazetteer.find(store.page_text(page.uri))]
            assert _said(store, names, **which) == wanted
        assert store.checker().check() == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "s"


@pytest.fixture
def store(folder: Path) -> Iterator[EmbeddedStore]:
    texts = ("The moon Deimos.", "Of Phobos, of Deimos_2.", "A record of Deimos.", "Deimosaur")
    with EmbeddedStore.create(folder) as store:
        store.write([_page(number, text, record=number == 2) for number, text in enumerate(texts)])
        store.write([graph("P9", [("Deimos", ())])])  # with links of its own
        yield store


def _found(store: EmbeddedStore, *names: str) -> list[str]:
    return [page.uri for page in store.pages_with_words(names, mark=".")]


def _execute(folder: Path, *statements: str) -> None:
    database = sqlite3.connect(folder / "graph.db", isolation_level=None)
    for statement in statements:
        database.execute(statement)
    database.close()


def test_only_texts_that_have_the_words_are_read(store: EmbeddedStore) -> None:
    """Words as a whole, all of a name except common ones, in any order."""
    assert _found(store, "deimos") == ["P0", "P1"]
    assert _found(store, "the deimos of phobos") == ["P1"]
    assert _found(store, "vesta", "phobos", "deimosaur") == ["P1", "P3"]
    assert [page.uri for page in store.pages_with_words(["deimos"], source="records:")] == ["P2"]
    store.write([_page(0, "Ceres")])
    store.delete(["P3"])
    assert (_found(store, "deimos"), _found(store, "ceres"), _found(store, "deimosaur")) == (
        ["P1"],
        ["P0"],
        [],
    )


def test_a_page_that_gets_links_of_its_own_or_loses_them(store: EmbeddedStore) -> None:
    store.write([graph("P0", [("The moon Deimos.", ("X",))]), _page(9, "Deimos")])
    assert _found(store, "deimos") == ["P1", "P9"]
    store.write([_page(0, "The moon Deimos.")])
    assert _found(store, "deimos") == ["P0", "P1", "P9"]
    assert store.checker().check() == []


def test_entries_of_replaced_texts_do_not_pile_up(
    store: EmbeddedStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index is made anew when most of it is gone."""
    monkeypatch.setattr(mention_candidates, "_GONE", 0)
    most = 0
    for number in range(40):
        store.write([_page(0, f"Ceres {number}")])
        database = sqlite3.connect(folder / "graph.db")
        database.execute("CREATE VIRTUAL TABLE temp.v USING fts5vocab (main, page_words, instance)")
        (entries,) = database.execute("SELECT count(DISTINCT doc) FROM temp.v").fetchone()
        database.close()
        most = max(most, entries)
        assert (_found(store, "ceres"), _found(store, "phobos")) == (["P0"], ["P1"])
    assert 5 < most <= 12
    assert store.checker().check() == []


def test_an_sqlite_without_full_text_search_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says what is missing, and no folder is left."""
    script = schema_script().replace("USING fts5 (", "USING fts5_that_is_missing (")
    monkeypatch.setattr(open_database, "schema_script", lambda: script)
    with pytest.raises(StoreError, match="needs SQLite with FTS5") as refused:
        EmbeddedStore.create(tmp_path / "s")
    assert not isinstance(refused.value, StoreFormatError) and not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM worded WHERE page_id = (SELECT id FROM page WHERE source = 'd1.md')",
        "INSERT INTO page_words (rowid, words) VALUES (1, 'another')",
        "INSERT INTO page_words (page_words) VALUES ('delete-all')",
        "DELETE FROM page_words_data WHERE id > 10",
    ],
)
def test_an_index_that_differs_from_the_texts_is_found_and_made_again(
    store: EmbeddedStore, folder: Path, damage: str
) -> None:
    _execute(folder, damage)
    (finding,) = found = store.checker().check()
    assert finding.where == ("page_words",)
    store.checker().repair(found)
    assert store.checker().check() == []
    assert _found(store, "deimos") == ["P0", "P1"]
