"""vector, page, section, entity and lexical return what their view says, ranked, with what led there."""

from __future__ import annotations

import numpy as np
import pytest

from tests.fakes.memory_store import MemoryStore
from tests.retrievers.world import QUESTION, SOLAR, ask, page, store_of
from trivium.errors import ConfigurationError, InputError
from trivium.graph.build_page_graph import build
from trivium.graph.records import Floats
from trivium.graph.schema import Label
from trivium.retrievers.lexical import LexicalRetriever, LexicalSettings
from trivium.retrievers.query import Candidate, Query, best_in_order, best_rows, ranked
from trivium.retrievers.vector_retrievers import (
    EntityRetriever,
    EntitySettings,
    PageRetriever,
    PageSettings,
    SectionRetriever,
    SectionSettings,
    VectorRetriever,
    VectorSettings,
)


def uris(candidates: list[Candidate]) -> list[str]:
    return [candidate.uri for candidate in candidates]


def scores(candidates: list[Candidate]) -> list[float]:
    return [round(candidate.score, 5) for candidate in candidates]


def test_vector_is_nearest_chunks_first() -> None:
    store = store_of(SOLAR, {"Mars#Moons#chunk-2": 0.9, "Earth#chunk-1": 0.95, "Phobos#chunk-1": 0.5})
    found = VectorRetriever().retrieve(ask(store), 3)
    assert uris(found) == ["Earth#chunk-1", "Mars#Moons#chunk-2", "Phobos#chunk-1"]
    assert scores(found) == [0.95, 0.9, 0.5]
    assert VectorRetriever().score(ask(store), ["Phobos#chunk-1"]).round(5).tolist() == [0.5]


def test_vector_returns_its_own_count_unless_asked_for_a_depth() -> None:
    store = store_of([page("P", lead=[(f"text {i}", []) for i in range(15)])], {})
    assert len(VectorRetriever().retrieve(ask(store))) == 10
    assert len(VectorRetriever(VectorSettings(chunks=2)).retrieve(ask(store))) == 2
    assert len(VectorRetriever().retrieve(ask(store), 12)) == 12


def test_page_returns_all_chunks_below_the_nearest_pages() -> None:
    """Mars (0.8) before Phobos (0.6); within Mars by own cosine, then by position."""
    store = store_of(SOLAR, {"Mars": 0.8, "Phobos": 0.6, "Earth": 0.1, "Mars#Missions#chunk-1": 0.3})
    found = PageRetriever(PageSettings(pages=2)).retrieve(ask(store))
    assert uris(found) == [
        "Mars#Missions#chunk-1",
        "Mars#chunk-1",
        "Mars#Moons#chunk-1",
        "Mars#Moons#chunk-2",
        "Phobos#chunk-1",
    ]
    assert scores(found) == [0.8, 0.8, 0.8, 0.8, 0.6]
    assert {candidate.source_node for candidate in found[:4]} == {"Mars"}
    assert uris(PageRetriever(PageSettings(pages=2)).retrieve(ask(store), 2)) == uris(found)[:2]


def test_page_scores_any_chunk_by_its_page() -> None:
    store = store_of(SOLAR, {"Mars": 0.8, "Earth": 0.1})
    got = PageRetriever().score(ask(store), ["Earth#Life#chunk-1", "Mars#Moons#chunk-1"])
    assert got.round(5).tolist() == [0.1, 0.8]


def test_section_returns_direct_children_of_the_nearest_sections_and_leads() -> None:
    """Nearest are the section Moons and the page Earth, whose direct chunk is its lead, not Life."""
    store = store_of(SOLAR, {"Mars#Moons": 0.9, "Earth": 0.7, "Mars": 0.2})
    found = SectionRetriever(SectionSettings(sections=2)).retrieve(ask(store))
    assert uris(found) == ["Mars#Moons#chunk-1", "Mars#Moons#chunk-2", "Earth#chunk-1"]
    assert [candidate.source_node for candidate in found] == ["Mars#Moons", "Mars#Moons", "Earth"]
    got = SectionRetriever().score(ask(store), ["Mars#chunk-1", "Mars#Moons#chunk-2"])
    assert got.round(5).tolist() == [0.2, 0.9]


def test_entity_returns_chunks_citing_the_nearest_entities_with_the_best_of_them() -> None:
    """The chunk that cites Phobos (0.9) and Deimos (0.95) goes with Deimos; ties go by position."""
    store = store_of(SOLAR, {"Phobos": 0.9, "Deimos": 0.95, "Asaph Hall": 0.7})
    found = EntityRetriever(EntitySettings(entities=3)).retrieve(ask(store))
    assert uris(found) == ["Mars#Moons#chunk-1", "Phobos#chunk-1", "Mars#Moons#chunk-2"]
    assert [candidate.source_node for candidate in found] == ["Deimos", "Asaph Hall", "Asaph Hall"]


def test_entity_has_no_score_for_a_chunk_without_citations() -> None:
    store = store_of(SOLAR, {"Phobos": 0.9, "Deimos": 0.95})
    got = EntityRetriever().score(ask(store), ["Mars#Moons#chunk-1", "Earth#Life#chunk-1"])
    assert got.round(5)[0] == 0.95 and np.isnan(got[1])


