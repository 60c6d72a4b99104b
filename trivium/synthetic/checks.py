"""Automatic checks of a question: no model and no person is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from trivium.datasets.match import PageTexts, has_words
from trivium.synthetic.records import Bridge, Source
from trivium.synthetic.sample import MIN_SOURCES
from trivium.text import normalise_name, normalise_title, question_terms, terms

QUESTION_WORDS = (5, 60)
"""The minimum and maximum number of words in a question."""
ANSWER_WORDS = 12
DUPLICATE_OVERLAP = 0.8
"""Two questions are duplicates when the Jaccard similarity of their terms is at least this."""


class Check(StrEnum):
    """The checks a question can fail. Values are the names used in logs; ``description`` is for people."""

    FORM = "form"
    NO_ANSWER = "no_answer"
    NOT_OFFERED = "not_offered"
    FEW_PASSAGES = "few_passages"
    ANSWER_ABSENT = "answer_absent"
    ANSWER_GIVEN = "answer_given"
    ANSWER_IS_BRIDGE = "answer_is_bridge"
    BRIDGE_NAMED = "bridge_named"
    COPIED = "copied"
    ONE_PASSAGE = "one_passage"
    REPEATED = "repeated"

    @property
    def description(self) -> str:
        """What is wrong with a question that fails this check."""
        return _DESCRIPTIONS[self]


_DESCRIPTIONS = {
    Check.FORM: "not a question of 5 to 60 words that ends with a question mark",
    Check.NO_ANSWER: "not an answer of 1 to 12 words",
    Check.NOT_OFFERED: "uses a passage that was not offered",
    Check.FEW_PASSAGES: "uses fewer than two passages",
    Check.ANSWER_ABSENT: "the answer is in none of the passages used, nor in their headings",
    Check.ANSWER_GIVEN: "the question contains its answer",
    Check.ANSWER_IS_BRIDGE: "the answer is the bridge",
    Check.BRIDGE_NAMED: "the question names the bridge",
    Check.COPIED: "the question is copied from a passage",
    Check.ONE_PASSAGE: "one passage holds every word of the question, and the answer",
    Check.REPEATED: "the question was asked before",
}


def check_wording(question: str, answer: str, bridge: Bridge, used: Sequence[Source]) -> list[Check]:
    """The checks that a question fails, given its answer and the passages (``used``) it was made from."""
    asked = PageTexts([question])
    names = set(bridge.names)
    # Headings are part of the passage: often only they name what it is about.
    passages = [f"{source.headings} {source.text}" for source in used]
    answering = PageTexts(passages).containing([answer])
    asked_terms = set(question_terms(question))
    low, high = QUESTION_WORDS
    fails = {
        Check.FORM: not (low <= len(question.split()) <= high and question.endswith("?")),
        Check.NO_ANSWER: not has_words(answer) or len(answer.split()) > ANSWER_WORDS,
        Check.FEW_PASSAGES: len(used) < MIN_SOURCES,
        Check.ANSWER_ABSENT: has_words(answer) and not answering,
        Check.ANSWER_GIVEN: bool(asked.containing([answer])),
        Check.ANSWER_IS_BRIDGE: normalise_name(normalise_title(answer)) in names,
        Check.BRIDGE_NAMED: bool(asked.containing(names)),
        Check.COPIED: bool(PageTexts([source.text for source in used]).best(question)),
        Check.ONE_PASSAGE: any(asked_terms <= set(terms(passages[row])) for row in answering),
    }
    return [check for check, failed in fails.items() if failed]


def check_numbers(numbers: Iterable[int], offered: int) -> list[Check]:
    """The checks failed by the passage numbers that a model says it used; valid are 1 to ``offered``."""
    return [Check.NOT_OFFERED] if any(not 1 <= number <= offered for number in numbers) else []


class AskedQuestions:
    """The questions asked so far, to detect duplicates, also when the words are inflected or reordered."""

    def __init__(self, questions: Iterable[str] = ()) -> None:
        self._terms = [frozenset(question_terms(question)) for question in questions]

    def has(self, question: str) -> bool:
        """Whether an earlier question has nearly the same terms."""
        new = frozenset(question_terms(question))
        return any(len(new & earlier) >= DUPLICATE_OVERLAP * len(new | earlier) for earlier in self._terms)

    def add(self, question: str) -> None:
        """Record a question."""
        self._terms.append(frozenset(question_terms(question)))
