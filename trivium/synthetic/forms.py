"""Rule-based construction of multi-hop questions from two sentences, without a model; English only.

A sentence that names the bridge becomes a statement about *a certain thing*, another one a question about *the same
thing* in which the answer is replaced by a question word. Both remain grammatical.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from trivium.graph.schema import headings_of
from trivium.synthetic.records import Bridge, Source
from trivium.text import sentences, without_parenthesis

HALF_WORDS = (4, 26)
"""Minimum and maximum number of words of a usable sentence. Two of them stay below the limit of
:data:`trivium.synthetic.checks.QUESTION_WORDS`.
"""

_ASIDE = re.compile(r"(?<!\s)\s*+\([^()]*\)|\[[^\]]{0,300}\]")
_PRONOUN = re.compile(r"(?:It|He|She)\b(?= \w)")
_CUT = re.compile(r";|\s[–—-]\s|, (?:and|but|while|whilst|which|who|where|whose|so|although|because|with)\b")
"""The end of a clause that is sufficient on its own."""
_POINTS_BACK = re.compile(
    r"\b(?:this|they|these|those|former|latter|such as|e\.g|following|above|below)\b", re.IGNORECASE
)
"""Words that refer to other sentences; lists of examples also say nothing about a single item."""
_VAGUE = re.compile(r"\b(?:it|them|they|he|she|him|there|same|one of|craft)\b")
"""Words that often refer to another sentence."""
_FOLLOWING = (
    "in of from by to on at with into through for during under around near over after before within against is was "
    "are were has had have can could will would may might must did does became becomes and or but that which who where "
    "when while as between since until"
)
_PAST = (
    "flew went took gave came saw began held led ran wrote said stood grew lost found left built sent spent won met sold "
    "fell rose kept knew drew broke chose spoke made set sank shot shone bore wore"
)
_FOLLOWS = frozenset(f"{_FOLLOWING} {_PAST}".split())
"""Words that can follow a complete noun phrase, in addition to words with a verb ending."""
_KINDS_OF_PAGES = (
    "craft spacecraft probe rover planet moon mission telescope rocket laboratory company film book novel song album "
    "band town city country river island university school church language species genus battle war treaty ship"
)
_THE_KIND = re.compile(rf"\b[Tt]he (?:{'|'.join(_KINDS_OF_PAGES.split())})\b")
_DATE = re.compile(
    r"\b(?:(?:[0-3]?\d )?(?:January|February|March|April|May|June|July|August|September|October|November|December)"
    r"(?: [0-3]?\d,)? )?(?:1[0-9]|20)\d\d\b(?!s)"
)
_SPAN = re.compile(r"\b(?:and|to|from|From|between|Between) \||\|(?: (?:and|to|or)\b|[-–])")
"""One of two dates: the context around ``|``."""
_OPENING = re.compile(r"(?:In|On|At|From|Since|Until|By|After|Before|During|Like|With|Of|To)\s(?:the )?")
_NAME = re.compile(r"\b[A-Z][\w’'.-]*[\w](?: (?:(?:of|the|de|von|van) )*[A-Z0-9][\w’'.-]*\w)*")
_NAME_BEFORE = re.compile(r"(?:(?<![\w.])(?:[^\WA-Z]|\.)*+[A-Z][\w.]*+ |[-'’/(\"])$")
_NUMBER = re.compile(r"\b\d[\d,.]{0,30}(?= [a-z]{3,})")


@dataclass(frozen=True, slots=True)
class Half:
    """A clause of a passage that names the bridge, split into the text ``before`` and ``after`` the name."""

    source: Source
    before: str
    after: str

    @property
    def vague(self) -> bool:
        """Whether it may refer to another sentence."""
        return _VAGUE.search(self.text) is not None

    @property
    def text(self) -> str:
        """The clause with a space in place of the name."""
        return f"{self.before} {self.after}"

    def with_name(self, name: str) -> str:
        """Return the clause with another name in place of the bridge's."""
        before = re.sub(r"(?:^|(?<= ))(?:the|a|an|The|A|An) $", "", self.before)
        text = f"{before}{name}{self.after}"
        return text[:1].upper() + text[1:]


