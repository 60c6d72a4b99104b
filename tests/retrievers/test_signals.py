"""What else is known of candidates: by hand on a small graph."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.fakes.memory_store import MemoryStore
from tests.retrievers.world import SOLAR, ask, store_of
from trivium.fusion.score_table import Table
from trivium.graph.schema import page_of
from trivium.retrievers.lexical import idf
from trivium.retrievers.registry import RETRIEVERS, make_retrievers
from trivium.retrievers.signals import OWNERS, Signals, SignalSettings, signals
from trivium.search.candidates import gather

COSINES = {"Mars#Moons#chunk-2": 0.75, "Phobos#chunk-1": 0.85, "Earth#chunk-1": 0.3}
CHUNKS = ["Earth#chunk-1", "Mars#Moons#chunk-1", "Mars#Moons#chunk-2", "Phobos#chunk-1"]
TEXT = "Who found Phobos?"
NAN = math.nan


@pytest.fixture(scope="module")
def store() -> MemoryStore:
    return store_of(SOLAR, COSINES)


@pytest.fixture(scope="module")
def found(store: MemoryStore) -> Signals:
    return signals(ask(store, TEXT), CHUNKS, SignalSettings())[0]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("page_named", [0, 0, 0, 1]),
        ("cites_named", [0, 1, 0, 0]),
        ("from_named", [0, 1, 1, 1]),  # Phobos links to Mars, and belongs to itself
        ("out_degree", [math.log(2), math.log(3), math.log(2), math.log(3)]),
        ("in_degree", [math.log(3), math.log(6), math.log(6), math.log(3)]),
        ("linking", [NAN, 0.85, 0.85, 0.0]),  # Phobos#chunk-1 cites Mars, Mars#Moons#chunk-1 cites Phobos
        ("linked", [NAN, 0.85, NAN, 0.75]),
        ("links", [0, 2, 1, 3]),
        ("sharing", [NAN, NAN, 0.85, 0.75]),  # Asaph Hall, whom the question does not name
        ("sharing_rarity", [0, 0, 0.85 / math.sqrt(2), 0.75 / math.sqrt(2)]),
        ("page_best", [NAN, 0.75, 0.0, NAN]),
        ("page_candidates", [math.log(2), math.log(3), math.log(3), math.log(2)]),
        ("before", [NAN, NAN, 0.0, NAN]),
        ("after", [NAN, 0.75, NAN, NAN]),
        ("position", [0, 0, math.log(2), 0]),
        ("depth", [0, 1, 1, 0]),
    ],
)
def test_links_and_places_by_hand(found: Signals, name: str, expected: list[float]) -> None:
    np.testing.assert_allclose(found[name], expected, atol=1e-6)


def test_names_without_a_page_are_no_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where names in texts are entities, what has no page does not count as cited: Moon, Deimos and Asaph Hall."""
    store = store_of(SOLAR, COSINES)
    links = replace(store.adjacency(), names=True)
    monkeypatch.setattr(store, "adjacency", lambda: links)
    found = signals(ask(store, "Did Asaph Hall see Phobos?"), CHUNKS, SignalSettings())[0]
    assert found["out_degree"].tolist() == pytest.approx([0, math.log(2), 0, math.log(2)])
    assert found["cites_named"].tolist() == [0, 1, 0, 0]


def test_coverage_is_the_share_of_what_is_asked_by_rarity(store: MemoryStore, found: Signals) -> None:
    """Words of headings count as the chunk's, and apart."""
    rarity = dict(zip(["found", "phobo"], idf(store.term_statistics(["found", "phobo"])), strict=True))
    total = sum(rarity.values())
    in_text: list[list[str]] = [[], [], ["found"], ["phobo"]]
    in_headings: list[list[str]] = [[], [], [], ["phobo"]]
    for name, per_chunk in (
        ("text_coverage", in_text),
        ("heading_coverage", in_headings),
        ("coverage", [sorted({*a, *b}) for a, b in zip(in_text, in_headings, strict=True)]),
    ):
        expected = [sum(rarity[term] for term in terms) / total for terms in per_chunk]
        np.testing.assert_allclose(found[name], expected)


