"""A live page is seen as if it were in the collection, as far as it has no links."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.live.world import document, found
from trivium.engine import Engine
from trivium.graph.filter_language import parse
from trivium.graph.protocols import SearchStore
from trivium.graph.schema import Hop, Label
from trivium.live.extended_store import live_view, origins
from trivium.live.found_chunks import TextVectors
from trivium.live.source import LivePassage
from trivium.retrievers.signals import SignalSettings, signals
from trivium.testing.toys import TOY_RECORDS, HashEmbedder

QUESTION = "Who discovered the moons of Saturn?"
TITAN = (
    "Titan is the largest moon of Saturn. Christiaan Huygens discovered it in 1655. It has lakes of methane."
)
TITAN_URI = "Titan (example.org)#chunk-1"


def build(folder: Path, *records: tuple[str, str]) -> Engine:
    folder.mkdir()
    source = folder / "records.jsonl"
    source.write_text(
        "\n".join(json.dumps({"title": t, "text": text}) for t, text in (*TOY_RECORDS, *records))
    )
    engine = Engine.create(folder / "store", embedder=HashEmbedder())
    engine.build([source], workers=1)
    return engine


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with build(tmp_path_factory.mktemp("live") / "without") as engine:
        yield engine


@pytest.fixture(scope="module")
def holding(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with build(tmp_path_factory.mktemp("live") / "holding", ("Titan", TITAN)) as engine:
        yield engine


def view_of(engine: Engine, *documents: object) -> SearchStore:
    return live_view(engine.store, found(*documents), QUESTION, engine.embedder, TextVectors())  # type: ignore[arg-type]


def test_every_number_is_that_of_the_same_page_in_the_collection(without: Engine, holding: Engine) -> None:
    view = view_of(without, document("Titan", TITAN))
    live, stored = without.searcher.query(QUESTION, store=view), holding.searcher.query(QUESTION)
    mixed, same = (
        ["Phobos#chunk-1", TITAN_URI, "Mars#chunk-1"],
        ["Phobos#chunk-1", "Titan#chunk-1", "Mars#chunk-1"],
    )
    ours, theirs = live.similarities(mixed), stored.similarities(same)
    for name in ("chunk", "section", "page"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    assert np.isnan(ours.entity[1])
    np.testing.assert_array_equal(live.closeness(mixed), stored.closeness(same))
    counts, expected = live.term_counts(mixed), stored.term_counts(same)
    for name in ("text", "headings", "text_length", "headings_length", "places"):
        np.testing.assert_array_equal(getattr(counts, name), getattr(expected, name))
    assert [near.score for near in live.nearest(Label.CHUNK, 10)] == [
        near.score for near in stored.nearest(Label.CHUNK, 10)
    ]
    for hop, label in ((Hop.BELOW, Label.PAGE), (Hop.CHILD, Label.SUBCHAPTER)):
        reached = [
            [
                (chunk.uri.replace(" (example.org)", ""), chunk.score, chunk.cosine)
                for chunk in store.expand_nearest([Label.PAGE, label], live.vector, 3, hop, 10)
            ]
            for store in (view, holding.store)
        ]
        assert reached[0] == reached[1]
    assert view.fetch([TITAN_URI, "Mars#chunk-1"])[0].text == holding.store.fetch(["Titan#chunk-1"])[0].text


def test_signals_of_words_are_those_of_the_collection_and_links_say_nothing(without: Engine) -> None:
    view = view_of(without, document("Titan", TITAN))
    query = without.searcher.query(QUESTION, store=view)
    columns, _ = signals(query, [TITAN_URI, "Mars#chunk-1"], SignalSettings())
    assert columns["coverage"][0] > 0 and columns["bm25_text"][0] > 0
    assert np.isnan(columns["walk_sharp"][0]) and np.isnan(columns["in_degree"][0])
    assert not np.isnan(columns["walk_sharp"][1])


def test_a_document_that_is_there_already_is_left_out(tmp_path: Path, holding: Engine) -> None:
    same_text = document("Titan | Example", TITAN)
    assert view_of(holding, same_text) is holding.store
    other = document("Titan", "Titan has an atmosphere of nitrogen.")
    assert list(origins(view_of(holding, same_text, other))) == ["Titan (example.org)#chunk-1"]
    page = tmp_path / "titan.html"
    page.write_text("<title>Dione</title><h1>Dione</h1><p>Dione is a moon.</p>")
    with build(tmp_path / "of") as engine:
        engine.build([page], workers=1)
        at_home = engine.store.fetch(["Dione#chunk-1"])[0].document
        known = document("Dione", "A snippet about Dione.", names=(at_home,))
        assert view_of(engine, known) is engine.store


def test_two_documents_of_one_title_keep_apart(without: Engine) -> None:
    first = document("Io", "Io has volcanoes.")
    second = document("Io", "Io is a moon of Jupiter.", "https://www.example.org/other")
    third = document("Io", "Io is orange.", "https://else.example/io")
    assert sorted(origins(view_of(without, first, second, third))) == [
        "Io (else.example)#chunk-1",
        "Io (example.org) 2#chunk-1",
        "Io (example.org)#chunk-1",
    ]


def test_passages_of_a_page_keep_their_headings_and_places(without: Engine) -> None:
    passages = (
        LivePassage((), "First."),
        LivePassage(("Moons", "Inner#ones"), "Second."),
        LivePassage(("Moons",), "Third."),
    )
    view = view_of(without, document("Jupiter", "a snippet", passages=passages))
    records = view.fetch(sorted(origins(view)))
    page = "\n\n".join(passage.text for passage in passages)
    assert [(record.uri, page[record.start : record.end]) for record in records] == [
        ("Jupiter (example.org)#Moons#Inner%23ones#chunk-1", "Second."),
        ("Jupiter (example.org)#Moons#chunk-1", "Third."),
        ("Jupiter (example.org)#chunk-1", "First."),
    ]


def test_long_texts_are_cut_unless_they_are_to_stay_whole(without: Engine) -> None:
    text = "A sentence about craters and their rims. " * 200
    cut, whole = document("Craters", text), document("Rims", text + "End.", whole=True)
    kept = origins(view_of(without, cut, whole))
    assert len([uri for uri in kept if uri.startswith("Craters")]) > 1
    assert [uri for uri in kept if uri.startswith("Rims")] == ["Rims (example.org)#chunk-1"]


def test_conditions_hold_for_what_is_live_too(without: Engine) -> None:
    new = document("Titan", TITAN, published="2026-02-03T00:00:00")
    old = document("Rhea", "Rhea is a moon of Saturn, discovered by Cassini.", published="1999-01-01")
    kept: dict[str, set[str]] = {}
    for where in (
        "modified >= 2020",
        "source = 'https://www.example.org/*'",
        "title = 'Phobos'",
        "format = 'web'",
    ):
        limited = view_of(without, new, old).within(parse(where))
        query = without.searcher.query(QUESTION, store=limited)
        kept[where] = {near.uri for near in query.nearest(Label.CHUNK, 10)}
    titan, rhea = TITAN_URI, "Rhea (example.org)#chunk-1"
    assert kept["modified >= 2020"] == {titan}
    assert kept["source = 'https://www.example.org/*'"] == kept["format = 'web'"] == {titan, rhea}
    assert kept["title = 'Phobos'"] == {"Phobos#chunk-1"}


def test_what_has_nothing_to_do_with_it_is_the_stores_own_answer(without: Engine) -> None:
    view = view_of(without, document("Titan", TITAN))
    assert view.page_text("Mars") == without.store.page_text("Mars")
    assert view.cited([TITAN_URI, "Mars#chunk-1"])[TITAN_URI] == []
    assert view.thumbnails([TITAN_URI]) == {}
    assert view.embedder == without.store.embedder
