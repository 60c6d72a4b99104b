"""Answers by quoting: the sentences that answer, or else the closest passages, or a statement that there are none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trivium.answering.comparisons import about_each, comparison_of, decides, says_all
from trivium.answering.events import CLOSEST, NOT_FOUND
from trivium.answering.extraction import Sentence, choose, rank
from trivium.answering.marks import uncited
from trivium.answering.nearness import BEST, having_identifier, is_near
from trivium.answering.passages import NumberedPassage, respelled
from trivium.answering.rarity import Rarity
from trivium.answering.steps import Steps, asks_for_steps, steps_asked
from trivium.answering.tables import rows_asked, rows_of, tells_apart
from trivium.embedding.embedder import Embedder
from trivium.graph.protocols import SearchStore
from trivium.graph.schema import unescape
from trivium.parser.tables import head_rows
from trivium.text.headings import BETWEEN
from trivium.text.normalise import (
    STOPS,
    content_terms,
    plain,
    question_terms,
    sentences,
    terms,
    without_parenthesis,
    words,
)
from trivium.types import ChunkKind, Outcome, Statement

MAX_EXCERPT = 480
"""Maximum characters quoted of a passage when no sentence answers. A longer single sentence is truncated."""


@dataclass(frozen=True, slots=True)
class Quotation:
    """The consecutive pieces of an answer's text, and its statements: one for each piece with a citation."""

    outcome: Outcome
    pieces: tuple[str, ...]
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """For a question that was completed for the search: the terms of its ``own`` wording, and the previous
    ``answer``. A sentence only about what was carried over ("Hall discovered both moons" for "When was he born?") is
    not an answer, nor is the previous answer repeated.
    """

    own: frozenset[str] = frozenset()
    answer: str = ""


NOTHING_TOLD = Told()
_STEP = re.compile(r"(?:[^\n]+\n)*?[ \t]*\d{1,3}[.)]\s")
_REASON = re.compile(r"\b(?:because|since|due to|so that|in order to|owing to)\b", re.IGNORECASE)
_NUMBER_ASKED = re.compile(
    r"(?:\b(?:step|clause|rule|section|article|paragraph|point|item)s?\s|§)\s?(\d{1,3}(?:\.\d{1,3}){0,8})\b",
    re.IGNORECASE,
)


def quote(
    question: str,
    offered: Sequence[NumberedPassage],
    store: SearchStore,
    embedder: Embedder,
    *,
    outright: bool = True,
    told: Told = NOTHING_TOLD,
    near: bool = False,
) -> Quotation:
    """Quote an answer.

    Quotes up to three sentences if one of them answers the question (skipped without ``outright``), the three best
    passages if none does but they are near it (of a comparison, one about each of the things compared), and nothing
    otherwise. Two classifiers, fitted per embedder (``experiments/answers``), make these decisions. ``told`` describes
    a follow-up and excludes sentences that do not answer it. With ``near`` the passages are taken to be near the
    question, whatever words it has.
    """
    question = respelled(question, offered)
    rarity = Rarity.of(store, [question])
    if not offered or not rarity.terms(question):
        return absent()
    numbered = _numbered(question, offered) if outright else []
    if numbered:
        return _answered(numbered)
    comparison = comparison_of(question)
    asked_for = rows_asked(question, offered, store) if outright and comparison is None else []
    named = having_identifier(question, offered, rarity.analyzer) if comparison is None else []
    offered = named or offered
    ranked, threshold = rank(question, offered, rarity, embedder, store)
    if not (near or asked_for or is_near(question, offered, ranked, rarity, embedder.identity.name)):
        return absent()
    heads = [line for passage in offered for line in head_rows(passage.body)]
    rows = {row.text: row for passage in offered for row in rows_of(passage)}
    answering = [
        sentence
        for sentence in ranked
        if _tells(sentence, question, told, is_row=sentence.text in rows)
        and not any(sentence.text in line for line in heads)
        and (sentence.text not in rows or tells_apart(question, rows[sentence.text]))
        and (comparison is None or decides(sentence, comparison))
    ]
    # To "who" a sentence that says all of the question by itself needs no others, which may name bystanders.
    asked = set(rarity.content(question)) if words(question)[:1] == ["who"] else {""}
    outspoken = [
        one for one in answering if asked.issubset(rarity.terms(one.text)) and one.probability >= threshold
    ]
    chosen = choose(outspoken or answering, threshold) if outright else []
    meeting = [Sentence(row.passage, row.text, 1.0) for row in asked_for]
    meeting = [one for one in meeting if _tells(one, question, told, is_row=True)]
    if meeting and (not chosen or chosen[0].text in rows):
        return _answered(meeting)
    steps = steps_asked(question, offered, chosen, rarity) if outright and asks_for_steps(question) else []
    if steps:
        return _in_order(steps)
    if chosen:
        return _answered(chosen)
    if comparison is None:
        return _closest(offered[:BEST], ranked)
    each = about_each(comparison, offered, lambda asked, some: rank(asked, some, rarity, embedder, store)[0])
    if len(each) < len(comparison.names):
        return _closest(offered[:BEST], ranked)
    quoted = [sentence.passage for sentence in each]
    of_all = [
        passage for passage in offered[:1] if says_all(passage, comparison.names) and passage not in quoted
    ]
    return _closest([*of_all, *quoted], [*each, *ranked])


