"""Links that mean a section: found as long as there is such a section, whatever comes first."""

from __future__ import annotations

from dataclasses import replace

from tests.contract.graphs import graph
from tests.contract.state import state_of
from trivium.graph.page_graph import PageGraph
from trivium.graph.protocols import GraphStore

SETUP = "docs/setup.md"


def setup(*headings: tuple[str, tuple[str, ...]], content_hash: str = "1") -> PageGraph:
    """A page with sections, known as a file too, and their anchors."""
    page = graph("Setup", [("one", [])], {name: [("two", [])] for name, _ in headings}, aliases=[SETUP])
    sections = tuple(
        replace(node, anchors=anchors) for node, (_, anchors) in zip(page.sections, headings, strict=True)
    )
    return replace(page, sections=sections, content_hash=content_hash)


def linking(*links: str) -> PageGraph:
    """A page whose first chunk has links to sections; the second only cites the page."""
    page = graph("Guide", [("see there", [SETUP, "Setup", "Elsewhere"]), ("or here", [SETUP])])
    first, second = page.chunks
    return replace(page, chunks=(replace(first, anchors=links), second))


WHOLE = setup(("Linux", ("linux", "onlinux")), ("macOS", ("macos",)))
LINKED = linking("Elsewhere#linux", f"{SETUP}#macos", "Setup#onlinux", f"{SETUP}#linux", f"{SETUP}#windows")
CHUNKS = [chunk.uri for chunk in LINKED.chunks]


def test_links_lead_to_sections_in_the_order_they_stand_in_each_once(store: GraphStore) -> None:
    """By title and by alias. Nothing is counted or cited for it."""
    store.write([LINKED, WHOLE])
    assert store.cited_sections([*CHUNKS, "none"]) == {
        CHUNKS[0]: ["Setup#macOS", "Setup#Linux"],
        CHUNKS[1]: [],
        "none": [],
    }
    assert store.cited(CHUNKS) == {CHUNKS[0]: ["Setup", "Elsewhere"], CHUNKS[1]: ["Setup"]}
    with_anchors = store.info().relationships
    store.delete(["Guide", "Setup"])
    store.write([linking(), setup(("Linux", ()), ("macOS", ()))])
    assert store.info().relationships == with_anchors


def test_pages_come_back_with_their_anchors(store: GraphStore) -> None:
    store.write([LINKED, WHOLE])
    assert list(store.page_graphs()) == [LINKED, WHOLE]
    assert store.checker().page_digests()


def test_a_section_is_found_whenever_its_page_comes_and_not_when_it_is_gone(store: GraphStore) -> None:
    store.write([LINKED])
    assert store.cited_sections(CHUNKS)[CHUNKS[0]] == []
    before = state_of(store)
    store.write([WHOLE])
    assert store.cited_sections(CHUNKS)[CHUNKS[0]] == ["Setup#macOS", "Setup#Linux"]
    store.write([setup(("Windows", ("windows",)), content_hash="2")])
    assert store.cited_sections(CHUNKS)[CHUNKS[0]] == ["Setup#Windows"]
    store.delete(["Setup"])
    assert store.cited_sections(CHUNKS)[CHUNKS[0]] == []
    assert state_of(store) == before
