"""Checks each sentence of a language model's answer by the parts of passages that were judged for an answer without one.

A sentence is supported by a part (a sentence or two, a row, a list, code, a paragraph) that says it, with all its names
and numbers; a table as a whole is none, since it has the values of all names. Whether a part says it is told by a
regression, fitted by ``experiments/answers/fit.py`` on statements; whether it answers the question by its judgement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from trivium.answering.citation_marks import cited, without_marks
from trivium.answering.judge_parts import Judged
from trivium.answering.rarity import Rarity, names_and_numbers
from trivium.answering.table_rows import MOST_ROWS
from trivium.common.log_odds import probability_of
from trivium.graph.protocols import TextSearch
from trivium.text.normalise import sentences, terms, words
from trivium.types import ChunkKind, Statement

INTERCEPT = -20.2124
WEIGHTS: Mapping[str, float] = {"new": 6.4667, "said": 3.5077, "names": 5.4606, "numbers": 9.3303}
SUPPORTED = 0.86
"""Probability from which a part says what a sentence says: no name or number may be missing."""
MAX_TERMS = 4
"""Longer statements say by themselves what they claim of the things they name."""
LEAST = 0.005
"""Minimum probability that the part of a short statement ("The answer is: Asaph Hall.") answers the question."""
_TABLES = frozenset([ChunkKind.TABLE, ChunkKind.INFOBOX])
_ANSWER = frozenset(terms("answer"))
_OF_THE_ANSWER = frozenset(terms("answer answers question questions passage passages according"))
"""Words with which a model refers to its own answer. They need no support."""
_YES_OR_NO = frozenset(["yes", "no"])

_OPEN = frozenset(words("who whom whose when where why how"))
"""Words of questions whose answer is not in the question, unless it is a choice ("or")."""


class Checked(NamedTuple):
    """A statement, and the part that supports it, if it makes a claim and there is one."""

    statement: Statement
    by: Judged | None


class Source(NamedTuple):
    """A part that may support statements, with the terms and the words of it and of what stands above it."""

    judged: Judged
    said: frozenset[str]
    words: frozenset[str]

    @property
    def number(self) -> int:
        """The number of its passage."""
        return self.judged.passage.number


@dataclass(frozen=True, slots=True)
class Claim:
    """What a statement claims: its terms, those that the question does not have, its names and its numbers."""

    terms: list[str]
    new: list[str]
    names: list[str]
    numbers: list[str]

    @classmethod
    def of(cls, question: str, statement: str, rarity: Rarity) -> Claim:
        """Read a statement of an answer."""
        claim = [term for term in rarity.content(statement) if term not in _OF_THE_ANSWER]
        asked = frozenset(rarity.terms(question))
        named = names_and_numbers(statement)
        numbers = [word for word in named if any(c.isdigit() for c in word)]
        new = [term for term in claim if term not in asked]
        return cls(claim, new, [word for word in named if word not in numbers], numbers)

    def features(self, source: Source, rarity: Rarity) -> dict[str, float]:
        """Return how much of the claim, and of what is new in it, a part says, and whether it has all names and numbers,
        since a single wrong one makes the statement wrong; each in [0, 1].
        """
        return {
            "said": rarity.covered(self.terms, source.said),
            "new": rarity.covered(self.new, source.said),
            "names": _none_missing(self.names, source.words),
            "numbers": _none_missing(self.numbers, source.words),
        }

    def found_in(self, sources: Sequence[Source], rarity: Rarity) -> list[tuple[float, Source]]:
        """Return each part with the probability that it says what is claimed, and if none does, also several rows
        together, each of which has a word of the claim that is no number ("Oslo has 709,000 inhabitants, Bergen
        291,000").
        """
        found = [(supports(self.features(source, rarity)), source) for source in sources]
        rows = [source for source in sources if source.judged.part.kind == "row"]
        if rows and max(share for share, _ in found) < SUPPORTED:
            whole = self._together(rows, rarity)
            found.append((supports(self.features(whole, rarity)), whole))
        return found

    def _together(self, rows: Sequence[Source], rarity: Rarity) -> Source:
        """Return the row that has most of the claim but its numbers, with those that have more of it."""
        wanted = frozenset(term for term in self.terms if not any(c.isdigit() for c in term))
        whole = max(rows, key=lambda row: rarity.covered(wanted, row.said))
        for _ in range(MOST_ROWS):
            lacking = wanted - whole.said
            more = max(rows, key=lambda row: len(lacking & row.said))
            if lacking.isdisjoint(more.said):
                break
            whole = whole._replace(said=whole.said | more.said, words=whole.words | more.words)
        return whole


def sources_of(judged: Sequence[Judged], rarity: Rarity) -> list[Source]:
    """Return the parts that may support statements: all but tables as a whole."""
    texts = [
        (one, f"{one.passage.above} {one.text}")
        for one in judged
        if not (one.part.kind == "block" and one.passage.hit.kind in _TABLES)
    ]
    return [Source(one, frozenset(rarity.terms(text)), frozenset(words(text))) for one, text in texts]


def supports(features: Mapping[str, float]) -> float:
    """Return the probability, in [0, 1], that a part with these features says what a statement says."""
    return probability_of(INTERCEPT + sum(weight * features[name] for name, weight in WEIGHTS.items()))


def check(
    question: str, text: str, judged: Sequence[Judged], store: TextSearch, answered: float
) -> list[Checked]:
    """Check the sentences of an answer's ``text`` by the ``judged`` parts of the passages that it may cite. Those as
    probable as ``answered`` answer the question.

    If no passage that a statement cites supports it, the one that does is cited as well. A sentence without a claim, or
    that announces others ("The answer is:"), needs no support; "yes" and "no" need a part that begins so and answers.
    """
    spans = [span for span in sentences(text) if words(without_marks(text[slice(*span)]))]
    statements = [without_marks(text[slice(*span)]) for span in spans]
    rarity = Rarity.of(store, [question, *statements])
    sources = sources_of(judged, rarity)
    claims = [Claim.of(question, statement, rarity) for statement in statements]
    alone = sum(bool(claim.terms) for claim in claims) == 1
    checked = []
    for span, statement, claim in zip(spans, statements, claims, strict=True):
        named = cited(text[slice(*span)])
        found = claim.found_in(sources, rarity)
        least = 0.0
        announces = statement.endswith(":") and not (claim.names or claim.numbers)
        if not claim.terms or announces:
            said = _YES_OR_NO.intersection(words(statement))
            if not said:
                checked.append(Checked(Statement(*span, named, 1.0, True), None))
                continue
            found = [(share, s) for share, s in found if words(s.judged.text)[:1] == [*said]]
            least = answered
        elif len(claim.new) <= MAX_TERMS and (
            not _ANSWER.isdisjoint(rarity.terms(statement))
            or (alone and (len(claim.terms) <= MAX_TERMS or not claim.new))
        ):
            least = LEAST if claim.new else 1.0 if _is_open(question) else answered
        checked.append(_checked(span, named, found, least))
    return checked


def _checked(
    span: tuple[int, int], named: tuple[int, ...], found: Sequence[tuple[float, Source]], least: float
) -> Checked:
    """Return a statement with the most probable answer among the parts that say it, which must be one by ``least``."""
    saying = [(share, source) for share, source in found if share >= SUPPORTED]
    best, by = max(saying, key=lambda one: one[1].judged.probability, default=(0.0, None))
    if by is None or by.judged.probability < least:
        support = max((share for share, _ in found), default=0.0)
        if by is not None:
            support = min(support, by.judged.probability)
        return Checked(Statement(*span, named, round(support, 6), False), None)
    if all(source.number not in named for _, source in saying):
        named = (*named, by.number)
    return Checked(Statement(*span, named, round(best, 6), True), by.judged)


def _is_open(question: str) -> bool:
    asked = words(question)
    return "or" not in asked and not _OPEN.isdisjoint(asked[:3])


def _none_missing(wanted: Sequence[str], there: frozenset[str]) -> float:
    """Return 1 if all are present, 1/2 if one is missing, 1/3 if two are, and so on."""
    return 1 / (1 + sum(word not in there for word in wanted))