def _numbered(question: str, offered: Sequence[NumberedPassage]) -> list[Sentence]:
    """Return the sentence with the number that a question asks for ("What does clause 2.1 say?"), and the one after it
    if that is only a heading; none if no passage has it.
    """
    asked = _NUMBER_ASKED.search(question)
    if asked is None:
        return []
    end = r"(?!\.?\d)[.):]?" if "." in asked[1] else r"[.):]"
    begins = re.compile(rf"\W*{re.escape(asked[1])}{end}\s")
    for passage in offered:
        for at, text in enumerate(passage.sentences):
            if begins.match(text):
                count = 1 if text.rstrip().endswith(STOPS) else 2
                return [Sentence(passage, one, 1.0) for one in passage.sentences[at : at + count]]
    return []


def _tells(sentence: Sentence, question: str, told: Told, *, is_row: bool) -> bool:
    """Whether a sentence can be an answer: it says more than a title, and more than the previous answer, unless it is a
    row that has all words of the follow-up, or the reason that is asked for. The caption of a picture always can, since
    the picture answers.
    """
    said = sentence.passage.said_by(sentence.text)
    if told.own and told.own.isdisjoint(said):
        return False
    has_all = is_row and told.own <= said
    gives_reason = "why" in words(question) and _REASON.search(sentence.text) is not None
    if told.answer and _clean(sentence.text) in told.answer and not (has_all or gives_reason):
        return False
    if sentence.passage.hit.kind == ChunkKind.IMAGE:
        return True
    asked = question_terms(question)
    is_title = not sentence.text.rstrip().endswith(STOPS) and ":" not in sentence.text
    return not (is_title and (len(asked) == 1 or set(content_terms(sentence.text)).issubset(asked)))


def absent() -> Quotation:
    """Return the quotation for a collection that has nothing near the question."""
    return Quotation("absent", (NOT_FOUND,), ())


def _answered(chosen: Sequence[Sentence]) -> Quotation:
    lines: list[tuple[str, int]] = []
    subject = ""
    for sentence in chosen:
        own = _quoted(sentence.passage, sentence.text)
        if any(own in line for line, _ in lines):
            continue  # another line of the same code
        here = _subject(sentence.passage)
        named = here == subject or _names(own, here)
        subject = here
        lines.append((own if named else f"{here}: {own}", sentence.passage.number))
    return _composed("answered", "", lines)


def _in_order(steps: Sequence[Steps]) -> Quotation:
    """Quote the parts of a list with the line ends between its items."""
    lines = [(_lines(part.text), part.passage.number) for part in steps]
    subject = _subject(steps[0].passage)
    if not _names(lines[0][0], subject):
        lines[0] = f"{subject}:\n{lines[0][0]}", lines[0][1]
    return _composed("answered", "", lines)


def _quoted(passage: NumberedPassage, sentence: str) -> str:
    """Return a sentence with what it announces. Code is quoted as it is written, whole and with what announces it, and
    all numbered steps that are announced.
    """
    body = passage.body
    if passage.hit.kind != ChunkKind.CODE:
        return _clean(with_list(body, sentence))
    start = body.find(sentence)
    begin = body.rfind(BETWEEN, 0, start) + len(BETWEEN) if BETWEEN in body[:start] else 0
    before = body[:begin].rstrip()
    if before.endswith(":"):
        begin = before.rfind(BETWEEN) + len(BETWEEN) if BETWEEN in before else 0
    end = body.find(BETWEEN, start)
    announces = end >= 0 and body[begin:end].endswith(":") and not _STEP.match(body, begin)
    while end >= 0 and (
        body[begin:end].endswith(":") or (announces and _STEP.match(body, end + len(BETWEEN)))
    ):
        end = body.find(BETWEEN, end + len(BETWEEN))
    return _lines(body[begin : end if end >= 0 else len(body)])


