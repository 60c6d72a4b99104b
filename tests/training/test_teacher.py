"""The trees a network learns from: they know nothing of a question's pages, and the network takes what they say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.training.world import collection_of, needs_tensorflow
from trivium.datasets.splits import folds
from trivium.errors import ConfigurationError, MissingExtraError
from trivium.training.data import Example, examples_of
from trivium.training.fit import train
from trivium.training.settings import Settings
from trivium.training.teacher import PARTS, load_lightgbm, with_teacher_scores

pytestmark = needs_tensorflow


def _world() -> tuple[list[Example], list[list[str]]]:
    collection = collection_of(60)
    return examples_of(collection), collection.pages


def test_no_question_is_scored_by_trees_that_saw_its_pages() -> None:
    """Other gold on the pages of one part changes the scores of the other parts only."""
    examples, pages = _world()
    mine = folds(pages, PARTS, seed=0) == 0
    lied = [
        replace(example, gold=np.roll(example.gold, 1)) if own else example
        for example, own in zip(examples, mine, strict=True)
    ]
    before, after = (with_teacher_scores(some, pages, 20, seed=0) for some in (examples, lied))
    for old, new, own in zip(before, after, mine, strict=True):
        assert old.teacher is not None and new.teacher is not None
        assert np.array_equal(old.teacher, new.teacher) is bool(own)


def test_the_trees_rank_gold_first_more_often_than_luck() -> None:
    examples = with_teacher_scores(*_world(), 40, seed=0)
    hits = [example.gold[np.argmax(example.teacher)] for example in examples if example.gold.any()]
    luck = np.mean([example.gold.mean() for example in examples if example.gold.any()])
    assert np.mean(hits) > 3 * luck


def test_the_same_seed_grows_the_same_trees() -> None:
    one, other = (with_teacher_scores(*_world(), 10, seed=4) for _ in "ab")
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a.teacher, b.teacher)


def test_questions_of_one_page_have_no_teacher() -> None:
    examples, pages = _world()
    assert with_teacher_scores(examples, [["Mars"]] * len(pages), 10, seed=0) == examples


def test_a_network_all_of_whose_loss_is_the_teachers_says_what_it_says() -> None:
    """The teacher here prefers the candidates that are not gold."""
    examples, _ = _world()
    backwards = [
        replace(example, teacher=np.where(example.gold, -4, 4).astype(np.float32)) for example in examples
    ]
    settings = Settings(hidden=(16,), dropout=0.0, epochs=20, batch=16, rate=1e-2, teacher=1.0)
    network = train(backwards, (), settings, 0).network
    tops = [example.gold[np.argmax(network.logits(example.rows.astype(np.float64)))] for example in examples]
    assert np.mean(tops) < 0.1


def test_without_lightgbm_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "lightgbm", None)
    with pytest.raises(MissingExtraError, match="train"):
        load_lightgbm()
    with pytest.raises(ConfigurationError, match=r"\[0, 1\]"):
        Settings(teacher=1.5)
