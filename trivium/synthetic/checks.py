"""Automatic checks of generated questions, without a model or a person."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from trivium.answering.passage_prompts import Source
from trivium.datasets.match_text import PageTexts, has_words
from trivium.synthetic.records import Bridge
from trivium.synthetic.sample_bridges import MIN_SOURCES
from trivium.text.normalise import normalise_name, normalise_title, question_terms, terms, words

QUESTION_WORDS = (5, 60)
"""Minimum and maximum number of words of a question."""
ANSWER_WORDS = 12
DUPLICATE_OVERLAP = 0.8
"""Two questions with the same question word are duplicates when the Jaccard similarity of their terms is at least this.
"""
SAME_ANSWER_OVERLAP = 0.5
"""Two questions with the same answer are duplicates when the Jaccard similarity of their terms is at least this."""
PLAIN_WORDS = 4
"""Minimum number of words of a plain question."""
_WAYS = frozenset(("who", "whom", "whose", "when", "where", "why", "how"))


class Check(StrEnum):
    """The checks a question can fail. Values are the names used in logs; ``description`` is human-readable."""

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
    POINTS_AT_PASSAGE = "points_at_passage"

    @property
    def description(self) -> str:
        """The problem of a question that fails this check."""
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
    Check.REPEATED: "the question was asked before, in these words or nearly so",
    Check.POINTS_AT_PASSAGE: "the question speaks of the passage, which nobody has before them",
}
_POINTS = re.compile(
    r"\b(?:(?:the|this|that) (?:passage|text|paragraph|excerpt|snippet|sentence|author says)|according to (?:it|this)"
    r"|mentioned (?:above|here)|given (?:passage|text))\b",
    re.IGNORECASE,
)


def check_wording(question: str, answer: str, bridge: Bridge, used: Sequence[Source]) -> list[Check]:
    """Return the checks that a question fails, given its answer and the passages (``used``) it was generated from."""
    if bridge.plain:
        return check_plain_wording(question, answer, used)
    asked = PageTexts([question])
    names = set(bridge.names)
    # Headings are part of a passage because often only they name its subject.
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


def check_plain_wording(question: str, answer: str, used: Sequence[Source]) -> list[Check]:
    """Return the checks that a plain question fails, given its answer and the passage it was generated from."""
    answering = PageTexts([f"{source.headings} {source.text}" for source in used]).containing([answer])
    fails = {
        Check.FORM: not (
            PLAIN_WORDS <= len(question.split()) <= QUESTION_WORDS[1] and question.endswith("?")
        ),
        Check.NO_ANSWER: not has_words(answer) or len(answer.split()) > ANSWER_WORDS,
        Check.ANSWER_ABSENT: has_words(answer) and not answering,
        Check.ANSWER_GIVEN: bool(PageTexts([question]).containing([answer])),
        Check.POINTS_AT_PASSAGE: _POINTS.search(question) is not None,
    }
    return [check for check, failed in fails.items() if failed]


def check_numbers(numbers: Iterable[int], offered: int) -> list[Check]:
    """Return the checks failed by the passage numbers that a model reports as used; valid are 1 to ``offered``."""
    return [Check.NOT_OFFERED] if any(not 1 <= number <= offered for number in numbers) else []


class AskedQuestions:
    """The questions generated so far, for detecting duplicates.

    A question is a duplicate of an earlier one that has

    - the same words, ignoring case and punctuation, or
    - the same question word and nearly the same terms (a Jaccard similarity of :data:`DUPLICATE_OVERLAP`, ignoring
      inflection and order); *when was it found* is not a duplicate of *where was it found*, or
    - the same answer and half of the terms (:data:`SAME_ANSWER_OVERLAP`).
    """

    def __init__(self, questions: Iterable[tuple[str, str]] = ()) -> None:
        """``questions`` are pairs of a question and its answer."""
        self._known: list[_Asked] = []
        self._words: set[str] = set()
        self._holders: defaultdict[str, list[int]] = defaultdict(list)
        for question, answer in questions:
            self.add(question, answer)

    def has(self, question: str, answer: str = "") -> bool:
        """Whether a question is a duplicate of an earlier one."""
        if normalise_name(question) in self._words:
            return True
        new = _Asked.of(question, answer)
        shared = Counter(place for term in new.terms for place in self._holders.get(term, ()))
        return any(new.like(self._known[place], common) for place, common in shared.items())

    def add(self, question: str, answer: str = "") -> None:
        """Add a question."""
        asked = _Asked.of(question, answer)
        for term in asked.terms:
            self._holders[term].append(len(self._known))
        self._known.append(asked)
        self._words.add(normalise_name(question))


@dataclass(frozen=True, slots=True)
class _Asked:
    terms: frozenset[str]
    way: str
    answer: str

    @classmethod
    def of(cls, question: str, answer: str) -> _Asked:
        way = next((word for word in words(question) if word in _WAYS), "")
        return cls(frozenset(question_terms(question)), way, normalise_name(answer))

    def like(self, other: _Asked, common: int) -> bool:
        """Whether both ask the same, given their number of common terms."""
        overlap = common / (len(self.terms) + len(other.terms) - common)
        if self.answer and self.answer == other.answer and overlap >= SAME_ANSWER_OVERLAP:
            return True
        return overlap >= DUPLICATE_OVERLAP and self.way == other.way
