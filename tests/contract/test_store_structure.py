"""The graph as it is read back: structure, redirects, relations, names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.contract.graphs import graph
from trivium.errors import StoreError
from trivium.graph.page_graph import RelationEdge
from trivium.graph.protocols import GraphStore
from trivium.graph.records import ChunkRecord
from trivium.graph.schema import Hop

MARS = graph(
    "Mars",
    [("red planet", ["Sun", "Ares", "Mars"]), ("it rusts", ["Iron"])],
    {
        "Moons": [("two moons", ["Phobos", "Fear", "Deimos"])],
        "Moons#Phobos": [("the larger", ["Sol"]), ("the nearer", [])],
        "Rovers": [],
    },
    aliases=["Ares", "Red Planet"],
    relations=[("orbits", "Sol"), ("satellite", "Fear"), ("satellite", "Phobos")],
)
PHOBOS = graph("Phobos", [("a moon", ["Red Planet", "Asaph Hall"])], aliases=["Fear"])


@pytest.fixture
def filled(store: GraphStore) -> GraphStore:
    """Mars cites an alias of Phobos before Phobos comes, and the other way round."""
    store.write([MARS])
    store.write([PHOBOS])
    return store


def test_counts_by_hand(filled: GraphStore) -> None:
    """Every label and relationship type, mirrors and transitive ones included."""
    info = filled.info()
    assert info.nodes == {"Entity": 7, "Page": 2, "SubChapter": 3, "Chunk": 6}
    assert info.relationships == {
        "has_subchapter": 3,
        "is_subchapter_of": 4,
        "has_chunk": 6,
        "is_chunk_of": 6 + 1 + 2 * 2,
        "next": 2,
        "previous": 2,
        "cites": 2 + 1 + 2 + 1 + 2,
        "cited_in": 8,
        "semantic_rel": 4,
    }
    assert info.aliases == 3
    assert info.embedder is None


def test_pages_are_listed_some_at_a_time_by_uri(store: GraphStore) -> None:
    """In the order of code points, whatever a database's own is; all of them at once as well."""
    titles = ["B", "a", "é", "A", "\U0001f40d", "\uffee", "z", "A b"]
    store.write([graph(title, [(title, [])]) for title in titles])
    ordered = sorted(titles)
    assert [page.uri for page in store.pages()] == ordered
    assert store.count_pages() == len(ordered)
    shown: list[str] = []
    while part := store.pages(after=shown[-1] if shown else None, limit=3):
        assert part == store.pages()[len(shown) : len(shown) + 3]
        shown += [page.uri for page in part]
    assert shown == ordered
    assert [page.uri for page in store.pages(after="Azzz")] == ordered[ordered.index("B") :]
    assert store.pages(limit=0) == store.pages(after="\U0010ffff") == []


def test_a_page_may_have_no_text(store: GraphStore) -> None:
    """It is a node that others cite, and searches find nothing in it."""
    empty = graph("Concepts", [])
    store.write([empty, graph("Start", [("see there", ["Concepts"])])])
    assert list(store.page_graphs(["Concepts"])) == [empty]
    assert store.expand(["Concepts", "Start#chunk-1"], Hop.BELOW)["Concepts"] == []
    assert store.count_pages() == 2


def test_named_pages_are_found_without_the_others(filled: GraphStore) -> None:
    """In the order asked; aliases, entities without a page and unknown uris are left out."""
    every = {page.uri: page for page in filled.pages()}
    asked = [*reversed(every), "Ares", "Sun", "nowhere", ""]
    assert filled.resolve(["Ares", "Sun"]).keys() == {"Ares", "Sun"}, "known, but no page of that uri"
    assert list(filled.find_pages(asked).items()) == [(uri, every[uri]) for uri in reversed(every)]
    assert filled.find_pages([]) == {}


def test_a_store_says_where_it_is(filled: GraphStore) -> None:
    """Without counting what it holds."""
    assert filled.location == filled.info().location