def test_linked_candidates_are_judged_together(store: MemoryStore, found: Signals) -> None:
    """Phobos#chunk-1 has the one word and links to Mars#Moons#chunk-2, which has the other."""
    one, other = idf(store.term_statistics(["found", "phobo"]))
    first, second = one / (one + other), other / (one + other)
    for name, expected in (
        ("union", [NAN, second, 1, 1]),
        ("union_gain", [NAN, second, 1 - first, 1 - second]),
        ("linking_coverage", [NAN, second, second, 0]),
        ("linked_coverage", [NAN, second, NAN, first]),
        ("linked_union", [NAN, second, NAN, 1]),
        ("sharing_union", [NAN, NAN, 1, 1]),
        ("sharing_gain", [NAN, NAN, 1 - first, 1 - second]),
        ("sharing_coverage", [NAN, NAN, second, first]),
    ):
        np.testing.assert_allclose(found[name], expected, atol=1e-9)
    words = make_retrievers()["lexical"].score(ask(store, TEXT), CHUNKS)
    assert found["linked_lexical"][3] == pytest.approx(max(words[1:3]))


def test_what_the_question_names_or_very_many_passages_have_joins_none(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asaph Hall is the only entity that candidates of two pages cite."""
    asked = signals(ask(store, "Did Asaph Hall see Phobos?"), CHUNKS, SignalSettings())[0]
    assert np.isnan(asked["sharing"]).all()
    monkeypatch.setattr("trivium.retrievers.link_signals.MOST_SHARING", 1)
    common = signals(ask(store, TEXT), CHUNKS, SignalSettings())[0]
    assert np.isnan(common["sharing"]).all() and not common["sharing_rarity"].any()


def test_a_walk_from_what_is_named_stays_near_it(found: Signals) -> None:
    """The Earth has nothing to do with Phobos here."""
    best = {CHUNKS[row] for row in np.argsort(found["walk_named"])[-2:]}
    assert best == {"Mars#Moons#chunk-1", "Phobos#chunk-1"}
    assert found["walk_named"][CHUNKS.index("Earth#chunk-1")] == 0


def test_numbers_of_the_question(store: MemoryStore) -> None:
    """Its form, and what it names."""
    numbers = signals(ask(store, TEXT), CHUNKS, SignalSettings())[1]
    assert (numbers["terms"], numbers["words"], numbers["named"], numbers["asks"]) == (2, 3, 1, 1)
    assert (numbers["capitals"], numbers["mark"]) == (1, 1)
    typed = signals(ask(store, "who found phobos"), CHUNKS, SignalSettings())[1]
    assert (typed["capitals"], typed["mark"], typed["asks"]) == (0, 0, 1)
    keywords = signals(ask(store, "moon Phobos"), CHUNKS, SignalSettings())[1]
    assert (keywords["terms"], keywords["words"], keywords["asks"]) == (2, 2, 0)
    assert numbers["corpus"] == pytest.approx(math.log1p(len(store.chunk_uris())))


def test_a_question_without_words_has_signals_too(store: MemoryStore) -> None:
    """Nothing covers anything."""
    more, numbers = signals(ask(store, "?!"), CHUNKS, SignalSettings())
    assert more["coverage"].tolist() == [0, 0, 0, 0]
    assert numbers["rarest"] == numbers["rarity"] == 0


def test_chunks_the_store_does_not_know_are_no_error(store: MemoryStore) -> None:
    """One that was removed since it was found."""
    more, _ = signals(ask(store, TEXT), ["Gone#chunk-1", "Phobos#chunk-1"], SignalSettings())
    assert all(values.shape == (2,) for values in more.values())
    assert np.isnan(more["in_degree"][0])


def test_the_table_has_them_where_asked(store: MemoryStore) -> None:
    """Each belongs to a retriever."""
    retrievers = make_retrievers()
    plain: Table = gather(ask(store, TEXT), retrievers)
    full = gather(ask(store, TEXT), retrievers, signals=SignalSettings())
    assert (plain.signals, plain.question) == ({}, {})
    assert set(full.signals) == set(OWNERS)
    assert set(OWNERS.values()) <= set(RETRIEVERS)
    assert plain.chunks == full.chunks
    assert len({page_of(uri) for uri in full.chunks}) >= 2
