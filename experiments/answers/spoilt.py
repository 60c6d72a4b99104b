"""Correct answers and deliberately spoilt ones, to test whether a judge detects errors and accepts correct answers.

A correct answer is a sentence of a gold passage that contains a known answer. It is spoilt where it answers: a number
of the known answer is changed, the statement is negated, or the name asked for is replaced by that of another
question. Each spoilt answer contradicts the passage and the known answer, and is otherwise unchanged.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from trivium.datasets.gold import Traced
from trivium.evaluation.answers.model_free_measures import contains
from trivium.graph.protocols import GraphReader
from trivium.text.normalise import sentences
from trivium.types import Question

RIGHT: Final = "right"
KINDS: Final = ("number", "negation", "name")
_LENGTHS = range(25, 301)
"""Length in characters of a sentence that qualifies as an answer: neither a heading nor a paragraph."""
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_AUXILIARY = re.compile(
    r"\b(is|was|are|were|has|had|have|can|could|will|would|did|does|may|must)\b(?! not\b)"
)
_NAME = re.compile(r"[A-Z][\w'’.-]*(?: (?:of|the|de|von|van|and|[A-Z][\w'’.-]*))*")


@dataclass(frozen=True, slots=True)
class RightAnswer:
    """A sentence that answers a question, the known answer in it (characters ``start`` to ``end``), and its passage."""

    question: Question
    text: str
    start: int
    end: int
    chunk: str

    @property
    def known(self) -> str:
        """The known answer, as written in the sentence."""
        return self.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Trial:
    """An answer for a judge. ``kind`` is how it was spoilt, :data:`RIGHT` if it was not."""

    kind: str
    right: RightAnswer
    text: str


def right_answers(store: GraphReader, traced: Traced) -> Iterator[RightAnswer]:
    """Iterate over one answer for each question whose gold passages have such a sentence: the first of them."""
    for question in traced.questions:
        for chunk in (chunk for group in traced.gold[question.id].groups for chunk in group):
            found = _sentence(question, store.fetch([chunk])[0].text, chunk)
            if found is not None:
                yield found
                break


def trials(right: Sequence[RightAnswer], each: int, seed: int = 0) -> list[Trial]:
    """Return up to ``each`` correct answers and up to ``each`` spoilt ones of every kind, in a fixed order. A correct
    answer may be spoilt in several ways.
    """
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
    """Spoil an answer in one way of :data:`KINDS`; None if it contains nothing to change. ``names`` are possible
    replacements.
    """
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
        place = before[-1].end()  # the nearest one belongs to the clause that answers
        return f"{text[:place]} not{text[place:]}"
    if not _is_name(answer.known):
        return None
    others = [name for name in names if not contains(name, answer.question.answers) and name not in text]
    return f"{text[:start]}{rng.choice(others)}{text[end:]}" if others else None


def other_number(number: str, rng: random.Random) -> str:
    """Return another number of the same form and about the same size, like a slip or an invention.

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
