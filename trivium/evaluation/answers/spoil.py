"""Right answers, spoilt on purpose: what a judge must catch, and what it must let pass.

A right answer is a sentence of a gold passage that holds a known answer. It is spoilt where it answers: a number of the
known answer is changed, the statement is negated, or the name that was asked for is swapped for that of another question.
Each spoilt answer contradicts the passage and the known answer, and nothing else in it changes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from trivium.datasets.gold import Traced
from trivium.evaluation.answers.overlap import contains
from trivium.graph.protocols import GraphReader
from trivium.text import sentences
from trivium.types import Question

RIGHT: Final = "right"
KINDS: Final = ("number", "negation", "name")
_LENGTHS = range(25, 301)
"""Characters of a sentence that is an answer: neither a heading nor a paragraph."""
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_AUXILIARY = re.compile(
    r"\b(is|was|are|were|has|had|have|can|could|will|would|did|does|may|must)\b(?! not\b)"
)
_NAME = re.compile(r"[A-Z][\w'’.-]*(?: (?:of|the|de|von|van|and|[A-Z][\w'’.-]*))*")


@dataclass(frozen=True, slots=True)
class RightAnswer:
    """A sentence that answers a question, the known answer as it stands in it (characters ``start`` to ``end``), and the
    passage it is from."""

    question: Question
    text: str
    start: int
    end: int
    chunk: str

    @property
    def known(self) -> str:
        """The known answer, as the sentence writes it."""
        return self.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Trial:
    """An answer for a judge: ``kind`` is what was done to it, :data:`RIGHT` for nothing."""

    kind: str
    right: RightAnswer
    text: str


def right_answers(store: GraphReader, traced: Traced) -> Iterator[RightAnswer]:
    """One for each question whose gold passages have such a sentence, the first of them."""
    for question in traced.questions:
        for chunk in (chunk for group in traced.gold[question.id].groups for chunk in group):
            found = _sentence(question, store.fetch([chunk])[0].text, chunk)
            if found is not None:
                yield found
                break


def trials(right: Sequence[RightAnswer], each: int, seed: int = 0) -> list[Trial]:
    """Up to ``each`` right answers and up to ``each`` of every kind of spoilt ones, in a fixed order; a right answer
    may be spoilt in several ways."""
    rng = random.Random(seed)  # noqa: S311 - not a secret
    order = rng.sample(list(right), len(right))
    names = [answer.known for answer in order if _is_name(answer.known)]
    found = [Trial(RIGHT, answer, answer.text) for answer in order[:each]]
    for kind in KINDS:
        spoilt = (
            Trial(kind, answer, text)
            for answer in order
            if (text := spoil(answer, kind, names, rng)) is not None
        )
        found += [trial for trial, _ in zip(spoilt, range(each), strict=False)]
    return found


def spoil(answer: RightAnswer, kind: str, names: Sequence[str], rng: random.Random) -> str | None:
    """The answer spoilt in one way of :data:`KINDS`; None where it has nothing that can be. ``names`` are those to swap
    for."""
    text, start, end = answer.text, answer.start, answer.end
    if kind == "number":
        number = _NUMBER.search(text, start, end)
        if number is None:
            return None
        return text[: number.start()] + other_number(number[0], rng) + text[number.end() :]
    if kind == "negation":
        before = list(_AUXILIARY.finditer(text, 0, start))
        if not before:
            return None
        place = before[-1].end()  # the nearest one: the clause that answers
        return f"{text[:place]} not{text[place:]}"
    if not _is_name(answer.known):
        return None
    others = [name for name in names if not contains(name, answer.question.answers) and name not in text]
    return f"{text[:start]}{rng.choice(others)}{text[end:]}" if others else None


def other_number(number: str, rng: random.Random) -> str:
    """Another number of the same form and about the same size: what a slip or an invention looks like.

    >>> [other_number(number, random.Random(0)) for number in ("1877", "3", "84.5")]
    ['1868', '8', '75.5']
    """
    whole, point, rest = number.partition(".")
    digits = whole.replace(",", "")
    value = int(digits)
    step = rng.randint(3, 15) if value >= 20 else rng.randint(2, 6)
    changed = value + step if value < 10 or rng.random() < 0.5 else max(value - step, 1)
    changed = value + step if changed == value else changed
    return (f"{changed:,}" if "," in whole else str(changed).zfill(len(digits))) + point + rest


def _sentence(question: Question, text: str, chunk: str) -> RightAnswer | None:
    for start, end in sentences(text):
        sentence = text[start:end].strip()
        if len(sentence) not in _LENGTHS:
            continue
        for known in question.answers:
            found = re.search(rf"(?<!\w){re.escape(known)}(?!\w)", sentence)
            if found is not None and known.strip():
                return RightAnswer(question, sentence, found.start(), found.end(), chunk)
    return None


def _is_name(known: str) -> bool:
    return _NAME.fullmatch(known) is not None and not any(character.isdigit() for character in known)
