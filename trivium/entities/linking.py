"""Which names of one document are one: full names, initials, surnames, acronyms, the title.

Wrong merges cost more than missed ones: a shorter name goes to a longer one only if exactly one of the document fits.
Two full names are never one.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from trivium.entities import cue_words as cues
from trivium.entities.recogniser import NamedSpan
from trivium.text.normalise import normalise_name, without_parenthesis

_POSSESSIVE = re.compile(r"['’][sS]?$")
_ACRONYM = re.compile(r"[A-Z][A-Za-z]{0,6}[A-Z]s?")
_POINTS = re.compile(r"(?:[^\W\d_]\.){2,8}")
_IN_PARENTHESIS = re.compile(r" \(([^()\n]{2,80})\)")
_OF_PLACES = re.compile(r"\b(?:[Ii]n|[Nn]ear|[Aa]t|[Ii]nto|[Oo]utside) $")
_LONGEST_BEFORE = 30
_LAST_WORDS = frozenset[str]().union(*cues.LAST_WORDS.values())
_NO_FIRST_NAMES = cues.ADDRESS | cues.PEOPLES | cues.INSTITUTIONS | cues.NO_NAMES | cues.FIRST_WORDS["place"]
_ADDRESS = cues.ADDRESS - {"st", "saint"}
_MOST_NAMESAKES = 500
"""Of more names with the same last word in one document, initials could mean several: none are compared."""
_PARENT = 10
"""A company that a document has so many times as often as any other of its name is the one without legal form."""


class LinkedName(NamedTuple):
    """A name in a passage, characters ``start`` to ``end`` (exclusive), with the ``name`` that all mentions of one thing
    in its document share, and its ``kind`` (one of :data:`trivium.entities.recogniser.KINDS`, or empty).
    """

    start: int
    end: int
    name: str
    kind: str


class _Mention(NamedTuple):
    chunk: int
    span: NamedSpan
    written: str
    """Without article, genitive and form of address; acronyms without the "s" of several."""
    key: str
    """``written`` as it is compared."""
    address: str
    """The form of address, lower-cased; empty without one."""


def linked_names(
    title: str, chunks: Sequence[str], spans: Sequence[Sequence[NamedSpan]]
) -> list[list[LinkedName]]:
    """Return the names of one document, ``spans`` of each of its ``chunks``, with the names that they share, in the same
    order. A form of address by itself is left out. What fits two names stays apart from both.

    >>> text = "William Herschel, or Mr Herschel, was born in Hanover."
    >>> spans = [NamedSpan(0, 16), NamedSpan(21, 32)]
    >>> [[link.name for link in links] for links in linked_names("Uranus", [text], [spans])]
    [['William Herschel', 'William Herschel']]
    """
    mentions = [
        mention
        for number, (text, own) in enumerate(zip(chunks, spans, strict=True))
        for span in own
        if (mention := _mention(number, text, span)).written
    ]
    names = _Names(title, chunks, mentions)
    linked: list[list[LinkedName]] = [[] for _ in chunks]
    for mention in mentions:
        name, kind = names.of(mention)
        linked[mention.chunk].append(LinkedName(mention.span.start, mention.span.end, name, kind))
    return linked


def _mention(chunk: int, text: str, span: NamedSpan) -> _Mention:
    written, address = written_name(text[span.start : span.end])
    written = cues.SHORT_PLACES.get(written, written)
    return _Mention(chunk, span, written, _key(written), address)


def written_name(form: str) -> tuple[str, str]:
    """Return a form of a name without article, genitive, form of address and the "s" of several acronyms, and the form of
    address, lower-cased.

    >>> written_name("Mrs Somerville's"), written_name("the CPUs")
    (('Somerville', 'mrs'), ('CPU', ''))
    """
    words = _POSSESSIVE.sub("", form).split()
    if len(words) > 1 and words[0] in ("the", "The"):
        del words[0]
    address = ""
    while words and (word := words[0].rstrip(".")).lower() in _ADDRESS and words[1:2] != ["of"]:
        address = word.lower()
        del words[0]
    written = " ".join(words)
    return written.removesuffix("s") if _ACRONYM.fullmatch(written) else written, address


def _key(name: str) -> str:
    """Return a name as it is compared: folded, acronyms without points."""
    return normalise_name(name.replace(".", "") if _POINTS.fullmatch(name) else name) or name.strip()


class _Names:
    """The names of a document by their keys, and the key that each is merged into."""

    def __init__(self, title: str, chunks: Sequence[str], mentions: Sequence[_Mention]) -> None:
        self._chunks, self._mentions = chunks, mentions
        self._into: dict[str, str] = {}
        self._apart = _addressed_both_ways(mentions)
        spellings: dict[str, Counter[str]] = defaultdict(Counter)
        self._kinds: dict[str, Counter[str]] = defaultdict(Counter)
        for mention in mentions:
            key = self._key_of(mention)
            spellings[key][mention.written if key == mention.key else key.title()] += 1
            self._kinds[key][mention.span.kind] += 1
        self._written = {
            # Capitals of a list of who signed are not the name.
            key: min(counted, key=lambda n: (" " in n and n.isupper(), -counted[n], n.isupper(), n))
            for key, counted in spellings.items()
        }
        self._counts = Counter({key: counted.total() for key, counted in spellings.items()})
        self._order = {key: number for number, key in enumerate(spellings)}
        self._lower = frozenset(re.findall(r"(?<!\w)[a-z]+", "\n".join(chunks)))
        self._no_surnames = frozenset(mention.key for mention in mentions if _is_no_surname(chunks, mention))
        self._title = _key(without_parenthesis(title))
        self._counts[self._title] += _PARENT * len(mentions)  # a document is about its title, named or not
        self._merge_title(title)
        self._merge_acronyms()
        self._merge_shorter_forms()
        merged: dict[str, Counter[str]] = defaultdict(Counter)
        for key, counted in self._kinds.items():
            merged[self._resolve(key)].update({kind: count for kind, count in counted.items() if kind})
        self._kind = {key: _most(counted) for key, counted in merged.items()}

    def of(self, mention: _Mention) -> tuple[str, str]:
        """Return the shared name of a mention and its kind."""
        key = self._resolve(self._key_of(mention))
        return self._written[key], self._kind[key]

    def _key_of(self, mention: _Mention) -> str:
        apart = mention.address and (mention.key in self._apart or mention.key in cues.PLACES)  # "Mr. France"
        return f"{mention.address} {mention.key}" if apart else mention.key

    def _resolve(self, key: str) -> str:
        while key in self._into:
            key = self._into[key]
        return key

    def _join(self, key: str, into: str) -> None:
        into = self._resolve(into)
        if key not in self._into and key != into:
            self._into[key] = into

    def _merge_title(self, title: str) -> None:
        """Names equal to the title, with or without its parenthesis, are the title; so is a longer form with which the
        document begins, as "Alan Mathison Turing".
        """
        if not self._title:
            return
        self._written[self._title] = title
        self._join(_key(title), self._title)
        asked = self._title.split()
        for mention in self._mentions[:2]:
            words = mention.key.split()
            if len(asked) > 1 and (words[:1], words[-1:]) == (asked[:1], asked[-1:]):
                rest = iter(words)
                if mention.chunk == 0 and all(word in rest for word in asked):
                    self._join(" ".join(words), self._title)

    def _merge_acronyms(self) -> None:
        """Merge acronyms into the names beside them: "World Health Organization (WHO)", "WHO (World Health ...)"."""
        means: dict[str, set[str]] = defaultdict(set)
        for mention in self._mentions:
            beside = _IN_PARENTHESIS.match(self._chunks[mention.chunk], mention.span.end)
            if beside is not None:
                for short, long in ((beside[1], mention.written), (mention.written, beside[1])):
                    if _ACRONYM.fullmatch(short) and _stands_for(short, long):
                        means[_key(short)].add(_key(long))
        for short, long in means.items():
            if len(long) == 1 and not long.isdisjoint(self._written):
                self._join(short, *long)

    def _merge_shorter_forms(self) -> None:
        """Merge each name into the longer form that fits, if there is one: first those of several words."""
        by_last: dict[str, list[str]] = defaultdict(list)
        with_legal_form: dict[str, list[str]] = defaultdict(list)
        for key in sorted(self._written):
            *before, last = key.split()
            by_last[last].append(key)
            if before and last in cues.LEGAL_FORMS:
                with_legal_form[" ".join(before)].append(key)
        for key in sorted(self._written, key=lambda key: (-len(key.split()), -len(key), key)):
            words, single = key.split(), key.removesuffix("s")
            plural = single != key and single in self._written and "person" not in self._kinds[key]
            if plural and (len(words) > 1 or not self._written[key][1:].islower()):
                self._join(key, single)  # "StatefulSets", but not "Adams"
            companies = with_legal_form[key] if "place" not in self._kinds[key] else []
            companies = sorted(companies, key=lambda other: -self._counts[other])
            parent = companies[1:] and self._counts[companies[0]] >= _PARENT * self._counts[companies[1]]
            longer = set(companies[:1] if parent else companies)
            if len(words) > 1 and not any(map(str.isdecimal, words)):
                namesakes = by_last[words[-1]] if len(by_last[words[-1]]) <= _MOST_NAMESAKES else ()
                longer.update(other for other in namesakes if _is_abbreviated(words, other.split()))
            elif self._may_be_surname(key):
                people = [other for other in by_last[key] if self._may_be_person(other, key)]
                before = [one for one in people if one == self._title or self._order[one] < self._order[key]]
                longer.update(before if self._title in before or not before else people)
            fitting = {self._resolve(other) for other in longer - {key}}
            if len(fitting) == 1:
                self._join(key, *fitting)

    def _may_be_surname(self, key: str) -> bool:
        if key in (self._title, *self._apart, "jr", "sr") or not set(self._kinds[key]) <= {"", "person"}:
            return False
        return not self._written[key].isupper() and key not in self._lower and key not in self._no_surnames

    def _may_be_person(self, key: str, surname: str) -> bool:
        """Whether a name of several words may be that of a person, or a thing, that its last word also names: not "New
        York", "British Museum" or "University of London".
        """
        words = key.split()
        if len(words) < 2 or not set(self._kinds[key]) <= {"", "person"}:
            return False
        if key not in self._order and words[0] not in cues.FIRST_NAMES:
            return False  # a title that nothing repeats: "Export Gmail"
        written = without_parenthesis(self._written[key]).replace(".", " ").split()
        first = written[0]
        if _key(written[-1]) != surname or (len(first) > 1 and (first.isupper() or not first[-1].isalpha())):
            return False  # "Indo-Scythians", "IBM PowerPC", "Tru64 UNIX"
        if words[0] in _NO_FIRST_NAMES or words[-1] in _LAST_WORDS or "of" in words or "and" in words:
            return False
        # Not "Power Macintosh", "Apple Newton".
        return "person" in self._kinds[key] or (words[0] not in self._lower and words[0] not in self._written)


def _addressed_both_ways(mentions: Sequence[_Mention]) -> frozenset[str]:
    """Return the keys of which a man and a woman are called: Mr and Mrs Herschel are two."""
    addresses: dict[str, set[str]] = defaultdict(set)
    for mention in mentions:
        addresses[mention.key].add(mention.address)
    return frozenset(key for key, own in addresses.items() if own & cues.MEN and own & cues.WOMEN)


def _is_no_surname(chunks: Sequence[str], mention: _Mention) -> bool:
    """Whether a mention stands where names of places do ("in London"), but not "in Byron's"."""
    text, (start, end, _) = chunks[mention.chunk], mention.span
    if mention.address or _POSSESSIVE.search(text[end : end + 2]):
        return False
    before = text[max(0, start - _LONGEST_BEFORE) : start]
    return _OF_PLACES.search(before) is not None


def _stands_for(short: str, long: str) -> bool:
    """Whether an acronym has the first letters of a name, with or without those of its small words."""
    letters = short.removesuffix("s").lower()
    words = normalise_name(long).split()
    ways = (
        words,
        [word for word in words if word not in cues.CONNECTORS | {"and", "for", "the", "on", "in"}],
    )
    return len(words) > 1 and any("".join(word[0] for word in way) == letters for way in ways)


def _is_abbreviated(short: Sequence[str], long: Sequence[str]) -> bool:
    """Whether a name is another one of the same last word with initials for some of its words, or without the initials
    between its first and last word.
    """
    if len(short) < len(long):
        return (
            len(short) == 2
            and short[0] == long[0]
            and all(len(word) == 1 and word.isalpha() for word in long[1:-1])
        )
    return (
        len(short) == len(long)
        and short != long
        and all(a == b or (len(a) == 1 and b.startswith(a)) for a, b in zip(short, long, strict=True))
    )


def _most(counted: Counter[str]) -> str:
    """Return the most frequent kind; empty if there are two."""
    (kind, count), (_, second) = [*counted.most_common(2), ("", 0), ("", 0)][:2]
    return kind if count > second else ""
