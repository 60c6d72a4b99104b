"""Relations read by a language model are the same in whichever store, and leave it with their document."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.contract.state import state_of
from tests.fakes.chat_model import ScriptedModel
from tests.fakes.memory_store import MemoryStore
from trivium.entities.relation_prompt import RelationSchema
from trivium.graph.protocols import GraphStore
from trivium.index.load import delete_linked, load
from trivium.index.model_relations import add_model_relations
from trivium.llm.chat_model import Message

TEXTS = {
    "letters.md": "# Letters\n\nDr Mary Somerville taught Ada Lovelace.\n\nThe Royal Society honoured Somerville.",
    "visit.txt": "At noon Ada Lovelace met Mary Somerville.",
}
SCHEMA = RelationSchema(entities=["scholar", "society"])


def _reply(messages: Sequence[Message]) -> str:
    types = {"source_type": "scholar", "target_type": "scholar"}
    said: dict[str, dict[str, object]] = {
        "taught": {"source": "Mary Somerville", "target": "Ada Lovelace"},
        "honoured": {
            "source": "The Royal Society",
            "target": "Somerville",
            "source_type": "society",
            "sentence": 2,
        },
        "met": {"source": "Ada Lovelace", "target": "Mary Somerville"},
    }
    passage = messages[-1].content.partition("</passage>")[0]
    items = [
        {**types, "sentence": 1, **ends, "relation": verb} for verb, ends in said.items() if verb in passage
    ]
    return json.dumps({"relations": items})


def test_a_model_fills_every_store_alike_and_a_removed_document_takes_it_along(
    store: GraphStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIVIUM_HOME", str(tmp_path / "home"))
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    twin = MemoryStore()
    for home in (store, twin):
        load([str(tmp_path / name) for name in TEXTS], home, entities="rules")
    before = state_of(store)
    model = ScriptedModel(_reply)
    reports = [add_model_relations(home, model, SCHEMA) for home in (store, twin)]
    assert reports[0].added == reports[1].added == 3 and reports[0].types_set == reports[1].types_set
    assert len(model.asked) == 2, "the second store asks nothing"
    assert state_of(store) == state_of(twin) != before
    assert list(store.page_graphs()) == list(twin.page_graphs())
    for home in (store, twin):
        delete_linked(home, ["Letters"], [])
    assert state_of(store) == state_of(twin)
    assert [edge.type for page in store.page_graphs() for edge in page.relations] == ["met"]
    assert store.resolve(["Royal Society"]) == {}
