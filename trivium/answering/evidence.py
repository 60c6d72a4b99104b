"""What a part of a passage has of a question, as some fifty plain features: how much of the question it says itself and
with its headings, how near its sentences are in meaning, which numbers, years, names and kinds of values it has, its form
and that of the question. :mod:`trivium.answering.judge_parts` tells from them how probably it answers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trivium.answering.answer_parts import Part
from trivium.answering.rarity import Rarity, names_and_numbers
from trivium.answering.sentence_vectors import vectors_of
from trivium.answering.steps import asks_for_steps
from trivium.common.arrays import dots
from trivium.embedding.embedder import Embedder
from trivium.graph.protocols import SearchStore
from trivium.parser.tables import cells_of
from trivium.text.normalise import without_closing_marks, words
from trivium.types import ChunkKind

_OF_ALL = ("said_with_headings", "said_by_passage", "names_in_passage", "rarest_in_passage", "cosine")
_MANY = 30
_FEW = 5
NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
YEAR = re.compile(r"(?<![\d.,])(?:1\d|20)\d\d(?![\ds]|[.,]\d)")
VERSION = re.compile(r"(?:\b(?:version|release)\s|(?<![\w.])v?(?=\d+\.))(\d+(?:\.\d+){0,3})(?![\w%]|\.\d)")
_REASON = re.compile(
    r"\b(?:because|since|due to|so that|in order|owing|reasons?|otherwise|therefore)\b", re.IGNORECASE
)
_VALUES = (
    (
        re.compile(
            r"(?i)\b(?:costs?|prices?|fees?|charges?|rents?|expensive|dear(?:er|est)?|cheap(?:er|est)?|pays?"
            r"|salary|income|dividends?)\b"
        ),
        re.compile(r"(?i)[€$£¥]|\b(?:EUR|USD|GBP|CHF|euros?|dollars?|pounds?|cents?|free)\b|per ?cent|%"),
    ),
    (
        re.compile(r"(?i)\bhow (?:deep|high|tall|wide|far)\b|\b(?:depth|height|width|distance|length)\b"),
        re.compile(r"(?i)\d\s?(?:mm|cm|m|km|ft|feet|inch(?:es)?|miles?|met(?:er|re)s?)\b|\(c?m\)"),
    ),
    (
        re.compile(r"(?i)\bhow (?:big|large)\b|\b(?:areas?|sizes?|capacity)\b"),
        re.compile(
            r"(?i)\d\s?(?:m²|m2|m³|km²|ha|acres?|square|cubic|[KMGT]i?B|mm|cm|m|km|litres?|liters?|l)\b|\(m²\)"
        ),
    ),
    (
        re.compile(r"(?i)\bhow (?:long|often|old)\b|\bduration\b"),
        re.compile(
            r"(?i)(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve))\s?-?(?:s|sec(?:ond)?s?"
            r"|min(?:ute)?s?|h|hours?|days?|nights?|weeks?|months?|years?|evenings?|mornings?|times)\b"
            r"|\b(?:once|twice|every|daily|weekly|monthly|yearly)\b"
        ),
    ),
    (
        re.compile(r"(?i)\bwhen\b|\b(?:what|which) (?:time|date|day|year|month)\b"),
        re.compile(
            r"(?i)\d[:.]\d\d\b|\b(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\b|\b(?:mon"
            r"|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:1\d|20)\d\d\b|\d{4}-\d\d|\b(?:morning|noon|evening"
            r"|night|daily|century)\b"
        ),
    ),
    (
        re.compile(r"(?i)\b(?:phone|telephone|fax|mobile|extension)\b"),
        re.compile(r"(?i)\+?\d[\d /()-]{2,}\d"),
    ),
    (re.compile(r"(?i)\be-?mail\b"), re.compile(r"(?i)\w@\w")),
)
"""What a question asks for, and how values of that kind are written."""
_QUANTITIES = frozenset(words("many much long old deep high far big tall wide heavy fast large"))
_PRICES = frozenset(words("cost costs price fee charge charges"))
_TIMES = frozenset(words("time year date day"))
_SUPERLATIVE = re.compile(r"\b(?:most|least|fewest|[a-z]{3,}est|second|third|last)\b")
_SEVERAL = re.compile(r"(?:which|what|list|name|give|show)\b.{0,60}?\b[a-z]{2,}s\b")
_DEFINING = re.compile(r"(?:what is|what's|what are|what does|who is|who was|define|meaning of)\b")
_DEFINES = re.compile(
    r"\W{0,5}(?:[\w'’()-]+\s+){0,5}?[\w'’()-]+(?::\s|\s(?:is|are|means?|refers?)\s)", re.IGNORECASE
)
_OPENING = 6
"""Words at the beginning of a part, where its subject stands."""


def of_all(rows: Sequence[Mapping[str, float]], best: float) -> list[float]:
    """Return what all parts together have of the question, for whether they are about it: how much of its weight the best
    part says with its headings, and the best passage; of its names; whether a passage has its rarest term; the highest
    cosine (not without an embedder); and the ``best`` probability that a part answers.
    """
    highest = {name: max(row[name] for row in rows) for name in rows[0] if name in _OF_ALL}
    if highest["names_in_passage"] < 0:
        highest["names_in_passage"] = highest["said_by_passage"]
    return [*(highest[name] for name in _OF_ALL if name in highest), best]


def as_rows(rows: Sequence[Mapping[str, float]]) -> NDArray[np.float32]:
    """Return features as a matrix (n, columns), in the order of the first row."""
    return np.array([list(row.values()) for row in rows], dtype=np.float32)


def features(
    question: str,
    parts: Sequence[Part],
    rarity: Rarity,
    embedder: Embedder | None,
    store: SearchStore | None = None,
) -> list[dict[str, float]]:
    """Return the features of the parts of passages, the same ones in the same order for each. Those of meaning are
    included only with an embedder.
    """
    asked = _Asked.of(question, rarity)
    lists: dict[int, list[Part]] = {}
    for part in parts:
        if part.kind == "list":
            lists.setdefault(part.passage.number, []).append(part)
    rows = [_of_words(asked, part, rarity, lists.get(part.passage.number, ())) for part in parts]
    for row, more in zip(rows, _told_apart(asked, parts, rarity), strict=True):
        row |= more
    leading = ["said", "said_with_headings"]
    if embedder is not None:
        for row, meant in zip(rows, of_meaning(question, parts, embedder, store), strict=True):
            row |= meant
        leading.append("cosine")
    for name in leading:
        best = max(row[name] for row in rows)
        for row in rows:
            row[f"{name}_gap"] = row[name] - best
    return rows


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question: its words, its terms, rarest first, those of its names, its numbers and years."""

    words: list[str]
    terms: list[str]
    names: list[str]
    numbers: frozenset[str]
    years: frozenset[str]
    versions: frozenset[str]
    form: Mapping[str, float]
    wants: Mapping[str, bool]
    values: tuple[re.Pattern[str], ...]

    def cell_in(self, part: Part) -> float:
        """Return 1 if a cell of a row is a phrase of the question, else 0."""
        said = f" {' '.join(self.words)} "
        cells = (words(cell) for _, cell in cells_of(part.text))
        return float(any(f" {' '.join(cell)} " in said for cell in cells if cell))

    def value_in(self, text: str) -> float:
        """Return 1 if a text has a value of the kind asked for, -1 if it has none, 0 if none is asked for."""
        return _wanted(bool(self.values), any(value.search(text) for value in self.values))

    @classmethod
    def of(cls, question: str, rarity: Rarity) -> _Asked:
        """Read a question."""
        own, text = words(question), question.lower()
        beginning = own[:4]
        form = {
            "asks_for_steps": float(asks_for_steps(question)),
            "asks_for_several": float(_SEVERAL.match(text) is not None),
            "asks_for_the_most": float(_SUPERLATIVE.search(text) is not None),
            "asks_for_a_meaning": float(_DEFINING.match(text) is not None),
        }
        wants = {
            "number": ("how" in own and not _QUANTITIES.isdisjoint(own)) or not _PRICES.isdisjoint(own),
            "time": "when" in beginning or ("what" in own and not _TIMES.isdisjoint(own)),
            "person": not {"who", "whom", "whose"}.isdisjoint(beginning),
            "reason": "why" in beginning,
        }
        return cls(
            own,
            sorted(rarity.content(question), key=lambda term: -rarity.weights.get(term, 0.0)),
            [term for name in names_and_numbers(question) for term in rarity.terms(name)],
            frozenset(NUMBER.findall(question)),
            frozenset(YEAR.findall(question)),
            frozenset(VERSION.findall(question)),
            form,
            wants,
            tuple(value for kind, value in _VALUES if kind.search(question)),
        )


