"""The parts of passages that can be an answer: a sentence, two that follow one another, a line, a row of a table, a
block between blank lines, a list over the borders of passages, code with what announces it, or all of a
passage. Parts overlap: :mod:`trivium.answering.evidence` tells which of them answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from trivium.answering.passages import MAX_SENTENCE, NumberedPassage
from trivium.answering.steps import lists_of, whole_list
from trivium.answering.table_rows import Row, rows_of
from trivium.parser.tables import head_rows
from trivium.text.normalise import sentences
from trivium.types import AnswerForm, ChunkKind

MAX_BLOCK = 1500
"""Characters of a block, a list or a passage that can be an answer; code may be longer."""
_BLOCK = re.compile(r"(?:[^\n]+(?:\n|\Z))+")
_NEXT = re.compile(r"[ \t]{0,8}(?:\(?(?:\d{1,3}|[a-z])[.)]|\d{1,3}(?:\.\d{1,3}){1,3}\.?|[•‣▪◦*–-])\s")
"""How items and numbered clauses begin, which say nothing together with the one before."""
_LEANS = re.compile(
    r"\W{0,3}(?:it|its|they|their|this|these|that|those|he|his|she|her|both)\b", re.IGNORECASE
)
"""How a sentence begins of which the one before says what it is about."""
_ENDS = (".", "!", "?", ":")
_TABLES = frozenset([ChunkKind.TABLE, ChunkKind.INFOBOX])


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Characters ``start`` to ``end`` of the body of a passage, which read ``text``, and of a list what belongs to it in
    other passages, in the order of the document.
    """

    passage: NumberedPassage
    kind: AnswerForm
    start: int
    end: int
    text: str
    more: tuple[Part, ...] = ()
    """All parts of a list that is in several passages, this one among them."""

    @property
    def shown(self) -> str:
        """What an answer says of it."""
        return "\n".join(one.text for one in self.more) or self.text

    @property
    def is_list(self) -> bool:
        """Whether it is a list, or more than a sentence of a passage that is one."""
        return self.kind == "list" or (self.kind == "block" and self.passage.hit.kind == ChunkKind.LIST)


def parts_of(offered: Sequence[NumberedPassage]) -> list[Part]:
    """Return the distinct parts of some passages, in their order."""
    found: list[Part] = []
    for passage in offered:
        # The heads of a table say nothing by themselves.
        seen = {" ".join(line.split()) for line in head_rows(passage.body)}
        for part in _parts(passage, offered):
            text = " ".join(part.shown.split())
            if text not in seen and len(text) > 1:
                seen.add(text)
                found.append(part)
    return found


def with_antecedent(part: Part) -> Part:
    """Return a sentence that begins with a pronoun together with the one before it in its paragraph, and any other part
    as it is.
    """
    if part.kind != "sentence" or not _LEANS.match(part.text):
        return part
    body = part.passage.body
    before = [start for start, end in sentences(body[: part.start]) if "\n" not in body[end : part.start]]
    return _part(part.passage, part.kind, before[-1], part.end) if before else part


def part_of_row(row: Row) -> Part:
    """Return a row of a table as a part."""
    start = row.passage.body.find(row.text)
    return Part(row.passage, "row", start, start + len(row.text), row.text)


def _parts(passage: NumberedPassage, offered: Sequence[NumberedPassage]) -> Iterator[Part]:
    body, kind = passage.body, passage.hit.kind
    lists = [one for one in lists_of(passage) if one.first >= 0]
    for items in lists:
        if "\n" not in items.text:
            yield _part(passage, "list", items.start, items.end)  # not a line as any other
    if kind != ChunkKind.CODE:
        yield from _sentences_and_lines(passage)
    blocks = [(one.start(), one.end()) for one in _BLOCK.finditer(body)]
    for place, (start, end) in enumerate(blocks):
        whole: AnswerForm = "code" if kind == ChunkKind.CODE else "block"
        if whole == "code" or end - start < MAX_BLOCK:
            yield _part(passage, whole, start, end)
        if (
            whole == "code"
            and "\n" not in body[start:end].rstrip("\n")
            and body[start:end].rstrip().endswith(".")
        ):
            for first, last in sentences(body[start:end]):
                yield _part(passage, "sentence", start + first, start + last)
        above = blocks[place - 1] if place else (0, 0)
        if body[slice(*above)].rstrip().endswith("?") and end - above[0] < MAX_SENTENCE:
            yield _part(passage, "sentence", above[0], end)  # with the question that it answers
        if body[slice(*above)].rstrip().endswith(_ENDS if whole == "code" else ":"):  # what announces it
            same = takewhile(lambda one: not _is_prose(body[slice(*one)]), blocks[place:])
            yield _part(
                passage, whole if whole == "code" else "list", above[0], max([end, *(one for _, one in same)])
            )
    for items in lists:
        everywhere = whole_list(items, offered)
        more = tuple(_part(one.passage, "list", one.start, one.end) for one in everywhere)
        yield Part(passage, "list", items.start, items.end, items.text, more if len(more) > 1 else ())
    if len(body) < MAX_BLOCK or kind == ChunkKind.CODE:
        yield _part(passage, "code" if kind == ChunkKind.CODE else "block", 0, len(body))


def _is_prose(text: str) -> bool:
    """Whether a block ends as sentences do; lines of code and short items, of which others belong to them, do not."""
    return text.rstrip().endswith(_ENDS)


def _sentences_and_lines(passage: NumberedPassage) -> Iterator[Part]:
    body = passage.body
    rows = {row.text for row in rows_of(passage)}
    spans = [(start, min(end, start + MAX_SENTENCE)) for start, end in sentences(body)]
    for start, end in spans:
        if not _only_heads(passage, start, end):
            yield _part(passage, "row" if body[start:end] in rows else "sentence", start, end)
    if passage.hit.kind not in _TABLES:
        for (start, _), (second, end) in pairwise(spans):
            if end - start < MAX_SENTENCE and not _NEXT.match(body, second) and body[second:end] not in rows:
                yield _part(passage, "sentence", start, end)
    at = 0
    for line in body.splitlines(keepends=True):
        text = line.rstrip("\n")
        if not _only_heads(passage, at, at + len(text)):
            yield _part(passage, "row" if text in rows else "sentence", at, at + len(text))
        at += len(line)


def _only_heads(passage: NumberedPassage, start: int, end: int) -> bool:
    """Whether a line is the title of the paragraph that it begins ("Friday 3 May ....."), and says nothing without it."""
    body, line = passage.body, passage.body[start:end].rstrip()
    if passage.hit.kind != ChunkKind.PARAGRAPH or (start and not body[:start].endswith("\n\n")):
        return False
    titled = line.endswith("...") or not (_is_prose(line) or ":" in line)
    return titled and body[end : end + 1] == "\n" and _is_prose(body[end + 1 :].partition("\n")[0])


def _part(passage: NumberedPassage, kind: AnswerForm, start: int, end: int) -> Part:
    text = passage.body[start:end]
    end -= len(text) - len(text.rstrip("\n"))
    return Part(passage, kind, start, end, passage.body[start:end])
