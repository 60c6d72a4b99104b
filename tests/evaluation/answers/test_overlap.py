"""How much of a known answer an answer says: numbers worked out by hand, and an independent package."""

from __future__ import annotations

import math
import random
import warnings

import pytest

from trivium.evaluation.answers.model_free_measures import (
    bleu,
    contains,
    exact_match,
    normalise,
    rouge_l,
    token_f1,
)


def test_texts_are_normalised_as_squad_does() -> None:
    """Lower case, no punctuation (what it parts is joined), no articles, one space."""
    assert normalise("  The Phobos-Grunt, an  probe (2011)! ") == "phobosgrunt probe 2011"
    assert normalise("Theatre and anthem") == "theatre and anthem"


@pytest.mark.parametrize(
    ("answer", "gold", "expected"),
    [
        ("The Asaph Hall.", ["asaph hall"], 1.0),
        ("Asaph Hall found it", ["Asaph Hall"], 0.0),
        ("1877", ["in 1877", "1877"], 1.0),
        ("", ["1877"], 0.0),
        ("1877", [], 0.0),
    ],
)
def test_an_exact_match_is_the_whole_answer(answer: str, gold: list[str], expected: float) -> None:
    """Any known answer will do; a part will not."""
    assert exact_match(answer, gold) == expected


@pytest.mark.parametrize(
    ("answer", "gold", "expected"),
    [
        # 2 of 4 words, 2 of 2: 2 * .5 * 1 / 1.5
        ("Asaph Hall found it", ["Asaph Hall"], 2 / 3),
        # Words count as often as they occur: "moon" once is common; 1 of 3, 1 of 2.
        ("moon moon moon", ["moon phobos"], 2 * (1 / 3) * (1 / 2) / (1 / 3 + 1 / 2)),
        # The best known answer: against the second 1 of 1 and 1 of 1.
        ("Deimos", ["Phobos", "Deimos"], 1.0),
        ("Deimos", ["Phobos"], 0.0),
        # Nothing but an article is nothing, on both sides or on one.
        ("the", ["a"], 1.0),
        ("the", ["moon"], 0.0),
        ("moon", ["the"], 0.0),
    ],
)
def test_f1_is_that_of_squad(answer: str, gold: list[str], expected: float) -> None:
    """Precision and recall of words, by hand."""
    assert token_f1(answer, gold) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("answer", "gold", "expected"),
    [
        # Runs of 1, 2, 3 and 4 words: 4 of 5, 3 of 4, 1 of 3, and none of 2, which counts as a half.
        ("Hall found it: Asaph Hall", ["Asaph Hall found it"], (4 / 5 * 3 / 4 * 1 / 3 * 0.5 / 2) ** (1 / 4)),
        # None of the runs of 2 and 3 words of "b a d", and too short for four: 2 of 3, 1/2 of 2, 1/4 of 1.
        ("b a d", ["a b c"], (2 / 3 * 0.5 / 2 * 0.25) ** (1 / 3)),
        # Half as long as the known answer: exp(1 - 4 / 2).
        ("Asaph Hall", ["Asaph Hall found it"], math.exp(-1)),
        # Words count as often as the known answer has them: 1 of 2, and none of 1, which counts as a half.
        ("moon moon", ["the moon"], (1 / 2 * 0.5) ** (1 / 2)),
        ("Deimos.", ["Phobos", "deimos"], 1.0),
        ("Deimos", ["Phobos"], 0.0),
        ("", ["Phobos"], 0.0),
        ("Deimos", [], 0.0),
    ],
)
def test_bleu_by_hand(answer: str, gold: list[str], expected: float) -> None:
    """The mean of the shares of runs, times what brevity costs; the best known answer counts."""
    assert bleu(answer, gold) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("answer", "gold", "expected"),
    [
        # "asaph hall" and "found it" are each in order, but not both: 2 of 5 words, 2 of 4.
        ("Hall found it: Asaph Hall", ["Asaph Hall found it"], 2 * 0.6 * 0.75 / 1.35),
        ("a b c d", ["d c b a"], 2 * 0.25 * 0.25 / 0.5),
        ("The police killed the gunman", ["the gunman kill police"], 2 * 0.4 * 0.5 / 0.9),
        ("", ["moon"], 0.0),
        ("moon", ["?"], 0.0),
        ("луна Марса", ["Луна"], 2 * 0.5 / 1.5),
    ],
)
def test_rouge_l_counts_the_longest_common_subsequence(answer: str, gold: list[str], expected: float) -> None:
    """By hand; letters of any alphabet are words."""
    assert rouge_l(answer, gold) == pytest.approx(expected)


def test_rouge_l_is_that_of_the_package_of_its_name() -> None:
    """Hundreds of pairs of sentences out of few words, with punctuation, capitals and repeats."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from rouge_score.rouge_scorer import RougeScorer
    scorer = RougeScorer(["rougeL"], use_stemmer=False)
    rng = random.Random(0)
    known = ["Mars", "moon", "the", "Hall's", "1,877", "well-known", "of", "Phobos.", "snake_case", "-", "in"]
    for _ in range(400):
        answer, gold = (" ".join(rng.choices(known, k=rng.randint(1, 9))) for _ in "ab")
        assert rouge_l(answer, [gold]) == pytest.approx(scorer.score(gold, answer)["rougeL"].fmeasure)


@pytest.mark.parametrize(
    ("answer", "gold", "expected"),
    [
        ("It was found by ASAPH  HALL, in 1877.", ["Asaph Hall"], 1.0),
        ("Asaph Halley found it.", ["Asaph Hall"], 0.0),
        ("Hall, Asaph", ["Asaph Hall"], 0.0),
        ("in 1914–1918", ["1914"], 1.0),
        ("It took 18770 days.", ["1877"], 0.0),
        ("Anything", ["?"], 0.0),
        ("Anything", ["nothing", "anything"], 1.0),
    ],
)
def test_a_known_answer_is_contained_as_whole_words(answer: str, gold: list[str], expected: float) -> None:
    """In its order, whatever the punctuation; a part of a word or a number is none of it."""
    assert contains(answer, gold) == expected
