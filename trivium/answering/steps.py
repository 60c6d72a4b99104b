"""Instructions: the steps of a procedure, all of them and in the order of the document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, takewhile
from typing import NamedTuple

from trivium.answering.passages import NumberedPassage
from trivium.parser.tables import cells_of
from trivium.text.normalise import STOPS, sentences, words
from trivium.types import ChunkKind

_BETWEEN = 4
"""Maximum number of characters between passages that follow one another."""
_HOW = frozenset(
    words("do does did can could should shall must may would to is are a an the i we you they one")
)
_WHAT = frozenset(words("do does must should shall can to have"))
_OPENING = frozenset(words("and but so or ok okay please now then well hi hello tell me show us explain"))
_NAMED = frozenset(words("steps instructions procedure"))
_TOLD = re.compile(
    r"\b(?:supposed to do|(?:has|have|needs?) to be done|(?:must|should) be done|(?:walk|take|talk) me through"
    r"|step by step|what now|what next)\b"
)
_ORDER = re.compile(
    r"(?:to\s[^.]{1,200},\s(?:first|begin|start)|first(?:ly)?|second(?:ly)?|third(?:ly)?|then|next|now"
    r"|after(?:wards| that| this)|finally|last(?:ly)?|in the end)\b",
    re.IGNORECASE,
)
_BEGINS = re.compile(r"\b[Ff]irst\b|(?<![\w,] )\bTo\s\w", re.ASCII)
"""How a sentence begins that tells the first step: "To change the die, lower the slide." """
_CLAUSE = re.compile(r"[,;:.!?] ")
_NUMBERED = re.compile(r"[ \t]{0,8}\d{1,3}\.\d")
_LINE = re.compile(r"[^\n]+")
_ITEM = re.compile(
    r"[ \t]{0,8}(?:(?:step\s{1,2}(?P<step>\d{1,3})\b|\(?(?P<number>\d{1,3})[.):]+(?=\s)"
    r"|\(?(?P<letter>[a-z])[.):]+(?=\s)|(?P<bullet>[•‣▪◦*–-])(?=\s)))",
    re.IGNORECASE,
)


class Steps(NamedTuple):
    """Consecutive items of a list in a passage: ``start`` and ``end`` of its body, with the line that announces them.
    ``first`` and ``last`` are their numbers, 0 for items without.
    """

    passage: NumberedPassage
    start: int
    end: int
    first: int
    last: int

    @property
    def text(self) -> str:
        """The items, as they are written."""
        return self.passage.body[self.start : self.end]


def asks_for_steps(question: str) -> bool:
    """Whether a question asks how something is done, in English.

    >>> asks_for_steps("My kiln is cold, what do I do?"), asks_for_steps("What has to be done when it cracks?")
    (True, True)
    >>> asks_for_steps("How long does it take?")
    False
    """
    return any(_asks_for_steps(words(clause)) for clause in _CLAUSE.split(question))


def _asks_for_steps(asked: list[str]) -> bool:
    while asked and asked[0] in _OPENING:
        asked = asked[1:]
    return (
        (asked[:1] == ["how"] and asked[1:2] != [] and asked[1] in _HOW)
        or (asked[:1] == ["what"] and asked[1:2] != [] and asked[1] in _WHAT and "do" in asked[2:7])
        or asked[:3] == ["what", "to", "do"]
        or not _NAMED.isdisjoint(asked)
        or _TOLD.search(" ".join(asked)) is not None
    )


def lists_of(passage: NumberedPassage) -> list[Steps]:
    """Return the lists of a passage: consecutive numbers, letters or bullets, all of a passage that is a list, or
    sentences in an order that they tell. Code and a last line with a colon, which may belong to a list in the next
    passage, have the numbers -1.
    """
    body, kind = passage.body, passage.hit.kind
    lines = [one.span() for one in _LINE.finditer(body) if not one[0].isspace()]
    if kind == ChunkKind.CODE and lines:
        return [Steps(passage, 0, len(body), -1, -1)]
    if kind == ChunkKind.TABLE:  # of two columns, the numbers and the steps
        lines = [one for one in lines if _in_two_cells(body[slice(*one)])]
    runs = _runs(body, lines)
    if not runs and kind == ChunkKind.LIST and lines:
        runs = [(0, len(lines) - 1, 0, 0)]
    found: list[Steps] = []
    for place, (begin, end, first, last) in enumerate(runs):
        behind = lines[end + 1 : runs[place + 1][0] if place + 1 < len(runs) else len(lines)]
        # What is not indented belongs to an item only in what is known to be a list.
        begins = (body[slice(*span)] for span in behind)
        goes_on = (
            (one[0].isspace() or (kind == ChunkKind.LIST and not one[0].isdigit())) and not begins_clause(one)
            for one in begins
        )
        end += sum(1 for _ in takewhile(bool, goes_on))
        if end > begin or kind == ChunkKind.LIST:
            above = body[slice(*lines[begin - 1])].rstrip() if begin else ""
            start = lines[begin if above.endswith(STOPS) or not begin else begin - 1][0]
            found.append(Steps(passage, start, lines[end][1], first, last))
    if kind != ChunkKind.TABLE:
        inside = [one for one in lines if any(items.start <= one[0] < items.end for items in found)]
        alone = [one for one in lines if one not in inside or begins_clause(body[slice(*one)])]
        found += [Steps(passage, *span, 0, 0) for span in _told_in_order(body, alone, found == [])]
        found += [Steps(passage, *span, 0, 0) for span in _announced(body, lines)]
    if lines and body.endswith(":"):
        found.append(Steps(passage, lines[-1][0], len(body), -1, -1))
    return found


def _in_two_cells(row: str) -> bool:
    """Whether a row has no more than a number and a step: "1.: Stop; wait"."""
    cells = cells_of(row)
    return "; " not in row or (len(cells) == 1 and cells[0][0] != "")


def begins_clause(text: str) -> bool:
    """Whether a text begins with the number of a clause ("8.3"), which is no item of a list."""
    return _NUMBERED.match(text) is not None


def _announced(body: str, lines: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return where a line with a colon announces items without marks: the lines below that are indented more, or that
    go on with no blank line up to the next clause.
    """
    found = []
    for at, (start, end) in enumerate(lines):
        if not body[start:end].rstrip().endswith(":"):
            continue
        until = end
        for first, last in lines[at + 1 :]:
            text = body[first:last]
            deeper = _indent(text) > _indent(body[start:end])
            if begins_clause(text) or (not deeper and (first > until + 1 or _ITEM.match(text))):
                break
            until = last
        if until > end and body.count("\n", end, until) > 1:
            found.append((start, until))
    return found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _told_in_order(body: str, lines: Sequence[tuple[int, int]], several: bool) -> list[tuple[int, int]]:
    """Return where paragraphs tell steps in an order ("Switch it off first. Then ..."), or else what ``several`` do."""
    spans = sentences(body)
    told = [span for span in spans if _ORDER.match(body, *span)]
    found = []
    for start, end in lines:
        ordered = [one for one, _ in told if start <= one < end]
        own = [one for one in spans if ordered and start <= one[0] < ordered[0]]
        begins = [one for one, until in own if _BEGINS.search(body, one, until)] + ordered[:-1]
        if begins:
            found.append((begins[0], end))
    return found or ([(told[0][0], told[-1][1])] if several and len(told) > 1 else [])


