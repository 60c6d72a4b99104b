"""The answering step for LangChain, and live sources through both steps, asked by LangChain itself."""

from __future__ import annotations

import asyncio
import json
import pickle
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableLambda

from tests.fakes.chat_model import ScriptedModel
from tests.fakes.live_server import SEARXNG, Known, LiveServer, Reply, live_server
from tests.server.world import QUESTION, build_store
from tests.waiting import until
from trivium.engine import Engine
from trivium.errors import ChatModelError, ConfigurationError, InputError
from trivium.integrations.langchain import TriviumAnswerer, TriviumRetriever
from trivium.serialization import answer_json
from trivium.server.schemas import AskBody, SearchBody
from trivium.types import SourceOutcome, Turn

OF_TITAN = "Who discovered Titan, the largest moon of Saturn?"
FOLLOW_UP = "What did he find?"
TURN = Turn("Who was Asaph Hall?", "Asaph Hall was an American astronomer [1].")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine.open(build_store(tmp_path_factory.mktemp("answered"))) as engine:
        yield engine


@pytest.fixture
def answerer(engine: Engine) -> TriviumAnswerer:
    return TriviumAnswerer.from_engine(engine)


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveServer]:
    with live_server(
        Known("Titan", "Titan is the largest moon of Saturn. Christiaan Huygens discovered it.")
    ) as server:
        monkeypatch.setenv("TRIVIUM_SEARXNG_URL", f"{server.address}/searxng")
        monkeypatch.setenv("TRIVIUM_HOME", str(tmp_path / "home"))
        monkeypatch.setenv("TRIVIUM_LIVE_PAGES", "0")
        monkeypatch.setenv("TRIVIUM_LIVE_SECONDS", "20")
        yield server


def live_engine(engine: Engine) -> Engine:
    """With the settings of this test: an engine reads those of live sources once."""
    return Engine.open(engine.info().location)


def test_what_http_takes_the_steps_take() -> None:
    """But for what the guide lists, and the words of one question."""
    answers = {"question", "history", *TriviumAnswerer.model_fields}
    assert set(AskBody.model_fields) - answers == {"stream"}
    assert set(SearchBody.model_fields) - {"question", *TriviumRetriever.model_fields} == {
        "image",
        "recall_query",
    }


def test_an_answer_is_the_engines_with_every_field(engine: Engine, answerer: TriviumAnswerer) -> None:
    """Invoked, awaited, in a batch and in a chain; it goes through JSON."""
    expected = answer_json(engine.ask(QUESTION))
    assert answerer.invoke(QUESTION) == answerer.invoke({"question": QUESTION}) == expected
    assert asyncio.run(answerer.ainvoke(QUESTION)) == expected
    assert answerer.batch([QUESTION, QUESTION]) == [expected, expected]
    step = answerer | RunnableLambda(lambda answer: answer["outcome"])
    assert step.invoke(QUESTION) == expected["outcome"]
    assert json.loads(json.dumps(expected)) == expected and "Asaph Hall" in expected["answer"]


@pytest.mark.parametrize(
    "history",
    [
        [TURN],
        [{"question": TURN.question, "answer": TURN.answer}],
        [
            SystemMessage("Be brief."),
            HumanMessage("Hello?"),
            HumanMessage(TURN.question),
            AIMessage(TURN.answer),
        ],
    ],
    ids=["turns", "mappings", "messages"],
)
def test_a_history_is_turns_or_messages(
    engine: Engine, answerer: TriviumAnswerer, history: list[Any]
) -> None:
    expected = engine.ask(FOLLOW_UP, history=[TURN])
    answer = answerer.invoke({"question": FOLLOW_UP, "history": history})
    assert answer["searched_for"] == expected.searched_for != FOLLOW_UP
    assert answer["answer"] == expected.text
    as_it_is = answerer.invoke({"question": FOLLOW_UP, "history": history, "rewrite": False})
    assert as_it_is["searched_for"] == FOLLOW_UP


def test_one_question_may_be_asked_otherwise(engine: Engine) -> None:
    model = ScriptedModel("Asaph Hall found them [1].")
    answerer = TriviumAnswerer.from_engine(engine, k=2, model=model)
    assert answerer.invoke(QUESTION)["model"] == "scripted"
    assert len(answerer.invoke(QUESTION)["passages"]) == 2
    assert len(answerer.invoke({"question": QUESTION, "k": 1})["passages"]) == 1
    assert len(answerer.bind(k=1).invoke(QUESTION)["passages"]) == 1
    assert answerer.invoke({"question": QUESTION, "intent": "small_talk"})["passages"] == []
    assert answerer.invoke({"question": QUESTION, "where": "format = 'pdf'"})["passages"] == []


