"""Searches of shards find what a search of one store with the same documents finds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.built_stores import EMBEDDER
from tests.search.test_second_stage import sample_store
from trivium.engine import Engine
from trivium.retrievers.names import RETRIEVERS
from trivium.types import Hit

QUESTIONS = (
    "Who found the moons of Mars?",
    "Which mission carried the lander that touched down on Titan?",
    "What is the largest volcano of the Solar System?",
    "ice below the surface of a moon",
)
ALL_WORDS = {"lexical.candidates": 10_000}
"""A shard proposes passages by its own statistics of words; here it proposes every one."""


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Engine]]:
    """The sample as one store, as one shard, and as three."""
    folder = tmp_path_factory.mktemp("shards")
    whole = sample_store(folder)
    Engine.create_shards(folder / "one", [whole])
    Engine.split(whole, folder / "three", 3)
    with ExitStack() as stack:
        yield {name: stack.enter_context(Engine.open(folder / name)) for name in ("sample", "one", "three")}


def told(hits: list[Hit]) -> list[tuple[object, ...]]:
    """What a search says of its hits."""
    return [(hit.uri, hit.score, hit.probability, hit.text, hit.provenance) for hit in hits]


@pytest.mark.parametrize("question", QUESTIONS)
def test_one_shard_is_the_store_bit_for_bit(engines: dict[str, Engine], question: str) -> None:
    """Every number of every hit, with its explanation."""
    for where in (None, "kind = paragraph"):
        found, expected = (
            engines[name].search(question, 10, explain=True, where=where) for name in ("one", "sample")
        )
        assert found == expected


@pytest.mark.parametrize("question", QUESTIONS)
def test_three_shards_give_the_hits_of_the_store(engines: dict[str, Engine], question: str) -> None:
    """In all retrievers together: the same passages, scores, and ways that led there, and the same explanation."""
    hits = {
        name: engine.search(question, 10, explain=True, settings=ALL_WORDS)
        for name, engine in engines.items()
    }
    assert told(hits["three"]) == told(hits["sample"])
    for found, expected in zip(hits["three"], hits["sample"], strict=True):
        assert found.contributions == pytest.approx(expected.contributions, abs=1e-5)


@pytest.mark.parametrize("retriever", RETRIEVERS)
def test_each_retriever_gives_the_same_candidates_and_scores(
    engines: dict[str, Engine], retriever: str
) -> None:
    """Vectors and words, sections, entities and paths, and walks from one shard to another; under a condition, too."""
    for question in QUESTIONS:
        for where in (None, "kind = paragraph"):
            found, expected = (
                engines[name].search(question, 30, [retriever], where=where, settings=ALL_WORDS)
                for name in ("three", "sample")
            )
            assert told(found) == told(expected), (question, where)


def test_tables_of_raw_scores_are_equal(engines: dict[str, Engine]) -> None:
    """So that one standardisation and one fusion see what they see in one store."""
    for question in QUESTIONS:
        tables = []
        for name in ("three", "sample"):
            searcher = engines[name].searcher
            query, retrievers = searcher.query(question), searcher.retrievers.choose(None, ALL_WORDS)
            tables.append(searcher.table(query, retrievers, signals=True))
        found, expected = tables
        assert found.chunks == expected.chunks
        assert found.raw == pytest.approx(expected.raw, rel=1e-12, nan_ok=True)
        assert (found.ranks == expected.ranks).all()
        for name, values in expected.signals.items():
            assert found.signals[name] == pytest.approx(values, rel=1e-12, abs=1e-12, nan_ok=True), name


def test_what_a_condition_cannot_find_is_explained(engines: dict[str, Engine]) -> None:
    """A name that one shard knows is not called unknown because another one does not."""
    for where in ("kind = paragraph and kind = table", "title = 'Mras'", "planet = 'Mars'"):
        hints = {name: engine.hints(where) for name, engine in engines.items()}
        assert hints["three"][0] == hints["sample"][0]
        assert len(hints["three"]) == len(hints["sample"]), where


def test_answers_and_measures_come_from_all_shards(engines: dict[str, Engine]) -> None:
    """The doors above a search need not know of shards."""
    answers = [engines[name].ask(QUESTIONS[0]) for name in ("three", "sample")]
    assert answers[0].text == answers[1].text
    assert answers[0].citations == answers[1].citations
    assert engines["three"].pages() == engines["sample"].pages()
    assert engines["three"].embedder.identity == engines["sample"].embedder.identity
    assert engines["three"].embedder.identity.name == EMBEDDER
