"""The retriever as LangChain uses it: invoked, awaited, in batches, in chains, configured, pickled, closed."""

from __future__ import annotations

import asyncio
import copy
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_core.documents import Document
from langchain_core.load import dumps
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import ConfigurableField, RunnableLambda, RunnablePassthrough
from pydantic import ValidationError

from tests.server.world import QUESTION, build_store
from trivium.engine import Engine
from trivium.errors import InputError, StoreError, StoreNotFoundError
from trivium.integrations.langchain import TriviumRetriever
from trivium.serialization import hit_json


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_store(tmp_path_factory.mktemp("retrieved"))


@pytest.fixture(scope="module")
def engine(store: Path) -> Iterator[Engine]:
    with Engine.open(store) as engine:
        yield engine


@pytest.fixture
def retriever(engine: Engine) -> TriviumRetriever:
    return TriviumRetriever.from_engine(engine, k=3)


def uris(documents: list[Document]) -> list[str | None]:
    return [document.id for document in documents]


def test_documents_are_the_hits_of_the_engine_field_by_field(
    engine: Engine, retriever: TriviumRetriever
) -> None:
    """Text, identity, every field of a hit, and nothing lost on the way to JSON."""
    documents = retriever.invoke(QUESTION)
    hits = engine.search(QUESTION, 3, explain=True)
    assert len(documents) == 3
    for document, hit in zip(documents, hits, strict=True):
        fields = {**hit_json(hit), "headings": [hit.page], "source": hit.uri}
        assert (document.id, document.page_content) == (hit.uri, fields.pop("text"))
        assert document.metadata == fields
        told = document.metadata["baseline"] + sum(document.metadata["contributions"].values())
        assert told == pytest.approx(hit.score, rel=1e-4)
        text = engine.store.page_text(hit.page)[document.metadata["start"] : document.metadata["end"]]
        assert text == document.page_content


def test_awaited_and_in_batches_it_finds_the_same(retriever: TriviumRetriever) -> None:
    """Batches run in several threads at once."""
    questions = [QUESTION, "Who was Asaph Hall?", "Which moon is smaller?"] * 3
    alone = [retriever.invoke(question) for question in questions]
    assert retriever.batch(questions) == alone
    assert asyncio.run(retriever.ainvoke(QUESTION)) == alone[0]
    assert asyncio.run(retriever.abatch(questions)) == alone


def test_it_is_asked_as_it_was_told(engine: Engine) -> None:
    """Views, fusion, number and explanation are those of the engine; a single call may ask for another number."""
    retriever = TriviumRetriever.from_engine(
        engine, k=2, retrievers=["lexical", "vector"], fusion="rrf", explain=False
    )
    hits = engine.search(QUESTION, 2, ["lexical", "vector"], "rrf")
    documents = retriever.invoke(QUESTION)
    assert uris(documents) == [hit.uri for hit in hits]
    assert [document.metadata["score"] for document in documents] == [hit.score for hit in hits]
    assert documents[0].metadata["contributions"] == {}
    assert len(retriever.invoke(QUESTION, k=1)) == len(retriever.bind(k=1).invoke(QUESTION)) == 1


def test_it_is_a_link_of_a_chain(retriever: TriviumRetriever) -> None:
    """Retriever, prompt, model and parser joined with bars; the prompt holds the passages."""
    seen: list[str] = []

    def model(prompt: object) -> str:
        seen.append(str(prompt))
        return "Asaph Hall [1]"

    chain = (
        {
            "context": retriever | (lambda documents: "\n".join(d.page_content for d in documents)),
            "question": RunnablePassthrough(),
        }
        | ChatPromptTemplate.from_template("{context}\n\n{question}")
        | RunnableLambda(model)
        | StrOutputParser()
    )
    assert chain.invoke(QUESTION) == asyncio.run(chain.ainvoke(QUESTION)) == "Asaph Hall [1]"
    assert all("Asaph Hall found it in 1877." in prompt and QUESTION in prompt for prompt in seen)


