"""The embedded store and the one that works everything out anew agree after any history."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contract.graphs import IDENTITY, embed_pending, pages
from tests.contract.state import state_of
from tests.fakes.memory_store import MemoryStore
from tests.graph.sqlite.histories import HISTORIES, Step, carry_out
from tests.graph.sqlite.patching import patched_store
from trivium.graph.page_graph import PageGraph, RelationEdge
from trivium.graph.sqlite import EmbeddedStore, load_index
from trivium.graph.sqlite.open_database import open_database


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    first=st.lists(pages, min_size=1, max_size=4),
    steps=HISTORIES,
    indexed=st.booleans(),
    whole=st.booleans(),
    merged=st.sets(st.integers(0, 7), max_size=3),
)
def test_changes_made_in_memory_give_the_same(
    first: list[PageGraph], steps: list[Step], indexed: bool, whole: bool, merged: set[int]
) -> None:
    """After each step the indexes are brought up to date, by the process that made it and by one that opens the store;
    with and without approximate indexes in the files below. ``whole``: the pages are embedded before. After the steps
    ``merged`` somebody else makes files of the state."""
    with patched_store() as (patches, folder, store):
        if indexed:
            patches.setenv("TRIVIUM_APPROXIMATE_FROM", "1")
        store.set_embedder(IDENTITY)
        oracle = MemoryStore()
        oracle.set_embedder(IDENTITY)
        for step in [("write", first), *([("embed", None)] if whole else [])]:
            carry_out(store, step), carry_out(oracle, step)
        store.refresh()
        files = sorted(path.name for path in (folder / "s" / "index").iterdir())
        for number, step in enumerate(steps):
            assert carry_out(store, step) == carry_out(oracle, step)
            store.refresh()
            if number in merged:
                with closing(open_database(folder / "s", read_only=False)) as database:
                    load_index.build_snapshot(database)
        wanted = state_of(oracle)
        assert state_of(store) == wanted
        with EmbeddedStore.open(folder / "s") as again:
            assert state_of(again) == wanted
        if not merged and all(action != "delete" for action, _ in steps):  # of nothing any share is nothing
            assert sorted(path.name for path in (folder / "s" / "index").iterdir()) == files


def _as_written(page: PageGraph) -> PageGraph:
    """A page without what it gathers later."""
    return replace(page, aliases=(), relations=())


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=HISTORIES)
def test_any_history_ends_like_the_obvious_store(steps: list[Step]) -> None:
    """Every kind of change in any order gives the same reports and the same answers."""
    with TemporaryDirectory() as folder, EmbeddedStore.create(Path(folder) / "s") as store:
        oracle = MemoryStore()
        for step in steps:
            assert carry_out(store, step) == carry_out(oracle, step)
        assert state_of(store) == state_of(oracle)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=HISTORIES)
def test_any_history_ends_like_building_the_final_pages_from_scratch(steps: list[Step]) -> None:
    """Nothing of what was replaced or deleted is left: not an entity, a vector, a term or an alias."""
    with (
        TemporaryDirectory() as folder,
        EmbeddedStore.create(Path(folder) / "s") as store,
        EmbeddedStore.create(Path(folder) / "t") as fresh,
    ):
        written: dict[str, PageGraph] = {}
        for action, argument in steps:
            carry_out(store, (action, argument))
            if action == "write":
                written.update((page.content_hash, page) for page in argument)
        final = list(store.page_graphs())
        for page in final:
            assert _as_written(page) == _as_written(written[page.content_hash])
            assert set(page.relations) >= set(RelationEdge.distinct(written[page.content_hash].relations))
        fresh.write(final[::-1])
        fresh.set_types(store.types())
        embed_pending(store)
        embed_pending(fresh)
        assert state_of(store) == state_of(fresh)
