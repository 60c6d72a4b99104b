"""Words with a capital, and where they stand: within a sentence, at its beginning, or in a heading or a label."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container, Iterator
from typing import NamedTuple

from trivium.entities import cue_words as cues
from trivium.text.normalise import STOPS, sentences

_CAPITALS = "".join(
    c for c in map(chr, (*range(0x41, 0x590), *range(0x1E00, 0x2000))) if c.isupper() or c.istitle()
)
_CAPITAL = re.compile(
    rf"(?<![\w/\\@#$=.<{{])(?<!\w\()(?:(?:[{_CAPITALS}]\.){{2,8}}(?!\w)|(?:[ei](?=[{_CAPITALS}]\w))?[{_CAPITALS}]\w*+"
    rf"(?:[-‐‑'’]\w++|\.(?:com|org|net|js|io|ai|\d{{1,4}})\b|/(?:[A-Z]{{1,3}}|\d{{1,4}})\b)*+(?:[+][+]|#)?)"
)
"""A word with a capital; not in a path, an address or a variable."""
_BEFORE_CODE = "(=@\\/[:."
_OF_CODE = re.compile(r"[(=@\\/\[]\S|::|\.\w")
"""What follows a word of source code or of an address."""
LOWER = re.compile(r"(?<![\w'’])[^\W\d_A-Z]+")
_LETTER = re.compile(r"[^\W\d_]")
_LINE = re.compile(r"[^\n]+")
_LABEL = re.compile(r"(?:(?:^|; )(?:[^\n:;.!?]|\.\d){1,40}|, [^\n:;,.!?]{1,40}): ", re.MULTILINE)
_CONTRACTION = re.compile(r"['’](?:t|re|ve|ll|d|m)$")
_DESCRIBED = re.compile(
    r"[-‐‑](?:\w{1,12}(?:ed|ing)|based|born|style|like|era|wide|only|led|free|type|level|specific|century|made|run)$"
)
"""The end of an adjective: "London-based"."""
_LONGEST_HEADING = 100
_LONGEST_MARK = 12
"""Characters of the mark of an item before its first word."""
_OPENING_MARKS = tuple(':|•·–—>"“„«‘¿¡')

RUNNING, OPENING, LABEL = range(3)
"""Where a word stands: within a sentence, at its beginning, or in a heading, a label or a column head."""


class Word(NamedTuple):
    start: int
    end: int
    text: str
    place: int


def words_of_names(text: str, opening_words: Container[str]) -> Iterator[Word]:
    """Yield the words with a capital that may belong to names, and where they stand."""
    matches = list(_CAPITAL.finditer(text))
    if not matches:
        return
    begins = [start for start, _ in sentences(text)]
    labels = _labels(text)
    last = 0
    for match in matches:
        start, end = match.span()
        word = match[0]
        if text[end : end + 1] in _BEFORE_CODE and _OF_CODE.match(text, end) is not None:
            continue
        if not word.isalpha():
            if "_" in word or _CONTRACTION.search(word) is not None or _DESCRIBED.search(word) is not None:
                continue
            head, apostrophe, rest = word.replace("’", "'").partition("'")
            if apostrophe and head.lower() in opening_words and rest[:1].isupper():  # L'Europe
                start += len(head) + 1
                word = word[len(head) + 1 :]
        place = RUNNING
        while last < len(labels) and labels[last][1] <= start:
            last += 1
        if last < len(labels) and labels[last][0] <= start:
            place = LABEL
        else:
            before = bisect_left(begins, start + 1) - 1
            begin = begins[before] if before >= 0 else 0
            first = start - begin < _LONGEST_MARK and _LETTER.search(text, begin, start) is None
            if first or text[max(0, start - 3) : start].rstrip().endswith(_OPENING_MARKS):
                place = OPENING
        yield Word(start, end, word, place)


def _labels(text: str) -> list[tuple[int, int]]:
    """Return the characters of headings, column heads, labels of cells, and lines in capitals, in order."""
    found = []
    for line in _LINE.finditer(text):
        start, end = line.span()
        if _is_heading(line[0].strip()):
            found.append((start, end))
        else:
            found += [label.span() for label in _LABEL.finditer(text, start, end)]
    return found


def _is_heading(line: str) -> bool:
    """Whether a line is in capitals, or is no sentence and has no words in lower case but those of titles."""
    if line.isupper() or " | " in line:
        return True
    if len(line) > _LONGEST_HEADING or line.endswith(STOPS):
        return False
    return (
        all(len(word) < 5 and is_small(word) for word in LOWER.findall(line))
        and ": " not in line
        and line.count(", ") < 2
    )


def singular(word: str) -> str:
    """Return a word in lower case without a final "s"."""
    return word.rstrip("s")


def is_small(word: str) -> bool:
    """Whether a word in lower case stands in titles: of, and, the."""
    return word in cues.CONNECTORS or word in cues.opening_words("")
