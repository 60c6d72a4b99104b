"""Requests: made from keyword arguments, checked when they are made."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from trivium.errors import InputError
from trivium.index.requests import BuildOptions, BuildRequest
from trivium.search.requests import AskOptions, AskRequest, SearchOptions, SearchRequest
from trivium.types import Turn


@pytest.mark.parametrize(
    ("request_type", "keywords", "others"),
    [
        (SearchRequest, SearchOptions, {"question", "k", "retrievers", "fusion"}),
        (AskRequest, AskOptions, {"question"}),
        (BuildRequest, BuildOptions, {"sources"}),
    ],
)
def test_type_checkers_are_told_every_field(request_type: Any, keywords: Any, others: set[str]) -> None:
    assert {one.name for one in fields(request_type)} == {*keywords.__annotations__, *others}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"k": 0}, "k must be 1 or more"),
        ({"explain": "yes"}, "expected explain as True or False, got str"),
        ({"where": "year >="}, "expected"),
        ({"cut": "none"}, "cut"),
        ({"recall": " "}, "a question needs some text"),
    ],
)
def test_a_wrong_value_is_refused_when_a_request_is_made(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        SearchRequest("moons", **wrong)


def test_an_answer_searches_as_it_was_asked_to() -> None:
    asked = AskRequest(
        "And when?", k=3, rerank="bm25", where="year = 2020", history=[{"question": "a", "answer": "b"}]
    )
    assert asked.turns == [Turn("a", "b")]
    search = asked.search("When was it?", "when", print, print)
    assert (search.question, search.recall, search.k, search.rerank) == ("When was it?", "when", 3, "bm25")
    assert search.where == asked.where and not search.explain
