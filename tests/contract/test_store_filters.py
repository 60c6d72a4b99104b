"""Conditions limit what every read of a search finds, on every store alike, to what a brute-force reading leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tests.contract.graphs import embed_pending, graph
from tests.fakes.memory_store import MemoryStore
from trivium.graph.filter_language import parse
from trivium.graph.page_graph import ChunkNode, PageGraph
from trivium.graph.protocols import GraphStore, SearchStore
from trivium.graph.records import Vectors
from trivium.graph.schema import Hop, Label, headings_of

Of = Callable[[PageGraph, ChunkNode], bool]


def _page(number: int) -> PageGraph:
    """Every page has six chunks of three kinds, in a lead and two sections, and cites those before and after it."""
    page = graph(
        f"Page {number}",
        [(f"red planet {number}", [f"Page {number + 1}"]), (f"moons of {number}", ["Sun"])],
        {
            "Risks": [(f"risk red {number}", []), (f"none {number % 3}", ["Sun", f"Page {number - 1}"])],
            "Risks#Market": [(f"market {number}", [f"Thing {number % 4}"]), (f"red market {number}", [])],
        },
        source=f"{'reports' if number % 2 else 'notes'}/{number}.pdf",
    )
    kinds = ("paragraph", "table", "list")
    chunks = tuple(
        replace(chunk, kind=kinds[place % 3], pages=(place + 1, place + 2) if number % 3 == 0 else None)
        for place, chunk in enumerate(page.chunks)
    )
    metadata = {"year": 2018 + number % 5, "author": f"Ada {number % 2}"} | (
        {"draft": True} if number % 7 == 0 else {}
    )
    return replace(
        page,
        chunks=chunks,
        format="pdf" if number % 3 == 0 else "markdown",
        path=f"a/{number}.pdf",
        modified=f"2024-{number % 12 + 1:02}-15T10:00:00Z",
        metadata=metadata,
    )


PAGES = [_page(number) for number in range(10)]
VECTOR: Vectors = np.array([3, 1, -2, 0.5, 1, 1, 0, 2], dtype=np.float32)
VECTOR /= np.linalg.norm(VECTOR)


def _headings(chunk: ChunkNode) -> list[str]:
    return headings_of(chunk.parent)[1:]


CONDITIONS: dict[str, Of] = {
    "year >= 2020 and source = 'reports/*'": lambda p, c: p.metadata["year"] >= 2020 and p.source[0] == "r",  # type: ignore[operator]
    "format = pdf or draft exists": lambda p, c: p.format == "pdf" or "draft" in p.metadata,
    "not draft = true": lambda p, c: "draft" not in p.metadata,
    "kind in (table, list)": lambda p, c: c.kind in ("table", "list"),
    "page = 3": lambda p, c: c.pages in ((2, 3), (3, 4)),
    "page >= 6 and modified < 2024-08": lambda p, c: (
        c.pages is not None and c.pages[1] >= 6 and int(p.uri[5:]) % 12 + 1 < 8
    ),
    "section = Market": lambda p, c: "Market" in _headings(c),
    "section like 'RISK*' and not section = 'Market'": lambda p, c: _headings(c) == ["Risks"],
    "title in ('Page 3', 'Page 1*')": lambda p, c: p.uri in ("Page 1", "Page 3"),
    "author = 'Ada 1' and added >= 2020": lambda p, c: p.metadata["author"] == "Ada 1",
    "path = 'a/7.pdf'": lambda p, c: p.path == "a/7.pdf",
    "year = 1066": lambda p, c: False,
}


def _expected(of: Of) -> set[str]:
    return {chunk.uri for page in PAGES for chunk in page.chunks if of(page, chunk)}


def _filled(store: GraphStore) -> GraphStore:
    store.write(PAGES)
    embed_pending(store)
    return store


@pytest.fixture(scope="module")
def oracle() -> MemoryStore:
    """The obvious store, with the same pages."""
    store = MemoryStore()
    _filled(store)
    return store


def _reads(store: SearchStore) -> dict[str, object]:
    """What a search reads, scores rounded."""
    near = {
        str(label): [(n.uri, round(n.score, 5)) for n in store.nearest([label], VECTOR, 7)]
        for label in (Label.CHUNK, Label.PAGE, Label.SUBCHAPTER, Label.ENTITY)
    }
    hops = {
        f"{label} {hop} {limit}": [
            (r.uri, r.source_node, round(r.score, 5), r.position)
            for r in store.expand_nearest([label], VECTOR, nodes, hop, limit)
        ]
        for label, hop, nodes, limit in (
            (Label.PAGE, Hop.BELOW, 3, 9),
            (Label.SUBCHAPTER, Hop.CHILD, 5, None),
            (Label.ENTITY, Hop.CITED_IN, 5, 12),
        )
    }
    allowed = store.adjacency().allowed
    return {
        **near,
        **hops,
        "words": sorted(store.keyword_search(["red", "market"], 1000)),
        "few words": len(store.keyword_search(["red", "market"], 4)),
        "below": store.expand(["Page 3", "Page 4"], Hop.BELOW),
        "cited in": store.expand(["Sun"], Hop.CITED_IN),
        "outline": store.outline(["Page 3"]),
        "allowed": None if allowed is None else allowed.tolist(),
    }


def test_every_read_finds_what_matches_and_as_much_as_there_is(
    store: GraphStore, oracle: MemoryStore
) -> None:
    """By hand which chunks match; what is read of them as the obvious store reads it."""
    _filled(store)
    # A server answers each read in milliseconds, so that it is asked for all of them under a few conditions only.
    thorough = set(list(CONDITIONS)[::4]) if store.location.startswith("bolt") else CONDITIONS.keys()
    for text, of in CONDITIONS.items():
        condition = parse(text)
        view = store.within(condition)
        expected = _expected(of)
        assert set(view.chunk_uris()) == expected, text
        assert len(view.nearest([Label.CHUNK], VECTOR, 7)) == min(7, len(expected)), text
        if text in thorough:
            assert _reads(view) == _reads(oracle.within(condition)), text


def test_views_are_of_the_state_that_is_there_and_can_be_limited_further(store: GraphStore) -> None:
    """What is written later is seen; two conditions must both hold."""
    store.write(PAGES[:3])
    embed_pending(store)
    view = store.within(parse("source = 'reports/*'"))
    assert {uri.partition("#")[0] for uri in view.chunk_uris()} == {"Page 1"}
    store.write(PAGES[3:6])
    embed_pending(store)
    assert {uri.partition("#")[0] for uri in view.chunk_uris()} == {"Page 1", "Page 3", "Page 5"}
    with view.within(parse("kind = table")).pinned() as pinned:
        assert len(pinned.nearest([Label.CHUNK], VECTOR, 100)) == 6
