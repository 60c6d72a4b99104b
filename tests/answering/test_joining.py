"""Attribution of an answer's sentences: by the model, by similarity, by quoting, through the graph."""

from __future__ import annotations

import pytest

from tests.answering.world import HALL, LEAD, MOONS, SATURN, ground, hit, world
from tests.fakes.chat_model import ScriptedModel
from tests.fakes.memory_store import MemoryStore
from trivium.answering.answer import answer
from trivium.answering.events import Done
from trivium.serialization import answer_json
from trivium.types import Answer, Attribution

STORE = world()
HITS = [hit(STORE, uri, rank) for rank, uri in enumerate([MOONS, HALL, LEAD, SATURN], start=1)]
QUESTION = "Who discovered the moons of Mars?"


def asked(text: str | None) -> Answer:
    """The answer of a model that says so, or without one."""
    model = None if text is None else ScriptedModel(text)
    events = list(answer(QUESTION, ground(STORE, HITS), (), model))
    done = events[-1]
    assert isinstance(done, Done)
    return done.answer


def test_what_the_model_cites_and_what_was_found_for_it() -> None:
    """The first sentence cites the wrong passage, the second none. The store knows that the chunk on moons links to
    Asaph Hall and stands on the page Mars, and that Saturn has to do with neither."""
    first, second = asked("Asaph Hall discovered both moons of Mars [4]. He was born in Goshen.").statements
    assert first.attribution == (
        Attribution(4, "prompted"),
        Attribution(1, "similarity"),
        Attribution(1, "graph", "Asaph Hall"),
        Attribution(1, "graph", "Mars"),
    )
    assert second.attribution == (Attribution(2, "similarity"),)  # it names nothing that is a page


def test_an_alias_is_the_entity() -> None:
    """Names are looked up as everywhere: in any case, by alias, the longest first."""
    said = "Asaph Hall discovered both moons [1]. The red planet has two moons, Phobos and Deimos [1]."
    assert asked(said).statements[1].attribution == (
        Attribution(1, "prompted"),
        Attribution(1, "graph", "Mars"),
    )


def test_quoted_sentences_say_so() -> None:
    """Without a model there is nothing else."""
    (first, *_) = asked(None).statements
    graph = [Attribution(1, "graph", entity) for entity in ("Mars", "Asaph Hall")]
    assert first.attribution == (Attribution(1, "quoted"), *graph)


def test_it_is_in_the_json() -> None:
    """Each way by its name, with the entity where there is one."""
    found = answer_json(asked("Asaph Hall discovered both moons [1]."))
    assert found["statements"][0]["attribution"] == [
        {"number": 1, "how": "prompted", "entity": None},
        {"number": 1, "how": "graph", "entity": "Asaph Hall"},
    ]


def test_the_store_is_asked_twice_for_any_number_of_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    """For what the passages link to, and for the names in the answer."""
    calls: list[str] = []
    for name in ("cited", "lookup_names"):
        own = getattr(MemoryStore, name)
        monkeypatch.setattr(
            MemoryStore, name, lambda *a, own=own, name=name: (calls.append(name), own(*a))[1]
        )
    asked("Asaph Hall discovered both moons [1]. He was born in Goshen [2]. Mars is red [3]. Ice [4].")
    assert calls == ["cited", "lookup_names"]