def test_a_chat_model_of_langchain_writes_the_answer(engine: Engine) -> None:
    """It gets the passages and the question, and its citations are checked like those of any model."""
    model = FakeListChatModel(responses=["Asaph Hall found them [1]. Nobody else did [9]."])
    answer = TriviumAnswerer.from_engine(engine, k=2, model=model).invoke(QUESTION)
    assert answer["model"] == "FakeListChatModel" and answer["answer"].startswith(
        "Asaph Hall found them [1]."
    )
    assert answer["citations"][0]["number"] == 1 and "[9]" not in answer["answer"]
    assert answer["usage"]["prompt_tokens"] > 0
    broken = FakeListChatModel(responses=["Never said."], error_on_chunk_number=0)
    with pytest.raises(ChatModelError, match="FakeListChatModel"):
        TriviumAnswerer.from_engine(engine, model=broken).invoke(QUESTION)


def test_none_is_the_name_of_no_model(engine: Engine) -> None:
    answer = TriviumAnswerer.from_engine(engine, model="none").invoke(QUESTION)
    assert answer == answer_json(engine.ask(QUESTION)) == answer_json(engine.ask(QUESTION, model="none"))


def test_what_makes_no_sense_is_said_in_words(answerer: TriviumAnswerer) -> None:
    for given, says in (
        ({"question": QUESTION, "stream": True}, "unknown option stream"),
        ({"history": []}, "expected a question"),
        ({"question": 7}, "as text"),
        (7, "a mapping with one, got int"),
        ({"question": QUESTION, "history": "before"}, "as a list, got str"),
        ({"question": QUESTION, "history": [{"question": "q"}]}, "got dict"),
        ({"question": QUESTION, "sources": ["bing"]}, "'bing'"),
    ):
        with pytest.raises(InputError, match=says):
            answerer.invoke(given)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="unknown option size: a call takes k, where"):
        TriviumRetriever(store=answerer.store).invoke(QUESTION, size=3)
    with pytest.raises(ConfigurationError, match="ANTHROPIC_API_KEY"):
        TriviumAnswerer(store=answerer.store, model="anthropic:claude").invoke(QUESTION)


def test_pickled_it_opens_the_store_where_it_is_used(answerer: TriviumAnswerer) -> None:
    with pickle.loads(pickle.dumps(answerer)) as other:
        assert other.handle is not answerer.handle
        assert other.invoke(QUESTION)["answer"] == answerer.invoke(QUESTION)["answer"]


def test_live_sources_are_asked_where_they_are_named(engine: Engine, web: LiveServer) -> None:
    """What is not of the collection names its address as source; what came of asking is told; failures cost nothing."""
    told: list[SourceOutcome] = []
    with live_engine(engine) as own:
        retriever = TriviumRetriever.from_engine(own, k=2, on_sources=told.extend)
        assert retriever.invoke(OF_TITAN)[0].metadata["live"] is None and web.sent == []
        first, second = retriever.invoke(OF_TITAN, sources=["web"])
        assert first.metadata["source"] == first.metadata["live"]["address"] == f"{web.address}/pages/titan"
        assert first.metadata["live"]["published"].startswith("2026-02-03")
        assert second.metadata["live"] is None and second.metadata["source"] == second.id
        assert [(one.name, one.found, one.error) for one in told] == [("searxng", 1, None)]
        answer = TriviumAnswerer.from_engine(own, sources=["web"]).invoke(OF_TITAN)
        assert [c["live"]["address"] for c in answer["citations"] if c["live"]] == [first.metadata["source"]]
        assert answer["sources"][0]["found"] == 1
        web.replies[SEARXNG] = Reply(b"busy", 503)
        failed = TriviumAnswerer.from_engine(own).invoke({"question": QUESTION, "sources": ["web"]})
        assert failed["sources"][0]["error"] == "it answers HTTP 503" and failed["passages"]


@pytest.mark.parametrize("step", [TriviumRetriever, TriviumAnswerer])
def test_cancelled_it_hangs_up_on_the_live_sources(
    engine: Engine, web: LiveServer, step: type[TriviumRetriever | TriviumAnswerer]
) -> None:
    web.replies[SEARXNG] = Reply(b"{}", pause=20.0)

    async def ask_and_leave(asked: TriviumRetriever | TriviumAnswerer) -> None:
        asking = asyncio.ensure_future(asked.ainvoke(OF_TITAN))
        await asyncio.to_thread(lambda: until(lambda: web.asked(SEARXNG)))
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    with live_engine(engine) as own:
        asyncio.run(ask_and_leave(step.from_engine(own, sources=["web"])))
        left = time.monotonic()
        until(lambda: web.hung_up == [SEARXNG])
        assert time.monotonic() - left < 1.5