def _runs(body: str, lines: Sequence[tuple[int, int]]) -> list[tuple[int, int, int, int]]:
    """Return first and last line, first and last number of the items that follow one another, without those inside of
    others. Bullets have the number 0.
    """
    runs: list[tuple[int, int, int, int]] = []
    latest: dict[str, int] = {}
    for at, (start, end) in enumerate(lines):
        item = _ITEM.match(body, start, end)
        if item is None or item.lastgroup is None:
            if not body[start].isspace():
                latest.pop("bullet", None)
            continue
        style, number = item.lastgroup, 0
        if style == "letter":
            number = ord(item[style].lower()) - ord("a") + 1
        elif style != "bullet":
            number = int(item[style])
        begin, _, first, last = runs[latest[style]] if style in latest else (at, at, number, -2)
        if number == (last + 1 if style != "bullet" else last):
            runs[latest[style]] = begin, at, first, number
        else:
            latest[style] = len(runs)
            runs.append((at, at, number, number))
    ends = [0, *accumulate((end for _, end, _, _ in runs), max)]
    return [run for run, before in zip(runs, ends, strict=False) if run[0] > before or run is runs[0]]


def whole_list(steps: Steps, offered: Sequence[NumberedPassage]) -> list[Steps]:
    """Return a list with its parts in the passages of its section before and behind it."""
    section = steps.passage.hit.section
    same = sorted((one for one in offered if one.hit.section == section), key=lambda one: one.hit.start)
    parts = [part for passage in same for part in lists_of(passage)]
    first = last = parts.index(steps)
    while last + 1 < len(parts) and _follows(parts[last], parts[last + 1]):
        last += 1
    while first > 0 and _follows(parts[first - 1], parts[first]):
        first -= 1
    return parts[first : last + 1]


def _follows(before: Steps, after: Steps) -> bool:
    """Whether a list goes on in the next passage."""
    one, other = before.passage, after.passage
    beside = other is not one and other.hit.start - one.hit.end <= _BETWEEN
    counts = -1 in (before.last, after.first) or after.first == before.last + (before.last > 0)
    return beside and counts and before.end == len(one.body) and after.start == 0