def _list_above(part: Part, lists: Sequence[Part]) -> Part | None:
    """Return the list that a part is an item of."""
    return next(
        (
            one
            for one in lists
            if one.start <= part.start and part.end <= one.end and one.end - one.start > part.end - part.start
        ),
        None,
    )


def _of_words(asked: _Asked, part: Part, rarity: Rarity, lists: Sequence[Part]) -> dict[str, float]:
    passage, text = part.passage, part.shown
    above = passage.above
    opening = frozenset(rarity.terms(" ".join(text.split()[:_OPENING])))
    said, headings = frozenset(rarity.terms(text)), frozenset(rarity.terms(above))
    both = said | headings
    numbers = frozenset(NUMBER.findall(text))
    years = frozenset(YEAR.findall(f"{text} {above}"))
    new_names = [name for name in names_and_numbers(text) if name not in asked.words]
    new_numbers = bool(numbers - asked.numbers)
    end = text.rstrip()[-1:]
    above_it = part if part.kind == "list" else _list_above(part, lists)
    announced = "" if above_it is None else above_it.shown.strip().splitlines()[0]
    covered, by_headings = rarity.covered(asked.terms, said), rarity.covered(asked.terms, headings)
    return {
        "said": covered,
        "said_with_headings": rarity.covered(asked.terms, both),
        "said_by_headings": by_headings,
        "said_by_headings_alone": by_headings * (1 - covered),
        "said_by_passage": rarity.covered(asked.terms, passage.said),
        "rarest": float(asked.terms[:1] != [] and asked.terms[0] in said),
        "rarest_with_headings": float(asked.terms[:1] != [] and asked.terms[0] in both),
        "second_with_headings": float(len(asked.terms) < 2 or asked.terms[1] in both),
        "names": rarity.covered(asked.names, both) if asked.names else -1.0,
        "names_in_passage": rarity.covered(asked.names, both | passage.said) if asked.names else -1.0,
        "names_missing": float(sum(name not in both and name not in passage.said for name in asked.names)),
        "rarest_in_passage": float(
            asked.terms[:1] != [] and (asked.terms[0] in passage.said or asked.terms[0] in both)
        ),
        "heaviest_missing": max(
            (rarity.weights.get(one, 0.0) for one in asked.terms if one not in both), default=0.0
        ),
        "numbers": _share(asked.numbers, numbers),
        "versions": _share(asked.versions, frozenset(VERSION.findall(f"{text} {above}"))),
        "versions_in_passage": _share(asked.versions, frozenset(VERSION.findall(f"{passage.body} {above}"))),
        "years_in_passage": _share(asked.years, frozenset(YEAR.findall(f"{passage.body} {above}"))),
        "years": _share(asked.years, years),
        "other_years": float(len(years - asked.years)),
        "new_numbers": float(min(_FEW, len(numbers - asked.numbers))),
        "number_wanted": _wanted(asked.wants["number"], new_numbers),
        "time_wanted": _wanted(asked.wants["time"], new_numbers),
        "value_wanted": asked.value_in(text),
        "person_wanted": _wanted(asked.wants["person"], any(not name[0].isdigit() for name in new_names)),
        "reason_wanted": _wanted(asked.wants["reason"], _REASON.search(text) is not None),
        "new_names": float(min(_FEW, len(new_names))),
        "new_terms": float(min(_MANY, len(said.difference(asked.terms)))),
        "log_length": math.log(1 + len(text)),
        "announces": float(end == ":"),
        "item": float(above_it is not None and above_it is not part),
        "announced": rarity.covered(asked.terms, frozenset(rarity.terms(announced))) if announced else -1.0,
        "several_lines": float(min(_FEW, text.strip().count("\n"))),
        "defines": float(_DEFINES.match(text) is not None and opening.issuperset(asked.terms)),
        "is_question": float(end == "?"),
        "ends": float(end in ".!?"),
        "begins_with_subject": float(not opening.isdisjoint(asked.terms)),
        "is_first": float(part.start == 0),
        "log_rank": math.log(passage.number),
        "exact_cell": asked.cell_in(part) if part.kind == "row" else 0.0,
        "table": float(passage.hit.kind == ChunkKind.TABLE),
        "list": float(passage.hit.kind == ChunkKind.LIST),
        "code": float(passage.hit.kind == ChunkKind.CODE),
        **asked.form,
    }


