"""The retriever in pipelines of Haystack, the real ones: run, awaited, written down and read again, closed."""

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


@pytest.fixture(scope="module")
def haystack() -> Iterator[Any]:
    """The package, told before it is imported that nothing is to be reported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HAYSTACK_TELEMETRY_ENABLED", "False")
        yield pytest.importorskip("haystack")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_store(tmp_path_factory.mktemp("haystack"))


@pytest.fixture
def pipeline(haystack: Any, store: Path) -> Iterator[Any]:
    """A retriever and the builder of a prompt behind it."""
    from haystack.components.builders import PromptBuilder

    from trivium.integrations.haystack import TriviumRetriever

    pipeline = haystack.Pipeline()
    pipeline.add_component("retriever", TriviumRetriever(str(store), top_k=3))
    template = "{% for document in documents %}{{ document.content }}\n{% endfor %}"
    pipeline.add_component("prompt", PromptBuilder(template, required_variables=["documents"]))
    pipeline.connect("retriever.documents", "prompt.documents")
    yield pipeline
    pipeline.close()


def run(pipeline: Any, **given: Any) -> Any:
    return pipeline.run({"retriever": {"query": QUESTION, **given}}, include_outputs_from={"retriever"})


def test_a_pipeline_reads_the_hits_of_the_engine(pipeline: Any, store: Path) -> None:
    """Run, awaited, and after it was written down and read again; with a number and a condition of one question."""
    found = run(pipeline)
    with Engine.open(store) as engine:
        hits = engine.search(QUESTION, 3)
        of_hall = engine.search(QUESTION, 1, where="title = 'Asaph Hall'")
    documents = found["retriever"]["documents"]
    assert [(one.id, one.content, one.score) for one in documents] == [
        (hit.uri, hit.text, hit.score) for hit in hits
    ]
    assert documents[0].meta == hit_json(hits[0])
    assert found["prompt"]["prompt"].splitlines() == [hit.text for hit in hits]
    again = type(pipeline).loads(pipeline.dumps(), allowed_modules=["trivium.integrations.haystack"])
    assert run(again) == found
    again.close()
    awaited = asyncio.run(pipeline.run_async({"retriever": {"query": QUESTION}}))
    assert awaited["prompt"] == found["prompt"]
    (one,) = run(pipeline, top_k=1, where="title = 'Asaph Hall'")["retriever"]["documents"]
    assert (one.id, one.content) == (of_hall[0].uri, of_hall[0].text)


def test_mistakes_are_the_engines(haystack: Any, store: Path) -> None:
    from trivium.integrations.haystack import TriviumRetriever

    with pytest.raises(StoreNotFoundError):
        TriviumRetriever(str(store / "none"))
    retriever = TriviumRetriever(str(store), options={"fusion": "rrf"})
    try:
        with pytest.raises(InputError):
            retriever.run(QUESTION, top_k=0)
    finally:
        retriever.close()
