"""Loading, replacing and removing pages."""

from __future__ import annotations

import dataclasses

import pytest

from tests.contract.conftest import MakeStore
from tests.contract.graphs import embed_pending, graph
from tests.contract.state import state_of
from trivium.errors import StoreError
from trivium.graph.page_graph import SectionNode
from trivium.graph.protocols import GraphStore
from trivium.graph.records import WriteReport
from trivium.graph.schema import Hop

MARS = graph("Mars", [("red planet", ["Moon", "Sun"])], {"Moons": [("two moons", ["Phobos"])]}, revision=5)


def test_loading_a_page_again_changes_nothing(store: GraphStore) -> None:
    """The same content hash is left alone, whatever else the second copy says of its source."""
    assert store.write([MARS]) == WriteReport(added=1)
    before = state_of(store)
    assert store.write([dataclasses.replace(MARS, source="elsewhere")]) == WriteReport(unchanged=1)
    assert state_of(store) == before


def test_a_changed_page_is_replaced_whole(store: GraphStore) -> None:
    """Sections, chunks and mentions of the old copy are gone, those of others stay."""
    store.write([MARS, graph("Sol", [("a star", ["Sun"])])])
    assert store.write([graph("Mars", [("a planet", ["Deimos"])], revision=6)]) == WriteReport(replaced=1)
    assert store.chunk_uris() == ["Mars#chunk-1", "Sol#chunk-1"]
    assert store.outline(["Mars"]) == {"Mars": []}
    assert list(store.adjacency().entities) == ["Deimos", "Mars", "Sol", "Sun"]


def test_a_lower_revision_is_skipped_and_an_unknown_one_is_not(store: GraphStore) -> None:
    """A page without a revision may be newer than anything, one with a lower revision is not."""
    store.write([MARS])
    assert store.write([graph("Mars", revision=4)]) == WriteReport(skipped=("Mars",))
    assert store.chunk_uris() == ["Mars#chunk-1", "Mars#Moons#chunk-1"]
    assert store.write([graph("Mars")]) == WriteReport(replaced=1)
    assert store.write([graph("Mars", [("x", [])], revision=1)]) == WriteReport(replaced=1)


def test_of_one_page_twice_in_a_batch_the_higher_revision_wins_then_the_earlier(store: GraphStore) -> None:
    """Both orders, and a tie."""
    old, new = graph("P", [("old", [])], revision=1), graph("P", [("new", [])], revision=2)
    tie = graph("P", [("tie", [])], revision=2)
    none = graph("P", [("none", [])])
    assert store.write([none, old, new, tie]) == WriteReport(added=1)
    assert [record.text for record in store.fetch(["P#chunk-1"])] == ["new"]


def test_aliases_accumulate_until_the_page_is_removed(store: GraphStore) -> None:
    """Unchanged, skipped and replaced copies all add theirs; a removed page takes them along."""
    store.write([dataclasses.replace(MARS, aliases=("Ares",))])
    store.write([dataclasses.replace(MARS, aliases=("Red Planet",))])
    store.write([graph("Mars", revision=1, aliases=["Old Mars"])])
    store.write([graph("Mars", revision=9, aliases=["New Mars"])])
    store.add_aliases({"Mars": ["4th planet"], "Nowhere": ["Ghost"]})
    titles = ["Ares", "Red Planet", "Old Mars", "New Mars", "4th planet"]
    assert store.resolve([*titles, "Ghost"]) == dict.fromkeys(titles, "Mars")
    assert store.info().aliases == 5
    store.delete(["Mars"])
    store.write([MARS])
    assert store.resolve(titles) == {}


def test_a_removed_page_stays_as_an_entity_while_others_cite_it(store: GraphStore) -> None:
    """It loses its label and its chunks; when the last mention goes it vanishes."""
    store.write([MARS, graph("Phobos", [("a moon", ["Mars"])], aliases=["Mars I"])])
    assert store.delete(["Mars", "Unknown", "Mars"]) == ["Mars"]
    assert [page.uri for page in store.pages()] == ["Phobos"]
    assert store.expand(["Mars"], Hop.CITED_IN) == {"Mars": ["Phobos#chunk-1"]}
    assert store.delete(["Mars I"]) == ["Phobos"]
    assert store.info().nodes == {"Entity": 0, "Page": 0, "SubChapter": 0, "Chunk": 0}


def test_a_page_that_contradicts_itself_changes_nothing(store: GraphStore) -> None:
    """The whole batch is refused, with the place named."""
    store.write([MARS])
    before = state_of(store)
    lost = dataclasses.replace(graph("P"), sections=(SectionNode("P#Q#R", "P#Q", 2, 0),))
    with pytest.raises(StoreError, match="stands under 'P#Q'"):
        store.write([graph("Good"), lost])
    twice = graph("P", [("a", [])])
    with pytest.raises(StoreError, match="uri of its own"):
        store.write([dataclasses.replace(twice, chunks=twice.chunks * 2)])
    assert state_of(store) == before


HOSTILE = [
    "../../etc/passwd",
    "'; DROP TABLE page; --",
    'quote " and \\ and % and _',
    "control \x01\x1b\x7f characters",
    "x" * 2_000,
    "𝕌nicode ☃ é e\u0301 \u202e",
    "C%23 (language)",
    "/",
    ".",
    "NULL",
    "-1",
    "{}[]",
]


def test_hostile_titles_are_data(store: GraphStore) -> None:
    """Whatever a title holds comes back as it was."""
    pages = [graph(t, [(f"text {t}", [f"to {t}"])], aliases=[f"alias {t}"]) for t in HOSTILE]
    store.write(pages)
    embed_pending(store)
    assert [page.uri for page in store.pages()] == sorted(HOSTILE)
    for title in HOSTILE:
        chunk = f"{title}#chunk-1"
        assert store.fetch([chunk])[0].text == f"text {title}"
        assert store.cited([chunk]) == {chunk: [f"to {title}"]}
        assert store.resolve([f"alias {title}"]) == {f"alias {title}": title}
    assert store.delete(HOSTILE) == HOSTILE


@pytest.mark.two_stores
def test_stores_of_one_kind_do_not_share_anything(make_store: MakeStore) -> None:
    """Two stores are two stores."""
    first, second = make_store(), make_store()
    first.write([MARS])
    assert second.pages() == []