def test_records_and_texts_come_back(filled: GraphStore) -> None:
    """In the order asked, repeats included; offsets count in the page's text."""
    first, second, again = filled.fetch(["Mars#Moons#Phobos#chunk-2", "Mars#chunk-2", "Mars#chunk-2"])
    assert first == ChunkRecord(
        uri="Mars#Moons#Phobos#chunk-2",
        page="Mars",
        section="Mars#Moons#Phobos",
        text="the nearer",
        kind="paragraph",
        position=4,
        start=41,
        end=51,
        token_count=2,
        document="test",
    )
    assert second == again
    assert filled.page_text("Mars")[first.start : first.end] == "the nearer"


def test_unknown_chunks_and_pages_are_named_in_the_error(filled: GraphStore) -> None:
    """fetch and page_text have no empty answer."""
    with pytest.raises(StoreError, match="'Mars#chunk-9'"):
        filled.fetch(["Mars#chunk-1", "Mars#chunk-9"])
    with pytest.raises(StoreError, match="'Pluto'"):
        filled.page_text("Pluto")


def test_outline_and_hops_follow_the_page(filled: GraphStore) -> None:
    """Document order within a page, pages by uri; an unknown node has an empty list."""
    below = ["Mars#chunk-1", "Mars#chunk-2", "Mars#Moons#chunk-1"]
    below += ["Mars#Moons#Phobos#chunk-1", "Mars#Moons#Phobos#chunk-2"]
    assert filled.outline(["Mars", "Nix"]) == {
        "Mars": ["Mars#Moons", "Mars#Moons#Phobos", "Mars#Rovers"],
        "Nix": [],
    }
    assert filled.expand(["Mars", "Nix"], Hop.BELOW) == {"Mars": below, "Nix": []}
    assert filled.expand(["Mars", "Mars#Moons", "Mars#Rovers"], Hop.CHILD) == {
        "Mars": below[:2],
        "Mars#Moons": below[2:3],
        "Mars#Rovers": [],
    }
    assert filled.expand(["Mars", "Phobos", "Sun"], Hop.CITED_IN) == {
        "Mars": ["Mars#chunk-1", "Phobos#chunk-1"],
        "Phobos": ["Mars#Moons#chunk-1"],
        "Sun": ["Mars#chunk-1"],
    }
    assert filled.chunk_uris() == [*below, "Phobos#chunk-1"]


def test_redirects_resolve_whether_the_page_came_before_or_after(filled: GraphStore) -> None:
    """Two links to one page, by title and by alias, are one citation, at the place of the first."""
    assert filled.cited(["Mars#chunk-1", "Mars#Moons#chunk-1", "Phobos#chunk-1", "?"]) == {
        "Mars#chunk-1": ["Sun", "Mars"],
        "Mars#Moons#chunk-1": ["Phobos", "Deimos"],
        "Phobos#chunk-1": ["Mars", "Asaph Hall"],
        "?": [],
    }
    assert filled.resolve(["Fear", "Sun", "Mars", "Nix", "Ares"]) == {
        "Fear": "Phobos",
        "Sun": "Sun",
        "Mars": "Mars",
        "Ares": "Mars",
    }


def test_a_title_beats_an_alias_and_the_lowest_page_holds_a_shared_one(store: GraphStore) -> None:
    """And when the stronger claim goes, the next one holds."""
    store.write([graph("Z", aliases=["Name"]), graph("C", [("c", ["Name"])]), graph("Y", aliases=["Name"])])
    assert store.cited(["C#chunk-1"]) == {"C#chunk-1": ["Y"]}
    store.write([graph("Name")])
    assert store.cited(["C#chunk-1"]) == {"C#chunk-1": ["Name"]}
    store.delete(["Y"])
    assert store.resolve(["Name"]) == {"Name": "Name"}
    store.delete(["Name"])
    assert store.cited(["C#chunk-1"]) == {"C#chunk-1": ["Z"]}
    store.delete(["Z"])
    assert store.cited(["C#chunk-1"]) == {"C#chunk-1": ["Name"]}
    assert list(store.adjacency().entities) == ["C", "Name"]


