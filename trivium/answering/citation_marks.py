"""Makes a model's text safe to display: only citations of offered passages, no control characters, no reasoning."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from trivium.common import stopping
from trivium.text.normalise import plain

_MARK = re.compile(
    r"(?<!\s)(\s*+)(?:\[\s*(?:passages?\s*)?(\d+(?:\s*[,;]\s*\d+)*)\s*\]|【\s*(\d+)[^】\]\[【]{0,20}】)",
    re.IGNORECASE,
)
_FOREIGN = re.compile(r"\[(\s*\d+(?:\s*[,;]\s*\d+)*\s*)\]|【(\s*\d+[^】]{0,20})】")
_OWN_TAG = re.compile(r"(?<!\s)\s*+</?passages?(?:\s+\d+)?\s*>", re.IGNORECASE)
"""The tags around quoted passages, which small models repeat."""
_LONGEST_MARK = 40
_LONGEST_SPACE = 200
"""White space before a possible citation that is held back."""
_DEEPEST = 8
"""Citations within citations that are removed one by one."""
_OPENING, _CLOSING = "[【<", "]】>"
_NO_BRACKETS = dict.fromkeys(map(ord, _OPENING + _CLOSING))
_NUMBER = re.compile(r"\d+")
_CITED = re.compile(r"\[(\d+)\]")
_THINK, _THOUGHT = "<think>", "</think>"


class MarkFilter:
    """Filters a text piece by piece. Citations are normalised to ``[1]`` or ``[1][2]``; numbers that were not offered
    are dropped, as are the tags around quoted passages.
    """

    def __init__(self, offered: Collection[int]) -> None:
        self._offered = frozenset(offered)
        self._held = ""

    def feed(self, piece: str) -> str:
        """Return the next text to display. Text that may become part of a citation is held back."""
        text = self._held + plain(piece)
        end = _certain(text)
        self._held = text[end:]
        return self._checked(text[:end])

    def finish(self) -> str:
        """Return the text held back."""
        text, self._held = self._held, ""
        return self._checked(text).rstrip()

    def filtered(self, reply: Iterable[str]) -> Iterator[str]:
        """Iterate over the displayable parts of a model's reply as it arrives. Raises StoppedError if the caller has
        cancelled.
        """
        for piece in without_thoughts(reply):
            stopping.check()
            yield self.feed(piece)
        stopping.check()
        yield self.finish()

    def _checked(self, text: str) -> str:
        # Removing a citation may join the text around it to another one: "[9[9]]".
        for _ in range(_DEEPEST):
            checked = _OWN_TAG.sub("", _MARK.sub(self._mark, text))
            if checked == text:
                return text
            text = checked
        return text.translate(_NO_BRACKETS)

    def _mark(self, found: re.Match[str]) -> str:
        numbers = [int(digits[:9]) for digits in _NUMBER.findall(found[2] or found[3])]
        kept = "".join(f"[{number}]" for number in numbers if number in self._offered)
        return found[1] + kept if kept else ""


def _certain(text: str) -> int:
    """Return the length of the prefix that cannot be part of an unfinished citation or of the white space before it."""
    tail = max(0, len(text) - _LONGEST_MARK)
    opened: list[int] = []
    for place in range(tail, len(text)):
        if text[place] in _OPENING:
            opened.append(place)
        elif text[place] in _CLOSING and opened:
            opened.pop()
    end = opened[0] if opened else len(text)
    begin = max(0, end - _LONGEST_SPACE)
    return begin + len(text[begin:end].rstrip())


def cited(text: str) -> tuple[int, ...]:
    """Return the distinct numbers cited by a filtered text, in order.

    >>> cited("Two [2][1]. So it is [2].")
    (2, 1)
    """
    return tuple(dict.fromkeys(int(number) for number in _CITED.findall(text)))


def uncited(text: str) -> str:
    """Rewrite citation-like marks in untrusted text.

    >>> uncited("as shown [3], [1, 2]")
    'as shown (3), (1, 2)'
    """
    return _FOREIGN.sub(lambda found: f"({(found[1] or found[2]).strip()})", text)


def without_marks(text: str) -> str:
    """Remove the citations of a filtered text.

    >>> without_marks("Two moons [1][2].")
    'Two moons.'
    """
    return re.sub(r"(?<!\s)\s*+\[\d+\]", "", text).strip()


def without_thoughts(pieces: Iterable[str]) -> Iterator[str]:
    """Skip the reasoning that some models write before an answer."""
    rest = iter(pieces)
    begun = ""
    for piece in rest:
        begun += piece
        start = begun.lstrip()
        if start.startswith(_THINK):
            _, ended, answer = start.partition(_THOUGHT)
            if ended:
                yield answer
                break
            begun = _THINK + start[-len(_THOUGHT) :]
        elif not _THINK.startswith(start):
            yield begun
            break
    else:
        if not begun.lstrip().startswith(_THINK):
            yield begun
    yield from rest