def test_views_over_the_same_chunks_ask_for_similarities_once(monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_of(SOLAR, {})
    calls: list[int] = []
    original = store.similarities
    monkeypatch.setattr(store, "similarities", lambda v, c: calls.append(1) or original(v, c))
    query = ask(store)
    chunks = ["Mars#chunk-1", "Earth#chunk-1"]
    for retriever in (VectorRetriever(), PageRetriever(), SectionRetriever(), EntityRetriever()):
        retriever.score(query, chunks)
    assert calls == [1]


def test_nearest_nodes_are_asked_for_once_a_label(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the store has fewer than were asked for."""
    store = store_of(SOLAR, {})
    calls: list[int] = []
    original = store.nearest
    monkeypatch.setattr(store, "nearest", lambda *a, **k: calls.append(a[2]) or original(*a, **k))
    query = ask(store)
    for k in (3, 20, 2, 50):
        assert len(query.nearest(Label.CHUNK, k)) == min(k, 7)
    assert calls == [50]
    query.nearest(Label.CHUNK, 150)
    assert calls == [50, 150]


def test_lexical_finds_words_of_text_and_headings() -> None:
    """The word "moons" is stemmed; the section called Moons counts as the text that says moon."""
    found = LexicalRetriever().retrieve(ask(store_of(SOLAR, {}), "the moon"))
    assert set(uris(found)) == {"Mars#Moons#chunk-1", "Mars#Moons#chunk-2", "Earth#chunk-1"}
    assert uris(found)[0] == "Mars#Moons#chunk-1"  # twice: heading and text
    assert scores(found) == sorted(scores(found), reverse=True)


def test_lexical_scores_agree_with_its_list_and_are_zero_without_a_match() -> None:
    query = ask(store_of(SOLAR, {}), "Viking landed")
    found = LexicalRetriever().retrieve(query)
    chunks = [*uris(found), "Earth#Life#chunk-1"]
    assert LexicalRetriever().score(query, chunks).tolist() == [*(c.score for c in found), 0.0]
    assert uris(found) == ["Mars#Missions#chunk-1"]


def test_lexical_is_cut_to_its_count_or_the_depth() -> None:
    store = store_of([page("P", lead=[("moon " * (i + 1), []) for i in range(14)])], {})
    assert len(LexicalRetriever().retrieve(ask(store, "moon"))) == 10
    assert len(LexicalRetriever(LexicalSettings(chunks=3)).retrieve(ask(store, "moon"))) == 3
    assert len(LexicalRetriever().retrieve(ask(store, "moon"), 12)) == 12


def test_a_question_without_words_matches_nothing() -> None:
    query = ask(store_of(SOLAR, {}), "?!")
    assert LexicalRetriever().retrieve(query) == []
    assert LexicalRetriever().score(query, ["Mars#chunk-1"]).tolist() == [0.0]


def test_a_store_without_embeddings_answers_with_nothing() -> None:
    store = MemoryStore()
    store.write([build(each) for each in SOLAR])
    for retriever in (VectorRetriever(), PageRetriever(), SectionRetriever(), EntityRetriever()):
        assert retriever.retrieve(ask(store)) == []


def test_ties_go_by_uri_and_scores_that_differ_in_the_last_bit_tie() -> None:
    candidates = [Candidate("b", 0.1 + 0.2), Candidate("a", 0.3), Candidate("c", 0.9)]
    assert uris(ranked(candidates, None)) == ["c", "a", "b"]
    assert uris(ranked(candidates, 1)) == ["c"]


def test_best_rows_is_sorting_everything() -> None:
    """Against the plain definition, with many ties on the cut."""
    rng = np.random.default_rng(11)
    for size in (1, 5, 40):
        values: Floats = rng.integers(-3, 4, size) / 3 + rng.integers(0, 2, size) * 1e-9
        names = [f"u{i:02d}" for i in rng.permutation(size)]
        wanted = [
            names.index(c.uri)
            for c in ranked([Candidate(n, float(v)) for n, v in zip(names, values, strict=True)], None)
        ]
        for k in (0, 1, 3, size, size + 5):
            assert best_rows(values, names, k) == wanted[:k]
            in_order = np.argsort(names)
            assert [int(in_order[row]) for row in best_in_order(values[in_order], k)] == wanted[:k]


@pytest.mark.parametrize(
    "make",
    [
        lambda: VectorSettings(chunks=0),
        lambda: PageSettings(pages=0),
        lambda: SectionSettings(sections=-1),
        lambda: EntitySettings(entities=0),
        lambda: LexicalSettings(candidates=0),
    ],
)
def test_counts_below_one_are_refused(make) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ConfigurationError, match="at least 1"):
        make()


def test_a_depth_below_one_is_refused() -> None:
    query = ask(store_of(SOLAR, {}), "moon")
    for retriever in (VectorRetriever(), PageRetriever(), LexicalRetriever()):
        with pytest.raises(InputError, match="depth"):
            retriever.retrieve(query, 0)


def test_a_query_vector_has_one_dimension() -> None:
    with pytest.raises(InputError, match="1-D"):
        Query("?", QUESTION[np.newaxis], store_of(SOLAR, {}))