def test_relations_are_resolved_distinct_and_without_mirrors(filled: GraphStore) -> None:
    """The same relation by title and by alias is one; both ends find it."""
    satellite, orbits = RelationEdge("Mars", "satellite", "Phobos"), RelationEdge("Mars", "orbits", "Sol")
    assert filled.relations(["Mars"]) == [orbits, satellite]
    assert filled.relations(["Phobos", "Nix"]) == [satellite]
    assert filled.relations(["Phobos", "Mars", "Sol"]) == [orbits, satellite]
    assert filled.relations(["Sun"]) == []


def test_names_are_titles_then_aliases_by_page(filled: GraphStore) -> None:
    """Only of pages; as people write them."""
    filled.write([graph("C%23", aliases=["C sharp %23"])])
    assert list(filled.names()) == [
        ("C#", "C%23"),
        ("C sharp #", "C%23"),
        ("Mars", "Mars"),
        ("Ares", "Mars"),
        ("Red Planet", "Mars"),
        ("Phobos", "Phobos"),
        ("Fear", "Phobos"),
    ]


def test_a_name_means_the_exact_title_then_the_alias_then_the_shortened_title(store: GraphStore) -> None:
    """Each step is taken away in turn."""
    store.write(
        [
            graph("Mercury"),
            graph("Quicksilver", aliases=["MERCURY!"]),
            graph("Mercury (planet)"),
            graph("Other", [("x", ["Mercury (god)", "Rare's"])]),
        ]
    )
    names = ["mercury", "mercury planet", "mercury god", "rare s", "none", ""]
    assert store.lookup_names(names) == {
        "mercury": "Mercury",
        "mercury planet": "Mercury (planet)",
        "mercury god": "Mercury (god)",
        "rare s": "Rare's",
    }
    store.delete(["Mercury"])
    assert store.lookup_names(["mercury"]) == {"mercury": "Quicksilver"}
    store.write([graph("Citing", [("x", ["Mercury"])])])
    assert store.lookup_names(["mercury"]) == {"mercury": "Mercury"}, "an exact title, though without a page"
    store.delete(["Citing"])
    store.delete(["Quicksilver"])
    assert store.lookup_names(["mercury"]) == {"mercury": "Mercury (planet)"}
    store.delete(["Mercury (planet)"])
    assert store.lookup_names(["mercury"]) == {"mercury": "Mercury (god)"}


def test_of_equal_names_the_page_then_the_most_cited_then_the_lowest_uri_is_meant(store: GraphStore) -> None:
    """Citations by redirect count as well."""
    store.write([graph("P", [("1", ["Io (moon)", "Io (cow)"]), ("2", ["Io (cow)"])])])
    assert store.lookup_names(["io"]) == {"io": "Io (cow)"}
    store.write([graph("Q", [("1", ["Io (moon)"])])])
    assert store.lookup_names(["io"]) == {"io": "Io (cow)"}
    store.write([graph("Q", [("1", ["Io (moon)"]), ("2", ["Io (moon)"])])])
    assert store.lookup_names(["io"]) == {"io": "Io (moon)"}
    store.write([graph("Io (band)")])
    assert store.lookup_names(["io"]) == {"io": "Io (band)"}
    store.write([graph("Io (moon)", aliases=["Jupiter I"]), graph("Io (cow)", aliases=["Heifer"])])
    store.write([graph("R", [("1", ["Heifer"]), ("2", ["Heifer"])])])
    assert store.lookup_names(["io"]) == {"io": "Io (cow)"}


def test_the_adjacency_joins_chunks_with_what_they_cite_and_their_page(store: GraphStore) -> None:
    """Both ways, each pair once, also where a chunk cites its own page."""
    store.write([graph("B", [("b", ["A", "B"])]), graph("A", [("a", [])], {"S": [("s", ["X"])]})])
    adjacency = store.adjacency()
    assert list(adjacency.chunks) == ["A#S#chunk-1", "A#chunk-1", "B#chunk-1"]
    assert list(adjacency.entities) == ["A", "B", "X"]
    assert adjacency.indptr.tolist() == [0, 2, 3, 5, 8, 9, 10]
    assert adjacency.indices.tolist() == [3, 5, 3, 3, 4, 0, 1, 2, 2, 0]
    assert (str(adjacency.indptr.dtype), str(adjacency.indices.dtype)) == ("int64", "int32")
    assert dict(adjacency.chunk_rows) == {"A#S#chunk-1": 0, "A#chunk-1": 1, "B#chunk-1": 2}
    assert adjacency.entity_rows["X"] == 2
    assert "Nix" not in adjacency.entity_rows


