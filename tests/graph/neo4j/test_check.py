"""Damage done to a database behind the store's back: found, named, and repaired where it can be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.graph.neo4j.stores import new_store
from tests.neo4j_servers import Server
from trivium.checking.report import CheckReport
from trivium.engine import Engine
from trivium.errors import InputError
from trivium.graph.backup import back_up
from trivium.graph.build_page_graph import build
from trivium.graph.neo4j.connection import rows
from trivium.graph.page_graph import PageGraph
from trivium.testing.toys import TOY_RECORDS, HashEmbedder
from trivium.types import Chunk, ChunkKind, Link, Page, Relation, Section


def _page(title: str, text: str) -> PageGraph:
    middle = text.index(". ") + 1 if ". " in text else len(text)
    return build(
        Page(
            title=title,
            text=text,
            source="toy",
            revision=3,
            chunks=(
                Chunk(ChunkKind.PARAGRAPH, text[:middle], 0, middle, (Link("Mars", 0, 4), Link("Sun", 0, 4))),
            ),
            sections=(
                Section("More", 1, None, (Chunk(ChunkKind.PARAGRAPH, text[middle:], middle, len(text), ()),)),
            ),
            relations=(Relation("orbits", "Sun"),),
            aliases=(f"The {title}",),
        )
    )


PAGES = [_page(title, text) for title, text in TOY_RECORDS]


@pytest.fixture
def engine(server: Server) -> Iterator[Engine]:
    """A store of four pages."""
    with new_store(server) as store:
        store.write(PAGES)
        engine = Engine(store, HashEmbedder())
        engine.indexer.embed()
        engine.indexer.embed_sentences()
        store.refresh()
        yield engine


def _run(engine: Engine, query: Any) -> None:
    async def work(transaction: Any) -> None:
        await rows(transaction, query)

    engine.store._connection.write(work)  # type: ignore[attr-defined]
    engine.store._cache.forget_state()  # type: ignore[attr-defined]


def _kinds(report: CheckReport) -> set[str]:
    return {finding.kind for finding in report.findings}


def test_a_store_as_it_was_loaded_is_well(engine: Engine) -> None:
    """Every vector compared."""
    report = engine.check(full=True)
    assert report.findings == ()
    assert (report.checked["pages"], report.checked["chunks"]) == (4, 8)


REPAIRED = {
    "a vector of another length": ("vector", "MATCH (c:Chunk {uri: 'Mars#chunk-1'}) SET c.embedding = [1.0]"),
    "a vector that is no number": (
        "vector",
        "MATCH (e:Entity {uri: 'Sun'}) SET e.embedding = [x IN e.embedding | 0.0 / 0.0]",
    ),
    "a vector of another text": (
        "vector of another text",
        "MATCH (e:Entity {uri: 'Sun'}), (m:Entity {uri: 'Mars'}) SET e.embedding = m.embedding",
    ),
    "an entity that nothing mentions": (
        "leftovers",
        "CREATE (:Entity:TriviumEntity {uri: 'Nowhere', text: 'Nowhere'})",
    ),
    "a count of terms": ("term counts", "MATCH (t:Term {term: 'moon'}) SET t.df = t.df + 1"),
    "a relation without the vector of its type": (
        "relations",
        "MATCH (:Entity {uri: 'Mars'})-[r:semantic_rel]->() REMOVE r.embedding",
    ),
    "a mirrored relation with another vector": (
        "relations",
        "MATCH (:Entity {uri: 'Sun'})-[r:semantic_rel]->() SET r.embedding = [1.0, 2.0]",
    ),
    "an index": ("index", "DROP INDEX trivium_search_terms"),
}


def test_what_follows_from_the_pages_is_repaired(engine: Engine) -> None:
    """All of it at once; each is named."""
    before = [(hit.uri, hit.score) for hit in engine.search("Who discovered the moons of Mars?", k=5)]
    for kind, query in REPAIRED.values():
        if kind == "index":
            engine.store._connection.change_schema(query)  # type: ignore[attr-defined]
        else:
            _run(engine, query)
    found = _kinds(engine.check(full=True))
    assert found >= {kind for kind, _ in REPAIRED.values()} - {"vector of another text"}
    engine.check(repair=True, full=True)
    report = engine.check(repair=True, full=True)
    assert report.findings == ()
    assert "vector of another text" in {finding.kind for finding in report.repaired}
    assert [(h.uri, h.score) for h in engine.search("Who discovered the moons of Mars?", k=5)] == before


DAMAGED = {
    "Mars": "MATCH (c:Chunk {uri: 'Mars#chunk-1'}) SET c.text = 'something else'",
    "Phobos": "MATCH (c:Chunk {uri: 'Phobos#chunk-1'}) SET c.start = 3",
    "Deimos": "MATCH (:Chunk {uri: 'Deimos#chunk-1'})<-[r:has_chunk]-() DELETE r",
    "Asaph Hall": "MATCH (:Chunk {uri: 'Asaph Hall#chunk-1'})-[r:cites]->() DELETE r",
}
"""Page -> damage: its text, where a chunk is, its parent, a citation."""


def test_damaged_pages_are_named_and_whole_again_when_they_are_loaded_again(engine: Engine) -> None:
    """And no other. A repair sees to it that the same content replaces them."""
    engine.store.write([_page("Ceres", "Ceres is a dwarf planet. It is round.")])
    for query in DAMAGED.values():
        _run(engine, query)
    report = engine.check(repair=True)
    assert {uri for finding in report.findings for uri in finding.where} == set(DAMAGED)
    assert engine.store.write(PAGES).replaced == len(DAMAGED)
    engine.indexer.embed()
    engine.indexer.embed_sentences()
    assert engine.check(full=True).findings == ()


def test_a_backup_of_a_server_names_the_tool_of_the_server() -> None:
    """And that pages can be exported."""
    with pytest.raises(InputError, match=r"neo4j-admin database dump.*trivium export"):
        back_up("bolt://localhost:7687", "mars.trivium")
