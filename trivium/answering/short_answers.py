"""Checks the short answers of a language model ("The answer is: Asaph Hall."), which leave it to the question what is
claimed of the things they name.

That a passage contains the name is not enough: one of its sentences must answer the question, or at least not be far from
it, by the classifier that also chooses sentences to quote.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from trivium.answering.attribution import claim_terms
from trivium.answering.judging import Judged
from trivium.answering.marks import cited, without_marks
from trivium.answering.rarity import Rarity
from trivium.text.normalise import terms, words
from trivium.types import Statement

MAX_TERMS = 4
"""Longer statements say by themselves what they claim."""
LEAST = 0.005
"""Minimum probability that the sentence with the answer answers the question. Of the right answers of 230 questions of
one hop it loses 1, of 36 of several hops 6; of the wrong names in the same passages it catches 52 to 68 %.
"""
_ANSWER = frozenset(terms("answer"))
_OPEN = frozenset(words("who whom whose when where why how"))
"""Words of questions whose answer is not in the question, unless it is a choice ("or")."""


def check_short_answers(
    question: str,
    text: str,
    statements: Sequence[Statement],
    ranked: Sequence[Judged],
    threshold: float,
    rarity: Rarity,
) -> tuple[Statement, ...]:
    """Return the statements of an answer's ``text``; short answers that no sentence of the ``ranked`` ones connects with
    the question are not supported. An answer in the question's own words needs a sentence that would be quoted, from the
    ``threshold`` on, and to "who" or "when" it is none.
    """
    repeating = () if _is_open(question) else [s for s in ranked if s.probability >= threshold]
    asked = frozenset(rarity.terms(question))
    owns = [without_marks(text[statement.start : statement.end]) for statement in statements]
    claims = [claim_terms(own, rarity) for own in owns]
    alone = sum(map(bool, claims)) == 1
    checked = []
    for statement, own, claim in zip(statements, owns, claims, strict=True):
        new = [term for term in claim if term not in asked]
        is_answer = not _ANSWER.isdisjoint(rarity.terms(own)) or (
            alone and (len(claim) <= MAX_TERMS or not new)
        )
        if statement.supported and claim and is_answer and len(new) <= MAX_TERMS:
            statement = _checked(statement, text, new or claim, ranked if new else repeating)
        checked.append(statement)
    return tuple(checked)


def _is_open(question: str) -> bool:
    asked = words(question)
    return "or" not in asked and not _OPEN.isdisjoint(asked[:3])


def _checked(statement: Statement, text: str, claim: Collection[str], ranked: Sequence[Judged]) -> Statement:
    having = [s for s in ranked if s.passage.said_by(s.text).issuperset(claim)]
    if _best(s for s in having if s.passage.number in statement.citations) >= LEAST:
        return statement
    best = _best(having)
    if best >= LEAST:
        number = next(s.passage.number for s in having if s.probability == best)
        return replace(statement, citations=(*statement.citations, number))
    own = cited(text[statement.start : statement.end])
    return replace(statement, citations=own, support=min(statement.support, best), supported=False)


def _best(found: Iterable[Judged]) -> float:
    return max((sentence.probability for sentence in found), default=0.0)
