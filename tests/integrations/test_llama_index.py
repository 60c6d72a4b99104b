"""The retriever in LlamaIndex, the real one: asked, awaited, in a query engine, closed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.world import QUESTION, build_store
from trivium.engine import Engine
from trivium.errors import InputError, StoreNotFoundError
from trivium.serialization import hit_json

pytest.importorskip("llama_index.core")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_store(tmp_path_factory.mktemp("llama-index"))


@pytest.fixture
def retriever(store: Path) -> Iterator[Any]:
    from trivium.integrations.llama_index import TriviumRetriever

    retriever = TriviumRetriever(str(store), similarity_top_k=3)
    yield retriever
    retriever.close()


def test_nodes_are_the_hits_of_the_engine(retriever: Any, store: Path) -> None:
    with Engine.open(store) as engine:
        hits = engine.search(QUESTION, 3)
    found = retriever.retrieve(QUESTION)
    assert [(one.node.node_id, one.node.text, one.score) for one in found] == [
        (hit.uri, hit.text, hit.score) for hit in hits
    ]
    assert {**found[0].node.metadata, "text": hits[0].text} == hit_json(hits[0])
    assert asyncio.run(retriever.aretrieve(QUESTION)) == found


def test_a_model_reads_the_text_with_page_and_section(retriever: Any) -> None:
    """The model of the query engine repeats what it is given."""
    from llama_index.core import get_response_synthesizer
    from llama_index.core.llms import MockLLM
    from llama_index.core.query_engine import RetrieverQueryEngine

    response = RetrieverQueryEngine(retriever, get_response_synthesizer(MockLLM())).query(QUESTION)
    first = response.source_nodes[0].node
    read = str(response)
    assert first.text in read
    assert f"page: {first.metadata['page']}\nsection: {first.metadata['section']}\n" in read
    assert "contributions" in first.metadata and "contributions" not in read


def test_mistakes_are_the_engines(store: Path) -> None:
    from trivium.integrations.llama_index import TriviumRetriever

    with pytest.raises(StoreNotFoundError):
        TriviumRetriever(str(store / "none"))
    retriever = TriviumRetriever(str(store), similarity_top_k=0, options={"fusion": "rrf"})
    try:
        with pytest.raises(InputError):
            retriever.retrieve(QUESTION)
    finally:
        retriever.close()
