"""What can be said against a question without asking anybody."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from trivium.datasets.match import PageTexts, has_words
from trivium.synthetic.records import Bridge, Source
from trivium.synthetic.sample import LEAST_SOURCES
from trivium.text import normalise_name, normalise_title, question_terms, terms

QUESTION_WORDS = (5, 60)
"""Fewest and most."""
ANSWER_WORDS = 12
SAME = 0.8
"""Two questions are the same when they share this part of all their terms."""


class Check(StrEnum):
    """What a question may fail, as logs name it; ``says`` puts it for people."""

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
    def says(self) -> str:
        """The fault in words."""
        return _SAYS[self]


_SAYS = {
    Check.FORM: "no question of 5 to 60 words that ends with a question mark",
    Check.NO_ANSWER: "no answer of 1 to 12 words",
    Check.NOT_OFFERED: "uses a passage that was not offered",
    Check.FEW_PASSAGES: "uses fewer than two passages",
    Check.ANSWER_ABSENT: "the answer stands in none of the passages used, nor in their headings",
    Check.ANSWER_GIVEN: "the question contains its answer",
    Check.ANSWER_IS_BRIDGE: "the answer is the bridge",
    Check.BRIDGE_NAMED: "the question names the bridge",
    Check.COPIED: "the question is copied from a passage",
    Check.ONE_PASSAGE: "one passage holds every word of the question, and the answer",
    Check.REPEATED: "the question was asked before",
}


def check_wording(question: str, answer: str, bridge: Bridge, used: Sequence[Source]) -> list[Check]:
    """What is wrong with a question, its answer and the passages it was made from, whoever wrote it."""
    asked = PageTexts([question])
    names = set(bridge.names)
    # A passage is read under its headings, which are often the only place that names what it is about.
    whole = [f"{source.headings} {source.text}" for source in used]
    found = PageTexts(whole).containing([answer])
    wanted = set(question_terms(question))
    low, high = QUESTION_WORDS
    wrong = {
        Check.FORM: not (low <= len(question.split()) <= high and question.endswith("?")),
        Check.NO_ANSWER: not has_words(answer) or len(answer.split()) > ANSWER_WORDS,
        Check.FEW_PASSAGES: len(used) < LEAST_SOURCES,
        Check.ANSWER_ABSENT: has_words(answer) and not found,
        Check.ANSWER_GIVEN: bool(asked.containing([answer])),
        Check.ANSWER_IS_BRIDGE: normalise_name(normalise_title(answer)) in names,
        Check.BRIDGE_NAMED: bool(asked.containing(names)),
        Check.COPIED: bool(PageTexts([source.text for source in used]).best(question)),
        Check.ONE_PASSAGE: any(wanted <= set(terms(whole[row])) for row in found),
    }
    return [check for check, fails in wrong.items() if fails]


def check_numbers(numbers: Iterable[int], offered: int) -> list[Check]:
    """What is wrong with the numbers of the passages that a question is said to need, of 1 to ``offered``."""
    return [Check.NOT_OFFERED] if any(not 1 <= number <= offered for number in numbers) else []


class Asked:
    """The questions asked so far, to recognise one that is asked again in other words or another order of words."""

    def __init__(self, questions: Iterable[str] = ()) -> None:
        self._known = [frozenset(question_terms(question)) for question in questions]

    def has(self, question: str) -> bool:
        """Whether there is one with nearly the same terms."""
        new = frozenset(question_terms(question))
        return any(len(new & known) >= SAME * len(new | known) for known in self._known)

    def add(self, question: str) -> None:
        """One more."""
        self._known.append(frozenset(question_terms(question)))
