"""An answer in the words of the passages: sentences that answer, or else the closest passages, or that there are none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trivium.answering.classifier import load_classifier
from trivium.answering.events import CLOSEST, NOT_FOUND
from trivium.answering.extraction import Sentence, choose, rank
from trivium.answering.marks import uncited
from trivium.answering.nearness import BEST, nearness_features
from trivium.answering.passages import NumberedPassage
from trivium.answering.rarity import Rarity
from trivium.embedding.base import Embedder
from trivium.graph.protocols import SearchStore
from trivium.text import (
    STOPS,
    content_terms,
    plain,
    question_terms,
    sentences,
    terms,
    without_parenthesis,
)
from trivium.types import ChunkKind, Outcome, Statement

MAX_EXCERPT = 480
"""Characters of a passage that are quoted where no sentence answers; a single longer sentence is cut."""


@dataclass(frozen=True, slots=True)
class Quotation:
    """The pieces of an answer's text, one after the other, and its statements: one for each piece that cites."""

    outcome: Outcome
    pieces: tuple[str, ...]
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """Of a question that was completed for the search: the terms it says by ``own``, and the ``answer`` before it. A
    sentence about what was carried over alone ("Hall discovered both moons" to "When was he born?") is no answer to it,
    and the answer that was just given is none either."""

    own: frozenset[str] = frozenset()
    answer: str = ""


NOTHING_TOLD = Told()


def quote(
    question: str,
    offered: Sequence[NumberedPassage],
    store: SearchStore,
    embedder: Embedder,
    *,
    outright: bool = True,
    told: Told = NOTHING_TOLD,
) -> Quotation:
    """Quote up to three sentences where one answers the question (not so without ``outright``), the three best passages
    where none does although they are near it, and nothing where none is. Two classifiers tell these apart, fitted for
    the embedder (``experiments/answers``). ``told`` of a follow-up is what its answer must not be content with."""
    rarity = Rarity.of(store, [question])
    if not offered or not rarity.terms(question):
        return absent()
    ranked, threshold = rank(question, offered, rarity, embedder, store)
    near = load_classifier("nearness", embedder.identity.name)
    if near.probability(nearness_features(question, offered, ranked, rarity)) < near.threshold:
        return absent()
    answering = [sentence for sentence in ranked if _tells(sentence, question, told)]
    chosen = choose(answering, threshold) if outright else []
    return _answered(chosen) if chosen else _closest(offered[:BEST], ranked)


def _tells(sentence: Sentence, question: str, told: Told) -> bool:
    """Whether a sentence can be an answer: it says more than a title, and more than what was just told. That of a picture
    says which it is, and the picture answers."""
    if told.own and told.own.isdisjoint(sentence.passage.said_by(sentence.text)):
        return False
    if told.answer and _clean(sentence.text) in told.answer:
        return False
    if sentence.passage.hit.kind == ChunkKind.IMAGE:
        return True
    asked = question_terms(question)
    is_title = not sentence.text.rstrip().endswith(STOPS) and ":" not in sentence.text
    return not (is_title and (len(asked) == 1 or set(content_terms(sentence.text)).issubset(asked)))


def absent() -> Quotation:
    """That the collection has nothing near the question."""
    return Quotation("absent", (NOT_FOUND,), ())


def _answered(chosen: Sequence[Sentence]) -> Quotation:
    lines: list[tuple[str, int]] = []
    subject = ""
    for sentence in chosen:
        own = _clean(sentence.text)
        here = _subject(sentence.passage)
        named = here == subject or _names(own, here)
        subject = here
        lines.append((own if named else f"{here}: {own}", sentence.passage.number))
    return _composed("answered", "", lines)


def _closest(offered: Sequence[NumberedPassage], ranked: Sequence[Sentence]) -> Quotation:
    lines = []
    for passage in offered:
        best = next((sentence.text for sentence in ranked if sentence.passage is passage), "")
        own, here = _clean(excerpt(passage.hit.text, best)), _subject(passage)
        lines.append((own if _names(own, here) else f"{here}: {own}", passage.number))
    return _composed("closest", CLOSEST, lines)


def _composed(outcome: Outcome, opening: str, lines: Sequence[tuple[str, int]]) -> Quotation:
    """The opening and the lines, each with its citation. Whole sentences follow on each other; rows of tables, which have
    no full stop to end them, and passages stand in lines of their own."""
    pieces = [opening] if opening else []
    statements = []
    length = len(opening)
    between = "\n" if opening else ""
    for own, number in lines:
        piece = f"{between}{own} [{number}]"
        statements.append(Statement(length + len(between), length + len(piece), (number,), 1.0, True))
        pieces.append(piece)
        length += len(piece)
        between = " " if not opening and own.endswith(STOPS) else "\n"
    return Quotation(outcome, tuple(pieces), tuple(statements))


def excerpt(text: str, best: str, longest: int = MAX_EXCERPT) -> str:
    """The sentences of a passage around the ``best`` one, as many as fit into so many characters, with an ellipsis where
    some are left out. A longer sentence is cut.

    >>> excerpt("One moon. Two moons were found in 1877. Three.", "Two moons were found in 1877.", 36)
    '… Two moons were found in 1877. Three.'
    """
    spans = sentences(text)
    if not spans or len(text) <= longest:
        return text
    first = next(
        (place for place, span in enumerate(spans) if best and text[slice(*span)].startswith(best)), 0
    )
    last = first
    for grows in _neighbours(first, len(spans)):
        low, high = min(first, grows), max(last, grows)
        # One that does not fit ends the growth on its side: no sentence is left out in between.
        if high - low == last - first + 1 and spans[high][1] - spans[low][0] <= longest:
            first, last = low, high
    start, end = spans[first][0], min(spans[last][1], spans[first][0] + longest)
    before = "… " if first > 0 else ""
    return f"{before}{text[start:end]}{' …' if end < spans[-1][1] else ''}"


def _neighbours(place: int, count: int) -> Iterator[int]:
    """The places around one, the nearest first, the following before the preceding."""
    for distance in range(1, count):
        for other in (place + distance, place - distance):
            if 0 <= other < count:
                yield other


def _clean(text: str) -> str:
    """A text in one line: rows of tables and items of lists, which have no full stop, are parted by semicolons."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    parted = [line if line.endswith((*STOPS, ";", ":", ",")) else f"{line};" for line in lines if line]
    return uncited(plain(" ".join(parted))).removesuffix(";")


def _subject(passage: NumberedPassage) -> str:
    return _clean(without_parenthesis(passage.hit.page))


def _names(text: str, subject: str) -> bool:
    """Whether a text names its subject: its title, or a name's last word alone ("Hall" of Asaph Hall)."""
    said, title = set(terms(text)), terms(subject)
    return bool(title) and (said.issuperset(title) or title[-1] in said)