def _told_apart(asked: _Asked, parts: Sequence[Part], rarity: Rarity) -> list[dict[str, float]]:
    """Return how well each part is told apart from others of its passage by the question: the share that it says of the
    question's terms, weighted by how few sentences or rows of the passage have them ("blue" in a table of bins), and
    how many of its own sentences or rows have none of these terms.
    """
    rows: list[dict[str, float]] = []
    by_passage: dict[int, tuple[dict[str, float], dict[str, frozenset[str]]]] = {}
    for part in parts:
        number = part.passage.number
        if number not in by_passage:
            said = {text: frozenset(rarity.terms(text)) for text in part.passage.sentences}
            counts = {term: sum(term in one for one in said.values()) for term in asked.terms}
            weights = {term: 1 - count / (len(said) + 1) for term, count in counts.items() if count}
            by_passage[number] = weights, said
        weights, said = by_passage[number]
        own = frozenset(rarity.terms(part.text))
        total = sum(weights.values())
        inside = [terms for text, terms in said.items() if text in part.text]
        idle = sum(weights.keys().isdisjoint(terms) for terms in inside)
        rows.append(
            {
                "told_apart": sum(weight for term, weight in weights.items() if term in own) / total
                if total
                else -1.0,
                "idle": idle / len(inside) if inside else -1.0,
            }
        )
    return rows