def test_a_configured_variant_shares_the_open_store(store: Path) -> None:
    """LangChain makes a new object of every configured call; the store is not opened again for it."""
    with TriviumRetriever(store=str(store), k=2) as retriever:
        flexible = retriever.configurable_fields(k=ConfigurableField(id="k"))
        assert len(flexible.invoke(QUESTION)) == 2
        assert len(flexible.invoke(QUESTION, {"configurable": {"k": 1}})) == 1
        opened = retriever.handle.engine() if retriever.handle is not None else None
        for other in (copy.copy(retriever), copy.deepcopy(retriever), retriever.model_copy(update={"k": 1})):
            assert other.handle is not None and other.handle.engine() is opened


def test_a_pickled_one_carries_the_address_and_opens_the_store_itself(
    engine: Engine, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that shares an engine, and also where the working directory is another."""
    monkeypatch.chdir(store.parent)
    shared = TriviumRetriever.from_engine(engine, k=2)
    own = TriviumRetriever(store=store.name, k=2)
    pickled = [pickle.dumps(one) for one in (shared, own)]
    assert all(len(one) < 2000 for one in pickled)
    monkeypatch.chdir(tmp_path)
    for data in pickled:
        with pickle.loads(data) as other:
            assert other.handle.engine() is not engine
            assert uris(other.invoke(QUESTION)) == uris(shared.invoke(QUESTION))


def test_to_json_it_is_what_it_says_and_never_an_open_store(retriever: TriviumRetriever, store: Path) -> None:
    """LangChain's own serialisation does not fail on it, and does not claim that it could be loaded."""
    assert '"not_implemented"' in dumps(retriever)
    assert retriever.model_dump()["store"] == str(store) and "handle" not in retriever.model_dump()
    assert "handle" not in repr(retriever)


def test_closing_lets_go_of_its_own_store_only(engine: Engine, store: Path) -> None:
    """An engine that was given stays open; an own one is closed, and opened again when it is asked again."""
    with TriviumRetriever.from_engine(engine) as shared:
        shared.invoke(QUESTION)
    assert engine.search(QUESTION, 1)
    own = TriviumRetriever(store=str(store))
    assert own.invoke(QUESTION) and own.handle is not None
    opened = own.handle.engine()
    own.close()
    with pytest.raises(StoreError, match="closed"):
        opened.search(QUESTION, 1)
    assert own.invoke(QUESTION)
    own.close()


def test_the_lines_of_the_documentation_run_as_they_stand(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "howto" / "langchain.md").read_text("utf-8")
    blocks = [
        block
        for block in re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
        if "langchain" in block and "langchain_community" not in block and "create_agent" not in block
    ]
    assert len(blocks) == 2
    (tmp_path / "my-store").symlink_to(store)
    monkeypatch.chdir(tmp_path)
    for lines in blocks:
        exec(compile(lines, "langchain.md", "exec"), {})
    printed = capsys.readouterr().out
    assert printed.startswith("1 ") and "Phobos#chunk-1 Phobos is the larger moon of Mars." in printed
    assert re.search(r"^(answered|closest) ", printed, re.MULTILINE) and printed.count("\n") > 4


def test_what_is_wrong_is_said_in_the_engines_words(retriever: TriviumRetriever, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="empty"):
        retriever.invoke(" ")
    with pytest.raises(InputError, match="telepathy"):
        retriever.model_copy(update={"retrievers": ["telepathy"]}).invoke(QUESTION)
    with pytest.raises(StoreNotFoundError):
        TriviumRetriever(store=str(tmp_path / "nowhere")).invoke(QUESTION)
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        TriviumRetriever(store="somewhere", k=0)


def test_documents_are_reranked_and_cut(engine: Engine, retriever: TriviumRetriever) -> None:
    expected = [hit.uri for hit in engine.search(QUESTION, 3, rerank="bm25", cut="gap:2-3")]
    assert uris(retriever.invoke(QUESTION, rerank="bm25", cut="gap:2-3")) == expected
    usual = TriviumRetriever.from_engine(engine, k=3, rerank="bm25", cut="gap:2-3")
    assert uris(usual.invoke(QUESTION)) == expected
