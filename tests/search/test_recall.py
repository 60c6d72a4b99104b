"""A second query gathers candidates beside a question, which ranks them; a language model writes both for a follow-up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.openai_server import OpenAIServer, streamed
from tests.live.world import Scripted, document
from trivium.engine import Engine
from trivium.errors import InputError
from trivium.llm.registry import open_chat_model
from trivium.retrievers.registry import RETRIEVERS
from trivium.settings.settings import Settings
from trivium.testing.toys import HashEmbedder
from trivium.types import Turn

GOLD = "Node pools#chunk-1"
WORDS = ["cluster", "price", "hour", "meal", "room", "canteen", "Elastic", "Service", "billed", "EKS"]
TALK = [Turn("What is EKS?", "It runs containers, and the Elastic Kubernetes Service is its whole name.")]
LITERAL, MATCH = "And how is it billed?", "How is EKS billed?"
RECALL = "EKS Elastic Kubernetes Service price per hour"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One passage that answers in other words than those of the question, and forty about meals."""
    folder = tmp_path_factory.mktemp("recall")
    rows = [
        {"title": f"Menu {n}", "text": f"Meal {n} of the canteen, room {n % 5}: soup and bread."}
        for n in range(40)
    ]
    rows.append(
        {"title": "Node pools", "text": "The price of the Elastic Kubernetes Service is due by the hour."}
    )
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with Engine.create(folder / "store", HashEmbedder()) as engine:
        engine.build([folder / "rows.jsonl"], workers=1)
    return folder


@pytest.fixture(scope="module")
def source() -> Scripted:
    return Scripted([document("Prices", "The service is due by the hour.")], name="web-of-tests")


@pytest.fixture(scope="module")
def engine(folder: Path, source: Scripted, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIVIUM_HOME", str(tmp_path_factory.mktemp("home")))
        with Engine.open(folder / "store", HashEmbedder(), live=[source]) as engine:
            yield engine


def uris(engine: Engine, question: str, k: int = 5, **options: object) -> list[str]:
    return [hit.uri for hit in engine.search(question, k, **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("retrievers", "fusion"), [(["lexical"], None), (["lexical"], "rrf"), (["lexical", "path"], "convex")]
)
def test_what_a_question_does_not_find_its_recall_query_does(
    engine: Engine, retrievers: list[str], fusion: str | None
) -> None:
    asked = {"retrievers": retrievers, "fusion": fusion}
    assert GOLD not in uris(engine, LITERAL, **asked) + uris(engine, MATCH, **asked)
    assert uris(engine, MATCH, recall=RECALL, **asked)[0] == GOLD


def test_a_follow_up_that_literal_search_misses_is_found_by_the_queries_of_a_model(engine: Engine) -> None:
    """One request for both, by a schema; the answer is written for the match query, and cites what the recall query
    brought. Undone, it is missed."""
    with OpenAIServer() as server:
        server.script.append(streamed(json.dumps({"match_query": MATCH, "search_query": RECALL})))
        server.script.append(streamed("The price of the Elastic Kubernetes Service is due by the hour [1]."))
        model = open_chat_model(
            "openai:tiny", Settings(chat_base_url=server.base_url, chat_api_key="sk-secret")
        )
        found = engine.ask(LITERAL, history=TALK, model=model, retrievers=["lexical"], intent="collection")
        rewriting, writing = (request.body for request in server.requests)
    assert (found.searched_for, found.recall_query) == (MATCH, RECALL)
    assert [citation.uri for citation in found.citations] == [GOLD]
    assert "search_query" in json.dumps(rewriting["response_format"])
    assert MATCH in writing["messages"][-1]["content"] and RECALL not in json.dumps(writing)
    literal = engine.ask(LITERAL, history=TALK, retrievers=["lexical"], rewrite=False, intent="collection")
    assert (literal.searched_for, literal.recall_query, literal.passages) == (LITERAL, None, ())


def test_terms_of_the_settings_find_without_a_model(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not where the rewriting is undone."""
    monkeypatch.setenv("TRIVIUM_CONVERSATION", '{"terms": ["EKS: Elastic Kubernetes Service"]}')
    with Engine.open(folder / "store", HashEmbedder()) as engine:
        found = engine.ask(MATCH, retrievers=["lexical"], intent="collection")
        literal = engine.ask(MATCH, retrievers=["lexical"], intent="collection", rewrite=False)
    assert found.searched_for == "How is EKS (Elastic Kubernetes Service) billed?"
    assert [hit.uri for hit in found.passages] == [GOLD] and literal.passages == ()


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
    st.sampled_from([*RETRIEVERS, None]),
)
def test_k_changes_neither_score_nor_order_and_the_same_query_twice_changes_nothing(
    engine: Engine, match: str, recall: str, name: str | None
) -> None:
    """With a recall query as without; and what the question finds by itself alone keeps its score."""
    names = None if name is None else [name]
    long = engine.search(match, 30, names, recall=recall)
    if name is None:
        assert engine.search(match, 5, recall=recall) == long[:5]
    else:
        alone = {hit.uri: hit.score for hit in engine.search(match, 30, names)}
        assert list(alone.items()) == [(hit.uri, hit.score) for hit in long[: len(alone)]]
    assert [hit.score for hit in long] == sorted((hit.score for hit in long), reverse=True)
    assert engine.search(match, 30, names, recall=match) == engine.search(match, 30, names)


def test_live_sources_are_asked_the_recall_query_and_ranked_by_the_question(
    engine: Engine, source: Scripted
) -> None:
    hits = engine.search(MATCH, 50, recall=RECALL, sources=["web-of-tests"])
    assert source.asked[-1] == RECALL and any(hit.live is not None for hit in hits)


@pytest.mark.parametrize("recall", ["", " ", 7, "x" * 30_000])
def test_a_recall_query_is_checked_like_a_question(engine: Engine, recall: object) -> None:
    with pytest.raises(InputError, match=r"question|expected recall as text, got int"):
        engine.search(MATCH, recall=recall)  # type: ignore[arg-type]