@dataclass(frozen=True, slots=True)
class Asking:
    """A clause with something to ask for: the full ``answer``, and the ``span`` that the question word replaces, in
    characters of ``half.before`` (``place`` 0) or ``half.after`` (``place`` 1).
    """

    half: Half
    answer: str
    place: int
    span: tuple[int, int]
    wh: str | None

    @property
    def is_defined(self) -> bool:
        """Whether the clause goes on to define the answer: *was a spacecraft that ...*"""
        rest = (self.half.before, self.half.after)[self.place][self.span[1] :]
        return re.match(r"\s(?:is|was|are|were) (?:a|an|the)\b", rest) is not None

    def in_full(self) -> Half:
        """Return the clause with the full answer in its place."""
        start, end = self.span
        parts = [self.half.before, self.half.after]
        part = parts[self.place]
        parts[self.place] = f"{part[:start]}{self.answer}{part[end:]}"
        return Half(self.half.source, parts[0], parts[1])

    def question(self, name: str, wh: str) -> str:
        """Return the question, with ``name`` in place of the bridge and a question word in place of the answer."""
        start, end = self.span
        parts = [self.half.before, self.half.after]
        part = parts[self.place]
        opening = wh if self.place or part[:start].strip() else wh[0].upper() + wh[1:]
        parts[self.place] = f"{part[:start]}{opening}{part[end:]}"
        return f"{Half(self.half.source, parts[0], parts[1]).with_name(name).rstrip(' ,.')}?"


def title_of(source: Source) -> str:
    """Return the subject of a passage's page."""
    return without_parenthesis(headings_of(source.section)[0])


def halves(bridge: Bridge, source: Source) -> Iterator[Half]:
    """Yield the clauses of a passage that name the bridge and in which another noun phrase can replace the name."""
    names = [
        re.compile(rf"\b{_spelt(name)}\b", re.IGNORECASE)
        for name in sorted(bridge.names, key=len, reverse=True)
    ]
    title = title_of(source)
    for start, end in sentences(source.text):
        sentence = " ".join(_ASIDE.sub("", source.text[start:end]).split())
        sentence = _PRONOUN.sub(lambda _: title, sentence, count=1) if _PRONOUN.match(sentence) else sentence
        found = next(filter(None, (name.search(sentence) for name in names)), None)
        if found is None or _POINTS_BACK.search(sentence):
            continue
        half = Half(source, *_clause(sentence, found.start(), found.end()))
        if _stands_alone(half) and HALF_WORDS[0] <= len(half.text.split()) <= HALF_WORDS[1]:
            yield half


def askings(half: Half, kinds: Iterable[str] = ()) -> list[Asking]:
    """Return what can be asked for in a clause: the subject of its page, because no other passage reveals that the
    question is about it; else names, dates and numbers. ``kinds`` says what the page's subject is, such as
    ``spacecraft``, so that *the spacecraft* refers to it.
    """
    title = title_of(half.source)
    found: list[Asking] = []
    for place, part in enumerate((half.before, half.after)):
        about = [
            rf"(?:[Tt]he )?{re.escape(title)}",
            *(rf"[Tt]he {re.escape(kind)}" for kind in kinds),
        ]
        for pattern in about:
            for match in re.finditer(rf"(?:^|(?<= )){pattern}(?= |,|$|\.$)(?! [A-Z])", part):
                found.append(Asking(half, title, place, match.span(), None))  # noqa: PERF401
    found = [one for one in found if _apart(one)]
    if found:
        return found[:1]
    for place, part in enumerate((half.before, half.after)):
        for match in _DATE.finditer(part):
            if not _SPAN.search(f"{part[: match.start()]}|{part[match.end() :]}"):
                found.append(Asking(half, match[0], place, match.span(), _when(match[0])))
        dates = [match.span() for match in _DATE.finditer(part)]
        for match in _NUMBER.finditer(part):
            if not any(_overlap(match.span(), date) for date in dates):
                found.append(Asking(half, match[0].rstrip(".,"), place, match.span(), "how many"))
        for match in _NAME.finditer(part):
            taken = any(_overlap(match.span(), date) for date in dates)
            if not taken and _is_name(part, match.start(), match.end(), opens=place == 0):
                found.append(Asking(half, match[0], place, match.span(), None))
    return [one for one in found if _apart(one)]