def test_names_of_pages_are_found_by_what_a_text_can_say(store: GraphStore) -> None:
    """Titles and aliases, with and without their parentheses; nothing that stands for no page."""
    store.write(
        [graph("Io (moon)", [("1", ["Io (cow)"])], aliases=["Jupiter I", "docs/io.md"]), graph("Mars")]
    )
    names = {
        ("Io (moon)", "Io (moon)"),
        ("Jupiter I", "Io (moon)"),
        ("docs/io.md", "Io (moon)"),
        ("Mars", "Mars"),
    }
    assert set(store.names()) == names
    for forms, wanted in (
        (["io", "venus"], {"Io (moon)"}),
        (["io moon", "docs io md"], {"Io (moon)", "docs/io.md"}),
        (["jupiter i", "mars", "mars"], {"Jupiter I", "Mars"}),
        (["io cow", ""], set()),
        ([], set()),
    ):
        found = set(store.names_like(forms))
        assert {name for name, _ in found} >= wanted and found <= names
    assert store.aliases() == ["Jupiter I", "docs/io.md"]


def test_pages_are_found_by_words_of_their_text_and_by_their_path(store: GraphStore) -> None:
    """Whatever the case, perhaps with others; those that wait for links are told apart."""
    first = replace(graph("One", [("Phobos and DEIMOS", [])]), path="docs/one.md", content_hash="a.")
    second = replace(graph("Two", [("A deimosaur", [])]), path="docs/two.md", content_hash="a.b")
    third = graph("Three", [("Ceres", [])])
    store.write([third, second, first])
    pages = store.find_pages(["One", "Two", "Three"])
    assert {page.uri for page in store.pages_with_words(["deimos phobos"])} >= {"One"}
    assert pages["One"] in store.pages_with_words(["ceres", "deimos"], mark=".")
    assert {page.uri for page in store.pages_with_words(["deimosaur", "phobos"], mark=".")} == {"One", "Two"}
    assert store.pages_with_words(["deimosaur"], mark=".b") == [pages["Two"]]
    assert store.pages_with_words(["deimos"], source="te", mark=".")[0] == pages["One"]
    assert store.pages_with_words(["deimos"], source="est") == []
    assert store.pages_with_words(["deimos"], mark="#") == store.pages_with_words([]) == []
    assert store.pages_at(["docs/two.md", "docs/one.md", "docs/two.md"]) == [pages["One"], pages["Two"]]
    assert store.pages_at(["", "two.md"]) == store.pages_at([]) == []
    assert store.unlinked_pages() == ["One"]


def test_pages_are_found_by_the_name_of_their_file(store: GraphStore) -> None:
    """In whatever folder or site; not by a part of the name."""
    sources = [
        "a.md",
        "/docs/a.md",
        "docs/b.md/",
        "https://x.org/a.md//",
        "aa.md",
        "a.md/c",
        "/",
        "",
        "records:a.md",
    ]
    store.write([graph(f"P{n}", [("text", [])], source=source) for n, source in enumerate(sources)])
    assert [page.source for page in store.pages_of_files(["a.md", "b.md", "a.md"])] == sources[:4]
    assert [page.uri for page in store.pages_of_files(["records:a.md", "c"])] == ["P5", "P8"]
    assert store.pages_of_files(["", ".md", "md", "docs/a.md", "/"]) == store.pages_of_files([]) == []


def test_pages_are_searched_by_the_beginning_of_their_source(store: GraphStore) -> None:
    """Whatever characters stand there."""
    sources = ["r", "r:", "r:a", "r:\U0010ffffb", "r;", "s:a", "\ud7ffx", "\ue000y"]
    store.write([graph(f"P{n}", [("word", [])], source=source) for n, source in enumerate(sources)])
    for prefix in ("r:", "r", "r:\U0010ffff", "\ud7ff", "\ue000", "", "t"):
        found = store.pages_with_words(["word"], source=prefix)
        assert [page.source for page in found] == [source for source in sources if source.startswith(prefix)]
