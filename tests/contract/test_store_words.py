"""Words: candidates, counts and corpus statistics."""

from __future__ import annotations

import pytest

from tests.contract.graphs import graph
from trivium.engine import Engine
from trivium.errors import NotEmbeddedError
from trivium.graph.protocols import GraphStore

PAGES = [
    graph("Mars", [("red planet red", []), ("nothing here", [])], {"Red moons": [("moon", [])]}),
    graph("Moon", [("it is grey", [])]),
]
UNKNOWN = "Mars#chunk-9"


@pytest.fixture
def filled(store: GraphStore) -> GraphStore:
    """Four chunks; "moon" is in the headings of two of them."""
    store.write(PAGES)
    return store


def test_counts_tell_text_and_headings_apart(filled: GraphStore) -> None:
    """Rows and columns in the order asked, and where in the texts; an unknown chunk has no terms."""
    counts = filled.term_counts(["Mars#Red moons#chunk-1", "Mars#chunk-1", UNKNOWN], ["red", "moon", "red"])
    assert counts.text.tolist() == [[0, 1, 0], [2, 0, 2], [0, 0, 0]]
    assert counts.headings.tolist() == [[1, 1, 1], [0, 0, 0], [0, 0, 0]]
    assert counts.text_length.tolist() == [1, 3, 0]
    assert counts.headings_length.tolist() == [3, 1, 0]
    assert counts.places.tolist() == [[0, 1, 0], [1, 0, 0], [1, 0, 2]]
    nothing = filled.term_counts([], ["red"])
    assert (nothing.text.shape, nothing.places.shape) == ((0, 1), (0, 3))


def test_a_term_that_no_chunk_has_is_counted_nowhere(filled: GraphStore) -> None:
    """Nor is it taken for the term that the store numbered first."""
    every = ["Mars#chunk-1", "Mars#chunk-2", "Mars#Red moons#chunk-1", "Moon#chunk-1"]
    counts = filled.term_counts(every, ["none", "red", "never"])
    assert counts.text[:, [0, 2]].sum() == counts.headings[:, [0, 2]].sum() == 0
    assert counts.text[:, 1].tolist() == [2, 0, 0, 0]
    assert counts.places[:, 1].tolist() == [1, 1]


def test_statistics_stay_exact_through_changes(filled: GraphStore) -> None:
    """A chunk counts once, in whichever of text and headings it has the term."""
    terms = ["red", "moon", "grey", "none"]
    before = filled.term_statistics(terms)
    assert (before.chunks, before.mean_length) == (4, (4 + 3 + 4 + 4) / 4)
    assert before.document_frequency.tolist() == [2, 2, 1, 0]
    filled.write([graph("Mars", [("grey", [])])])
    after = filled.term_statistics(terms)
    assert (after.chunks, after.mean_length) == (2, (2 + 4) / 2)
    assert after.document_frequency.tolist() == [0, 1, 2, 0]
    filled.delete(["Mars", "Moon"])
    empty = filled.term_statistics(terms)
    assert (empty.chunks, empty.mean_length) == (0, 0.0)
    assert empty.document_frequency.tolist() == [0, 0, 0, 0]


def test_words_finds_chunks_with_any_of_the_terms_best_first(filled: GraphStore) -> None:
    """Two occurrences beat one; headings count."""
    assert filled.keyword_search(["red"], 10) == ["Mars#chunk-1", "Mars#Red moons#chunk-1"]
    assert filled.keyword_search(["moon", "grey"], 10) == ["Moon#chunk-1", "Mars#Red moons#chunk-1"]
    assert filled.keyword_search(["red"], 1) == ["Mars#chunk-1"]
    assert filled.keyword_search(["none"], 10) == []
    assert filled.keyword_search([], 10) == []
    assert filled.keyword_search(["red"], 0) == []


def test_words_follows_writes_and_deletes(filled: GraphStore) -> None:
    """Each read sees the state before it."""
    filled.write([graph("Mars", [("grey", [])])])
    assert filled.keyword_search(["red"], 10) == []
    assert sorted(filled.keyword_search(["grey"], 10)) == ["Mars#chunk-1", "Moon#chunk-1"]
    filled.delete(["Moon"])
    assert filled.keyword_search(["grey"], 10) == ["Mars#chunk-1"]
    filled.delete(["Mars"])
    assert filled.keyword_search(["grey"], 10) == []


def test_terms_are_words_not_a_query_language(filled: GraphStore) -> None:
    """Operators and quotes mean nothing."""
    assert filled.keyword_search(['red" OR grey', "*", "terms:red", "red AND"], 10) == []


def test_words_are_searched_before_anything_is_embedded(store: GraphStore) -> None:
    """By the retriever ``lexical`` alone, also under a condition; the others say what to do."""
    pages = [graph(f"Page {n}", [(f"red planet {n}", [])], source=f"a/{n}.txt") for n in range(3)]
    store.write(pages)
    engine = Engine(store)
    assert {hit.page for hit in engine.search("a red planet", retrievers=["lexical"])} == {
        "Page 0",
        "Page 1",
        "Page 2",
    }
    (hit,) = engine.search("a red planet", retrievers=["lexical"], where="source = '1.txt'", explain=True)
    assert hit.page == "Page 1"
    for names in (None, ["vector"], ["lexical", "page"]):
        with pytest.raises(NotEmbeddedError, match="--retriever lexical"):
            engine.search("a red planet", retrievers=names)