def _share(asked: frozenset[str], found: frozenset[str]) -> float:
    """Return the share of what was asked for that was found; -1 if nothing was asked for."""
    return len(asked & found) / len(asked) if asked else -1.0


def _wanted(wanted: bool, there: bool) -> float:
    """Return 1 if something is wanted and there, -1 if it is not there, 0 if it is not wanted."""
    return float(wanted) * (1.0 if there else -1.0)


def of_meaning(
    question: str, parts: Sequence[Part], embedder: Embedder, store: SearchStore | None
) -> list[dict[str, float]]:
    """Return cosines of a question with the sentences of parts: the highest and the mean of each part, the highest of
    its passage, and how far the first exceeds the mean of all sentences.
    """
    passages = {part.passage.number: part.passage for part in parts}
    pairs = [
        (passage, text) for passage in passages.values() for text in passage.sentences or (passage.body,)
    ]
    # Some embedders treat a closing mark as a word, which would change the answer.
    asked = embedder.embed_query(without_closing_marks(question))
    cosines = dots(vectors_of(pairs, embedder, store), asked).tolist()
    mean = sum(cosines) / len(cosines)
    spans: dict[int, list[tuple[int, int, float]]] = {number: [] for number in passages}
    for (passage, text), cosine in zip(pairs, cosines, strict=True):
        own = spans[passage.number]
        start = max(0, passage.body.find(text, own[-1][1] if own else 0))
        own.append((start, start + len(text), cosine))
    rows = []
    for part in parts:
        own = spans[part.passage.number]
        of_passage = max(cosine for _, _, cosine in own)
        inside = [cosine for start, end, cosine in own if start < part.end and end > part.start] or [
            of_passage
        ]
        highest = max(inside)
        rows.append(
            {
                "cosine": highest,
                "cosine_mean": sum(inside) / len(inside),
                "cosine_of_passage": of_passage,
                "cosine_lead": highest - mean,
                "sentences": float(len(inside)),
            }
        )
    return rows