def speaks_of_a_kind(half: Half) -> bool:
    """Whether a clause mentions *the planet*, *the film* and the like, which may refer to the subject of its page."""
    return _THE_KIND.search(half.text) is not None and title_of(half.source) not in half.text


def _apart(one: Asking) -> bool:
    """Whether the answer can be replaced by a question word: it is not adjacent to the bridge's name, and does not open
    the sentence as a time or place (*in 2005 it was found*), which would require another word order.
    """
    part = (one.half.before, one.half.after)[one.place]
    beside = part[one.span[1] :].strip() == "" if one.place == 0 else part[: one.span[0]].strip(" '’s") == ""
    opens = one.place == 0 and _OPENING.fullmatch(part[: one.span[0]]) is not None
    return not (beside or opens)


def _when(date: str) -> str:
    if date.isdigit():
        return "which year"
    return "which date" if date[0].isdigit() or "," in date else "which month and year"


def _is_name(part: str, start: int, end: int, *, opens: bool) -> bool:
    """Whether capitalised words are a name on their own: not the first word of a sentence, an adjective, or part of
    something longer.
    """
    if end - start < 3 or (opens and start == 0 and " " not in part[:end]) or part.startswith("The ", start):
        return False
    if re.match(r"(?: and|,) [A-Z]", part[end:]):  # part of an enumeration
        return False
    if re.search(r"(?:\b(?:a|an|the|A|An|The|its|his|her|their)|[\"“'(])\s?$", part[:start]):
        return False
    word = re.match(r"\s+([a-z]+)", part[end:])
    return re.match(r"[-’'\"/]", part[end:]) is None and (word is None or _may_follow(word[1]))


def _overlap(left: tuple[int, int], right: tuple[int, int]) -> bool:
    return left[0] < right[1] and right[0] < left[1]


def _spelt(name: str) -> str:
    return r"[\W_]+".join(map(re.escape, name.split()))


def _clause(sentence: str, start: int, end: int) -> tuple[str, str]:
    """Return the text before and after characters ``start`` to ``end`` within the same clause."""
    before, after = sentence[:start], sentence[end:]
    before = before.rpartition(";")[2].lstrip()
    cut = _CUT.search(after)
    after = after[: cut.start()] if cut is not None else after
    return before, after.rstrip(" ,.")


def _stands_alone(half: Half) -> bool:
    """Whether the bridge's name is a complete noun phrase: not part of a longer name or a compound."""
    word = re.match(r"([’'-])|\s+([a-z]+)", half.after)
    compound = word is not None and (word[1] is not None or not _may_follow(word[2]))
    longer = re.match(r"\s+[A-Z0-9]", half.after) or _NAME_BEFORE.search(half.before)
    word_before = re.search(r"(?<![a-z])([a-z]+)\s$", half.before)
    inside = word_before is not None and not _may_precede(word_before[1])
    listed = ":" in half.before
    return not (compound or longer or inside or listed)


def _may_precede(word: str) -> bool:
    return word in ("the", "a", "an") or word in _FOLLOWS or word.endswith(("ed", "ing", "s"))


def _may_follow(word: str) -> bool:
    return (
        word in _FOLLOWS
        or word.endswith(("ed", "ly"))
        or (word.endswith("s") and not word.endswith(("ss", "us")))
    )


def best_first(askings: Sequence[Asking]) -> list[Asking]:
    """Sort questions: those that ask for the subject of a page first, then short ones, because each additional word
    reveals more about the passage.
    """
    return sorted(
        askings, key=lambda one: (one.answer != title_of(one.half.source), one.half.vague, len(one.half.text))
    )
