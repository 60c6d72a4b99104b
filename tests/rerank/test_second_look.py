"""The small reader of question and passage, with the weights that ship."""

from __future__ import annotations

import os

import pytest

from tests.rerank.candidates import candidates
from trivium.embedding.model_files import installed
from trivium.errors import RerankError
from trivium.rerank import second_look
from trivium.rerank.reranker import Deadline
from trivium.rerank.second_look import READ, SmallReranker

pytestmark = pytest.mark.skipif(
    not installed("bge-small") and not os.environ.get("CI"), reason="bge-small is not installed"
)
QUESTION = "Who discovered the moons of Mars?"
ANSWER = "Its two moons were discovered by Asaph Hall in August 1877."
OTHER = "Olympus Mons is the highest mountain of the planet."


def test_a_passage_that_answers_is_put_before_one_that_does_not() -> None:
    """The search prefers the other by 1."""
    first, second = SmallReranker().rerank(QUESTION, candidates(OTHER, ANSWER), Deadline())
    assert second > first


def test_what_is_not_read_stays_behind_what_is() -> None:
    """Also a passage that answers."""
    scores = SmallReranker().rerank(QUESTION, candidates(*[OTHER] * READ, OTHER, ANSWER), Deadline())
    assert len(scores) == READ + 2
    assert min(scores[:READ]) > scores[READ] > scores[READ + 1]


def test_nothing_is_read_where_nothing_was_found() -> None:
    assert SmallReranker().rerank(QUESTION, [], Deadline()) == []


def test_a_lone_surrogate_is_no_reason_to_fail() -> None:
    assert len(SmallReranker().rerank("moons\ud800?", candidates("moon \udfff", ""), Deadline())) == 2


def test_without_the_embedder_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    second_look._reader.cache_clear()
    monkeypatch.setattr(second_look, "installed", lambda name: False)
    with pytest.raises(RerankError, match="trivium models install bge-small"):
        SmallReranker().rerank(QUESTION, candidates(ANSWER), Deadline())