def _lines(code: str) -> str:
    """Return code in a quotation as it is written: with its line ends, its indentation and its brackets (``row[1]``)."""
    return plain(code.rstrip())


def _closest(offered: Sequence[NumberedPassage], ranked: Sequence[Sentence]) -> Quotation:
    lines = []
    for passage in offered:
        best = next((sentence.text for sentence in ranked if sentence.passage is passage), "")
        text = passage.hit.text if best in passage.stated else passage.body
        own, here = excerpt(text, best), _subject(passage)
        own = _lines(own) if passage.hit.kind == ChunkKind.CODE else _clean(own)
        lines.append((own if _names(own, here) else f"{here}: {own}", passage.number))
    return _composed("closest", CLOSEST, lines)


def _composed(outcome: Outcome, opening: str, lines: Sequence[tuple[str, int]]) -> Quotation:
    """Join the opening and the lines, each with its citation. Whole sentences are joined by spaces; passages, and
    rows of tables, which have no full stop, get separate lines.
    """
    pieces = [opening] if opening else []
    statements = []
    length = len(opening)
    between = "\n" if opening else ""
    for own, number in lines:
        piece = f"{between}{own} [{number}]"
        statements.append(Statement(length + len(between), length + len(piece), (number,), 1.0, True))
        pieces.append(piece)
        length += len(piece)
        between = " " if not opening and "\n" not in own and own.endswith(STOPS) else "\n"
    return Quotation(outcome, tuple(pieces), tuple(statements))


def excerpt(text: str, best: str, longest: int = MAX_EXCERPT) -> str:
    """Return the sentences of a passage around the ``best`` one, as many as fit into ``longest`` characters, with an
    ellipsis for omitted ones. A longer sentence is truncated.

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
        # A sentence that does not fit stops the growth on its side, so that no sentence is omitted in between.
        if high - low == last - first + 1 and spans[high][1] - spans[low][0] <= longest:
            first, last = low, high
    start, end = spans[first][0], min(spans[last][1], spans[first][0] + longest)
    before = "… " if first > 0 else ""
    return f"{before}{text[start:end]}{' …' if end < spans[-1][1] else ''}"


def with_list(text: str, sentence: str, longest: int = MAX_EXCERPT) -> str:
    """Return a sentence of a text. If it ends with a colon, what it announces follows, up to the next blank line, as far
    as that fits into ``longest`` characters.

    >>> with_list("The team has two:\\n\\nAda\\nGrace\\n\\nIt grows.", "The team has two:")
    'The team has two:\\n\\nAda\\nGrace'
    """
    start = text.find(sentence) if sentence.endswith(":") else -1
    if start < 0:
        return sentence
    after = start + len(sentence)
    announced = text[after:].lstrip()
    block = len(text) - len(announced) + len(announced.split("\n\n", 1)[0].rstrip())
    ends = [min(end, block) for first, end in sentences(text) if after <= first < block]
    end = max((end for end in ends if end - start <= longest), default=after)
    return f"{text[start:end]}{' …' if ends and end < ends[-1] else ''}"


def _neighbours(place: int, count: int) -> Iterator[int]:
    """Iterate over the positions around one, nearest first, following before preceding."""
    for distance in range(1, count):
        for other in (place + distance, place - distance):
            if 0 <= other < count:
                yield other


def _clean(text: str) -> str:
    """Return a text in one line. Rows of tables and list items, which have no full stop, are separated by semicolons."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    parted = [line if line.endswith((*STOPS, ";", ":", ",")) else f"{line};" for line in lines if line]
    return uncited(plain(" ".join(parted))).removesuffix(";")


def _subject(passage: NumberedPassage) -> str:
    return _clean(without_parenthesis(unescape(passage.hit.page)))


def _names(text: str, subject: str) -> bool:
    """Whether a text names its subject, by its title or by a name's last word ("Hall" for Asaph Hall)."""
    said, title = set(terms(text)), terms(subject)
    return bool(title) and (said.issuperset(title) or title[-1] in said)
