"""The index of a source that knows its nodes by uri: brought up to date with what a change touched, it is the one that
is made anew.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings

from tests.contract.graphs import IDENTITY, graph
from tests.examples import examples
from tests.fakes.memory_store import MemoryStore
from tests.graph.arrays.contents import index_contents
from tests.graph.neo4j.histories import HISTORIES, Step, carry_out
from trivium.graph.arrays.chunk_details import ChunkDetails
from trivium.graph.arrays.rows_by_uri import (
    KeyedNodes,
    KeyedRows,
    Nodes,
    Touched,
    changes_of,
)
from trivium.graph.arrays.snapshot import BuildCounter, IndexSnapshot, build, open_snapshot
from trivium.graph.schema import Label

DIMENSION = IDENTITY.dimension


def nodes_of(store: MemoryStore) -> KeyedNodes:
    """All nodes."""
    return replace(store._now().searchable, dimension=DIMENSION).nodes()


def index_of(nodes: KeyedNodes) -> IndexSnapshot:
    """The index, made anew."""
    rows = KeyedRows(nodes, DIMENSION)
    with TemporaryDirectory() as folder:
        build(rows, Path(folder, "index"), None, BuildCounter(None, lambda: None), 1 << 40)
        index = open_snapshot(Path(folder, "index"), "")
    assert index is not None
    index.details.append(ChunkDetails.of(index.topology.nodes[Label.CHUNK], rows.details()))
    return index


def some(nodes: Nodes, wanted: set[str]) -> Nodes:  # type: ignore[type-arg]
    """The nodes with these uris."""
    places = [place for place, row in enumerate(nodes.rows) if row.uri in wanted]
    return Nodes.of([nodes.rows[place] for place in places], [nodes.vectors[places]], DIMENSION)


def touched_between(old: KeyedNodes, new: KeyedNodes, pages: set[str]) -> Touched:
    """What is different, as a source says it: all of the ``pages``, and else what has other facts or another vector."""

    def changed(before: Nodes, after: Nodes) -> set[str]:  # type: ignore[type-arg]
        def facts(nodes: Nodes) -> dict[str, object]:  # type: ignore[type-arg]
            return {row.uri: (row, nodes.vectors[i].tobytes()) for i, row in enumerate(nodes.rows)}

        one, other = facts(before), facts(after)
        return {uri for uri in one.keys() | other.keys() if one.get(uri) != other.get(uri)}

    chunks, sections = changed(old.chunks, new.chunks), changed(old.sections, new.sections)
    entities = changed(old.entities, new.entities)
    chunks |= {row.uri for nodes in (old, new) for row in nodes.chunks.rows if row.page in pages}
    sections |= {row.uri for nodes in (old, new) for row in nodes.sections.rows if row.page in pages}
    return Touched(
        sorted(pages),
        sorted(chunks),
        sorted(entities | pages),
        KeyedNodes(
            some(new.chunks, chunks), some(new.sections, sections), some(new.entities, entities | pages)
        ),
    )


@pytest.mark.more
@settings(max_examples=examples(10), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=HISTORIES)
def test_after_any_history_it_is_the_one_that_is_made_anew(steps: list[Step]) -> None:
    store = MemoryStore()
    nodes = nodes_of(store)
    index = index_of(nodes)
    for step in steps:
        before = {page.uri: page.content_hash for page in store.pages()}
        carry_out(store, step)
        after = {page.uri: page.content_hash for page in store.pages()}
        pages = {uri for uri in before.keys() | after.keys() if before.get(uri) != after.get(uri)}
        old, nodes = nodes, nodes_of(store)
        changes = changes_of(touched_between(old, nodes, pages), index.topology, index.matrix)
        index = index.patched(changes, "", 0)
        assert index_contents(index) == index_contents(index_of(nodes))


def test_a_chunk_of_a_page_that_is_not_there_is_refused() -> None:
    """The source was written to while it was read."""
    store = MemoryStore()
    index = index_of(nodes_of(store))
    store.write([graph("A", [("red", [])])])
    nodes = nodes_of(store)
    nodes = KeyedNodes(nodes.chunks, nodes.sections, some(nodes.entities, set()))
    with pytest.raises(LookupError, match="A"):
        changes_of(Touched(["A"], [], [], nodes), index.topology, index.matrix)
