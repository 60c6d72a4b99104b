"""Answers by quoting: the sentences that answer, or else the closest passages, or a statement that there are none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from trivium.answering.answer_parts import Part, part_of_row, with_antecedent
from trivium.answering.asked_kind import lacks_kind
from trivium.answering.citation_marks import uncited
from trivium.answering.clauses import asks_for_section, clause_asked, whole
from trivium.answering.comparisons import about_each, comparison_of, decides
from trivium.answering.definitions import definition_asked
from trivium.answering.events import CLOSEST, NOT_FOUND, not_found_of
from trivium.answering.in_force import in_force
from trivium.answering.judge_parts import (
    Judged,
    Judgement,
    are_about,
    confirmed,
    having_identifier,
    judge,
    says_what_is_asked,
    sure_from,
    thresholds_of,
)
from trivium.answering.missing_in_part import unsaid
from trivium.answering.passages import NumberedPassage, respelled
from trivium.answering.rarity import Rarity
from trivium.answering.table_arithmetic import Computed, computed, has_what_to_compute, to_compute
from trivium.answering.table_rows import MOST_ROWS, rows_named, tells_apart
from trivium.common.arrays import dots
from trivium.embedding.embedder import Embedder
from trivium.graph.protocols import SearchStore
from trivium.graph.schema import headings_of, unescape
from trivium.parser.tables import cells_of, head_rows
from trivium.text.normalise import (
    STOPS,
    content_terms,
    plain,
    question_terms,
    sentences,
    terms,
    without_closing_marks,
    without_parenthesis,
    words,
)
from trivium.types import AnswerForm, AnswerPart, ChunkKind, Disagreement, Outcome, Statement

_MOST_JUDGED = 40
"""Number of parts, the most probable ones, among which the answer is."""
BEST = 3
"""Number of passages that are quoted when no part answers."""
BY_RULE = 0.9
"""The probability that rows by a condition or by their names, and clauses by a number, answer: so many were right."""
MAX_EXCERPT = 480
"""Maximum characters quoted of a passage when no sentence answers. A longer single sentence is truncated."""


@dataclass(frozen=True, slots=True)
class AnswerText:
    """The consecutive pieces of an answer's text, its statements, one for each piece with a citation, and the parts of
    passages that it quotes, if it does. ``confidence`` is the probability that it answers, None of a computed
    value and where nothing does, ``disagreements`` what other documents say.
    """

    outcome: Outcome
    pieces: tuple[str, ...]
    statements: tuple[Statement, ...]
    form: AnswerForm | None = None
    parts: tuple[AnswerPart, ...] = ()
    confidence: float | None = None
    disagreements: tuple[Disagreement, ...] = ()

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self.pieces)


_LEAD_IN = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|now|well|so|thanks|thank you|by the way|btw"
    r"|(?:now )?(?:to|for|on to) something (?:else|different)|something else"
    r"|(?:another|next|different) (?:question|topic))[\s.,:;!–-]+)+(?=\w)",
    re.IGNORECASE,
)
"""How a new topic is announced in a conversation."""


def quote(
    question: str,
    offered: Sequence[NumberedPassage],
    store: SearchStore,
    embedder: Embedder,
    *,
    outright: bool = True,
    near: bool = False,
    risk: float | None = None,
    judgement: Judgement | None = None,
) -> AnswerText:
    """Quote an answer.

    Quotes the part of a passage that most probably answers the question, if it is probable enough (skipped without
    ``outright``), the three best passages if none is but they are near it (of a comparison, one about each of the things
    compared), and nothing otherwise. Boosted trees and a classifier, fitted per embedder (``experiments/answers``), make
    these decisions. With ``near`` the passages are taken to be near the question, whatever words it has.
    With a ``risk`` in (0, 1] a part is an answer if at most so great a share of answers as probable is wrong
    (:func:`trivium.answering.judge_parts.sure_from`). A ``judgement`` of all parts of the passages is not made again.
    """
    question, rarity = understood(question, offered, store)
    if not offered or not rarity.terms(question):
        return absent()
    clause = clause_asked(question, offered) if outright else []
    if clause:
        return _answered(clause, "", BY_RULE)
    defined = definition_asked(question, offered) if outright else None
    if defined is not None:
        return _answered([defined], question, BY_RULE)
    comparison = comparison_of(question)
    value = computed(question, offered, store) if outright and comparison is None else None
    if value is not None and value.text:
        return _put_together(value)
    named = having_identifier(question, offered, rarity.analyzer) if comparison is None else []
    offered = named or offered
    compared = rows_named(question, offered) if outright else []
    if compared and (comparison is None or len(compared) > 2):  # of two the best part about each is shown
        return _answered(list(map(part_of_row, compared)), question, BY_RULE)
    meeting = [one for one in map(part_of_row, () if value is None else value.rows) if _tells(one, question)]
    if len(meeting) > 1:
        return _answered(meeting, question, BY_RULE)
    if judgement is None or named:
        judgement = judge(question, offered, rarity, embedder, store)
    judged = judgement.parts
    if meeting:
        return _row_in_force(meeting[0], judged, question, lambda texts: Rarity.of(store, texts))
    if not judged:
        return _closest(offered[:BEST], judged) if near or named else absent()
    answering = [
        one
        for one in judged[:_MOST_JUDGED]
        if _tells(one.part, question)
        and tells_apart(question, one.passage, one.part.text)
        and (comparison is None or decides(one, comparison))
    ]
    best, confidence, alone = None, judgement.best, judgement.best
    others: tuple[Disagreement, ...] = ()
    if answering:
        best, confidence, alone = confirmed(question, answering, embedder.identity)
        best, others = in_force(best, answering, question, lambda texts: Rarity.of(store, texts))
    each: list[Judged] = []
    if comparison is not None:
        each = about_each(comparison, lambda asked: judge(asked, offered, rarity, embedder, store).parts)
    nothing = thresholds_of(embedder.identity.name).nothing
    of_each = outright and comparison is not None and len(each) == len(comparison.names)
    of_each = of_each and min(one.probability for one in each) >= nothing
    if not (near or named or of_each or are_about(judgement, alone, embedder.identity)):
        # What cannot be computed or selected for certain can be by whoever sees the rows.
        tables = [one for one in offered if has_what_to_compute(question, one)]
        return _closest(tables[:BEST], judged) if tables else absent()
    below = [one for one in judged[:_MOST_JUDGED] if headings_of(one.passage.hit.section)[1:]]
    if outright and below and asks_for_section(question):
        return _answered([whole(_headed(below, question, rarity, embedder))])
    lacking = unsaid(question, best.part, offered) if outright and best is not None else []
    if best is not None and lacking and not of_each:
        own = best.passage.hit.document
        same = [one for one in offered if one.hit.document == own or has_what_to_compute(question, one)]
        said_elsewhere = any(one in passage.words for one in lacking for passage in same)
        return _closest(offered[:BEST], judged) if said_elsewhere else absent(lacking)
    enough = sure_from(embedder.identity, risk)
    if (
        outright
        and best is not None
        and confidence >= enough
        and not lacking
        and not (of_each and best.part.kind == "row")
        and not to_compute(question, best.part.kind == "row", best.text)
        and not lacks_kind(question, best.part)
        and says_what_is_asked(question, best.part, embedder)
    ):
        told = _answered([with_antecedent(best.part)], question, confidence)
        return replace(told, disagreements=others)
    if comparison is None:
        return _closest(offered[:BEST], judged)
    if of_each:
        lowest = min(one.probability for one in each)
        return _answered(list(dict.fromkeys(one.part for one in each)), "", lowest)
    quoted = list({one.passage.number: one.passage for one in each}.values())
    return _closest(quoted if len(each) == len(comparison.names) else offered[:BEST], [*each, *judged])


def _row_in_force(
    row: Part, judged: Sequence[Judged], question: str, rarity_of: Callable[[Sequence[str]], Rarity]
) -> AnswerText:
    """Return a row that was chosen by a rule as an answer, or what a newer document says instead."""
    own = [one for one in judged if one.passage is row.passage and one.part.start == row.start]
    if not own:
        return _answered([row], question, BY_RULE)
    best, others = in_force(own[0], judged, question, rarity_of)
    told = _answered([row if best is own[0] else best.part], question, BY_RULE)
    return replace(told, disagreements=others)


def understood(question: str, offered: Sequence[NumberedPassage], store: SearchStore) -> tuple[str, Rarity]:
    """Return a question in the spelling of the passages, and the weights of its terms."""
    spelled = respelled(_LEAD_IN.sub("", question), offered)
    return spelled, Rarity.of(store, [spelled])


def _headed(judged: Sequence[Judged], question: str, rarity: Rarity, embedder: Embedder) -> NumberedPassage:
    """Return the passage that most probably answers and whose heading is nearest to a question, in meaning and in the
    words that its title does not say.
    """
    asked = embedder.embed_query(without_closing_marks(question))

    def score(one: Judged) -> float:
        title, *_, heading = headings_of(one.passage.hit.section)
        about = frozenset(rarity.terms(f"{title} {one.passage.hit.document}"))
        own = frozenset(rarity.content(heading)) - about
        said = rarity.covered([term for term in rarity.content(question) if term not in about], own)
        return one.probability + said / 2 + (float(dots(embedder.embed([heading]), asked)[0]) if own else 0.0)

    best_of_each = {one.passage.number: one for one in reversed(judged)}
    return max(best_of_each.values(), key=score).passage


def _tells(part: Part, question: str) -> bool:
    """Whether a part can be an answer: it says more than a title. The caption of a picture always can, since the picture
    answers.
    """
    if part.kind == "sentence" and part.text.rstrip().endswith((":", "?")):
        return False  # it only announces what answers, or asks itself
    if part.passage.hit.kind == ChunkKind.IMAGE:
        return True
    asked = question_terms(question)
    is_title = not part.text.rstrip().endswith(STOPS) and ":" not in part.text
    return not (is_title and (len(asked) == 1 or set(content_terms(part.text)).issubset(asked)))


def absent(unsaid: Sequence[str] = ()) -> AnswerText:
    """Return the quotation for a collection that has nothing near the question, or does not speak of what it names."""
    return AnswerText("absent", (not_found_of(unsaid) if unsaid else NOT_FOUND,), ())


def quoted_again(one: Judged) -> AnswerText:
    """Return a part as an answer."""
    return _answered([one.part], "", one.probability)


def _answered(chosen: Sequence[Part], question: str = "", confidence: float | None = None) -> AnswerText:
    lines: list[tuple[str, int]] = []
    subject = ""
    for part in chosen:
        for one in part.more or (part,):
            own = _lines(one.text) if _keeps_lines(one) else _clean(one.text)
            heading = one.kind == "clause" or _asks_for_a_name(question) or _told_by_heading(one, question)
            here = _under_heading(one.passage) if heading else _subject(one.passage)
            named = here == subject or (_names(own, here) and not heading)
            subject = here
            separator = "\n" if "\n" in own else " "
            lines.append((own if named else f"{here}:{separator}{own}", one.passage.number))
    every = [one for part in chosen for one in part.more or (part,)]
    quoted, parts = _composed("answered", "", lines), tuple(map(_as_quoted, every))
    return replace(quoted, form=chosen[0].kind, parts=parts, confidence=confidence)


def _put_together(value: Computed) -> AnswerText:
    """Return a computed value, which cites all passages of the table, and the first rows that it was computed from."""
    shown = [part_of_row(row) for row in value.rows[:MOST_ROWS]]
    more = len(value.rows) - len(shown)
    marks = "".join(f" [{passage.number}]" for passage in value.read)
    first = f"{value.text}{f'. The first {len(shown)} rows' if more else ''}{':' if shown else ''}{marks}"
    numbers = tuple(passage.number for passage in value.read)
    rows = _composed("answered", first, [(_clean(part.text), part.passage.number) for part in shown])
    said = Statement(0, len(first), numbers, 1.0, True)
    return replace(
        rows, statements=(said, *rows.statements), form="computed", parts=tuple(map(_as_quoted, shown))
    )


def _as_quoted(part: Part) -> AnswerPart:
    before = len(part.passage.hit.text) - len(part.passage.body)
    cells = tuple(cells_of(part.text)) if part.kind == "row" else ()
    return AnswerPart(part.passage.number, part.kind, before + part.start, before + part.end, cells)


def _keeps_lines(part: Part) -> bool:
    """Whether a part is quoted with the line ends of its source: code, lists, and rows of a table."""
    return part.kind in ("code", "list", "clause") or (part.kind == "block" and "\n" in part.text.strip())


def _lines(code: str) -> str:
    """Return a text in a quotation as it is written: with its line ends, its indentation and brackets (``row[1]``)."""
    return plain(code.rstrip())


def _closest(offered: Sequence[NumberedPassage], judged: Sequence[Judged]) -> AnswerText:
    lines = []
    for passage in offered:
        best = next((one.part.text for one in judged if one.passage is passage), "")
        own, here = excerpt(passage.body, best), _subject(passage)
        if passage.hit.kind == ChunkKind.CODE:
            own = _lines(own)
        elif passage.hit.kind in (ChunkKind.TABLE, ChunkKind.INFOBOX):
            heads = head_rows(passage.body)
            own = "\n".join(_clean(line) for line in own.splitlines() if line.strip() and line not in heads)
        else:
            own = _clean(own)
        between = "\n" if "\n" in own else " "
        lines.append((own if _names(own, here) else f"{here}:{between}{own}", passage.number))
    return replace(_composed("closest", CLOSEST, lines), form="closest")


def _composed(outcome: Outcome, opening: str, lines: Sequence[tuple[str, int]]) -> AnswerText:
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
    return AnswerText(outcome, tuple(pieces), tuple(statements))


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


def _under_heading(passage: NumberedPassage) -> str:
    return _clean(" > ".join([_subject(passage), *_innermost(passage)]))


def _innermost(passage: NumberedPassage) -> list[str]:
    """The heading directly above a passage, below the title; empty without one."""
    return list(headings_of(passage.hit.section)[1:][-1:])


def _asks_for_a_name(question: str) -> bool:
    """Whether a heading may be what is asked for ("Which command ...?", "What is ... called?")."""
    asked = words(question)
    return "which" in asked[:3] or not {"called", "name", "named"}.isdisjoint(asked)


def _told_by_heading(part: Part, question: str) -> bool:
    """Whether the heading above a part, which has no word of the question, says who, where or when ("Jonas Aker repairs
    the engines").
    """
    heading = _innermost(part.passage)
    if not heading or words(question)[:1] not in (["who"], ["whose"], ["where"], ["when"]):
        return False
    asked, said = set(question_terms(question)), set(content_terms(heading[0]))
    return not said.isdisjoint(asked) and not said <= asked and asked.isdisjoint(terms(part.text))


def _names(text: str, subject: str) -> bool:
    """Whether a text names its subject, by its title or by a name's last word ("Hall" for Asaph Hall)."""
    said, title = set(terms(text)), terms(subject)
    return bool(title) and (said.issuperset(title) or title[-1] in said)
