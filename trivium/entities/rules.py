"""Names by their capitals, without a model: runs of capitalised words, joined by connecting words, initials and "&".

A run in the middle of a sentence is a name. At the beginning of a sentence, in a heading, a table or a title a capital
means little: there a run counts if the document has it elsewhere within a sentence, or if it has several words of which
the document writes none in lower case. A word that the document writes in lower case more often is no name.

German writes all nouns with a capital. There a name needs more evidence: two words with a capital in a row, an initial,
a form of address, an acronym, or that it ends such a name elsewhere. What this misses are names of one word: "Berlin" or
"Siemens" are found only within longer ones. Inflected forms ("Москвы", "Herschels") are not reduced to the first case.
Languages that have no capitals (Chinese, Japanese, Korean, Arabic, Hebrew, Hindi, Thai) give no names.

Kinds come from forms of address, legal forms and the words of institutions and places; most names have none.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from trivium.entities import cue_words as cues
from trivium.entities.recogniser import RULES, NamedSpan
from trivium.text.normalise import STOPS, sentences

_NOUNS_HAVE_CAPITALS = frozenset(("de", "lb"))

_CAPITALS = "".join(
    c for c in map(chr, (*range(0x41, 0x590), *range(0x1E00, 0x2000))) if c.isupper() or c.istitle()
)
_CAPITAL = re.compile(
    rf"(?<![\w/\\@#$=.<{{])(?<!\w\()(?:(?:[{_CAPITALS}]\.){{2,8}}(?!\w)|(?:[ei](?=[{_CAPITALS}]\w))?[{_CAPITALS}]\w*+"
    rf"(?:[-‐‑'’]\w++|\.(?:com|org|net|js|io|ai)\b)*+[+]{{0,2}})"
)
"""A word with a capital; not in a path, an address or a variable."""
_BEFORE_CODE = "(=@\\/[:."
_OF_CODE = re.compile(r"[(=@\\/\[]\S|::|\.\w")
"""What follows a word of source code or of an address."""
_LOWER = re.compile(r"(?<![\w'’])[^\W\d_A-Z]+")
_LETTER = re.compile(r"[^\W\d_]")
_LINE = re.compile(r"[^\n]+")
_LABEL = re.compile(r"(?:^|; )([^\n:;.!?]{1,40}): ", re.MULTILINE)
_NUMBER = re.compile(r" \d{1,3}(?=[)\"'”’]?(?:[.,;:!?)]?(?:\s*\n|$)|[,;)] |[.!?] | [^\W\d_A-Z]))")
_POSSESSIVE = re.compile(r"['’][sS]?$")
_CONTRACTION = re.compile(r"['’](?:t|re|ve|ll|d|m)$")
_DESCRIBED = re.compile(r"[-‐‑][^\W\d_A-Z]\w{2,}$")
"""The end of an adjective: "London-based"."""
_ROMAN = re.compile(r"[IVXLC]+")
_ENDINGS_OF_NOUNS = ("ung", "heit", "keit", "schaft", "tion", "tät", "nis", "mus", "ment", "en")
_ADJECTIVE = re.compile(r"\w+(?:e|er|es|en|em)")
_LONGEST_HEADING = 100
_LONGEST_MARK = 12
"""Characters of the mark of an item before its first word."""
_OPENING_MARKS = tuple(':;|•·–—>"“„«‘¿¡')

RUNNING, OPENING, LABEL = range(3)
"""Where a word stands: within a sentence, at its beginning, or in a heading, a label or a column head."""


class _Word(NamedTuple):
    start: int
    end: int
    text: str
    place: int


_Run = list[_Word]


@dataclass
class _Document:
    """What is known of a document before its names are chosen."""

    opening_words: frozenset[str]
    lower: Counter[str]
    """How often each word stands in lower case."""
    words: Counter[str] = field(default_factory=Counter)
    """How often each word with a capital stands within a sentence."""
    runs: set[tuple[str, ...]] = field(default_factory=set)
    """The runs within sentences."""
    last_words: set[str] = field(default_factory=set)
    """The last words of runs of several words within sentences."""

    def learn(self, runs: Iterable[_Run]) -> None:
        """Count the words of runs within sentences, and those of several words at their beginning."""
        for run in runs:
            words = tuple(_POSSESSIVE.sub("", word.text) for word in run)
            if run[0].place == RUNNING:
                self.words.update(words)
                self.runs.add(words)
            elif run[0].place == OPENING and len(run) > 1:
                self.words.update(words[self.lower[words[0].lower()] > 0 :])

    def is_common(self, word: str) -> bool:
        lowered = word.lower()
        return lowered in self.opening_words or self.lower[lowered] >= max(1, self.words[word])


class RuleRecogniser:
    """Names by their capitals; see the module."""

    name = RULES

    def spans(self, texts: Sequence[str], language: str) -> list[list[NamedSpan]]:
        """Return the names of the passages of one document. Takes linear time."""
        if language in cues.WITHOUT_CAPITALS:
            return [[] for _ in texts]
        document = _Document(cues.opening_words(language), Counter(_LOWER.findall("\n".join(texts))))
        nouns = language in _NOUNS_HAVE_CAPITALS
        found = [
            [
                trimmed
                for run in _runs(text, _words(text, document), document, nouns)
                for trimmed in _trimmed(text, run, document, language)
            ]
            for text in texts
        ]
        for runs in found:
            document.learn(runs)
        accept = _is_german_name if nouns else _is_name
        if nouns:
            document.last_words = {
                run[-1].text for runs in found for run in runs if len(run) > 1 and accept(run, document)
            }
        return [
            [
                _span(text, name, nouns)
                for run in runs
                for name in _split_possessive(run, document)
                if accept(name, document)
            ]
            for text, runs in zip(texts, found, strict=True)
        ]


# -- words and where they stand ----------------------------------------------------------------------------------------


def _words(text: str, document: _Document) -> Iterator[_Word]:
    """Yield the words with a capital that may belong to names."""
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
            if apostrophe and head.lower() in document.opening_words and rest[:1].isupper():  # L'Europe
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
        yield _Word(start, end, word, place)


def _labels(text: str) -> list[tuple[int, int]]:
    """Return the characters of headings, column heads, labels of cells, and lines in capitals, in order."""
    found = []
    for line in _LINE.finditer(text):
        start, end = line.span()
        if _is_heading(line[0].strip()):
            found.append((start, end))
        else:
            found += [label.span(1) for label in _LABEL.finditer(text, start, end)]
    return found


def _is_heading(line: str) -> bool:
    """Whether a line is in capitals, or is no sentence and has no words in lower case but those of titles."""
    if line.isupper():
        return True
    if len(line) > _LONGEST_HEADING or line.endswith(STOPS):
        return False
    return all(len(word) < 5 and _is_small(word) for word in _LOWER.findall(line)) and ": " not in line


def _is_small(word: str) -> bool:
    return word in cues.CONNECTORS or word in cues.opening_words("")


# -- runs --------------------------------------------------------------------------------------------------------------


def _runs(text: str, words: Iterable[_Word], document: _Document, nouns: bool) -> Iterator[_Run]:
    """Join the words of a text that are written as one name."""
    run: _Run = []
    for word in words:
        if run and not _goes_on(text, run, word, document, nouns):
            yield run
            run = []
        run.append(word)
    if run:
        yield run


def _goes_on(text: str, run: _Run, word: _Word, document: _Document, nouns: bool) -> bool:
    """Whether a run goes on with the next word with a capital."""
    last = run[-1]
    gap = text[last.end : word.start]
    if len(gap) > 12 or "\n" in gap or (word.place == LABEL) != (last.place == LABEL):
        return False
    if not gap.strip():
        if last.text.lower() in document.opening_words and (nouns or last.place != OPENING):
            return False
        return not _POSSESSIVE.search(last.text) or len(run) == 1 or run[-2].text in ("St", "Saint")
    if gap in (". ", "."):
        return (len(last.text) == 1 or last.text in cues.ABBREVIATED) and (
            len(word.text) == 1 or word.text.lower() not in document.opening_words
        )
    if gap == ", ":
        return word.text.lower() in cues.LEGAL_FORMS or word.text in ("Jr", "Sr")
    if gap in (" & ", "&"):
        return True
    joining = gap.strip()
    if gap[0] != " " or _POSSESSIVE.search(last.text):
        return False
    if joining in cues.CONNECTORS:
        return not nouns or (joining in cues.GERMAN_CONNECTORS and not _is_noun(text, run))
    return (
        joining in cues.TOPIC_CONNECTORS
        and run[0].text.lower() in cues.INSTITUTIONS
        and len(run) > 1 - (joining != "and")
    )


def _is_noun(text: str, run: _Run) -> bool:
    """Whether German words before "von" are a noun, and no first names: by its ending, or by an article before it."""
    determined = _is_determined(text, run[0])
    if len(run) > 1:
        return determined and run[0].text.endswith(("e", "en"))
    return determined or run[0].text.endswith(_ENDINGS_OF_NOUNS)


def _is_determined(text: str, word: _Word) -> bool:
    """Whether a German word follows an article, another small word or an adjective."""
    before = text[max(0, word.start - 20) : word.start].split()[-1:]
    return bool(before) and (
        _is_small(before[0].lower()) or (before[0].islower() and before[0].endswith(("e", "en")))
    )


def _trimmed(text: str, run: _Run, document: _Document, language: str) -> Iterator[_Run]:
    """Yield the run without words that belong to no name: articles, the beginning of a sentence, dates."""
    first, end = 0, len(run)
    in_english = language in ("", "en")
    while first < end and run[first].text.lower() in document.opening_words:
        if run[first].place == RUNNING and not in_english:
            break
        first += 1
    if end - first > 2 and language in _NOUNS_HAVE_CAPITALS and _is_determined(text, run[first]):
        lowered = run[first].text.lower()
        if lowered in cues.OFFICES - cues.ADDRESS or not lowered.endswith(("e", "en", *cues.ADDRESS)):
            first += 1  # "der Naturforscher Alexander von Humboldt"
    if end - first == 1 and run[first].text.lower() in cues.CALENDAR:
        return
    if first < end:
        yield run[first:end]


def _split_possessive(run: _Run, document: _Document) -> Iterator[_Run]:
    """Yield the run, or its two parts if it begins with the genitive of a name that the document has elsewhere."""
    if (
        len(run) > 1
        and _POSSESSIVE.search(run[0].text)
        and document.words[_POSSESSIVE.sub("", run[0].text)] > 1
    ):
        yield run[:1]
        yield run[1:]
    else:
        yield run


# -- which runs are names ----------------------------------------------------------------------------------------------


def _is_name(run: _Run, document: _Document) -> bool:
    """Whether a run is a name in a language where only names have capitals."""
    words = tuple(word.text for word in run)
    if len(run) == 1:
        return _is_single_name(run[0], document)
    if words[0].lower() in cues.NUMBERED and len(words[1]) < 3:
        return False
    place = run[0].place
    if place == RUNNING:
        return not all(document.is_common(word) for word in words)
    known = words in document.runs or all(document.words[word] for word in words)
    if place == LABEL:
        return known and not any(document.is_common(word) for word in words)
    return known or not any(document.is_common(word) for word in words)


def _is_single_name(word: _Word, document: _Document) -> bool:
    text = _POSSESSIVE.sub("", word.text)
    lowered = text.lower()
    if len(text) < 2 or lowered in cues.NO_NAMES or lowered in cues.PEOPLES or lowered in cues.NUMBERED:
        return False
    if document.is_common(text) or _ROMAN.fullmatch(text) is not None:
        return False
    if word.place == RUNNING:
        return True
    if word.place == OPENING and _is_marked(text):
        return True
    return document.words[text] > 0


def _is_marked(word: str) -> bool:
    """Whether a word is an acronym or has a capital within: "NASA", "GitLab"."""
    return word[1:] != word[1:].lower() and "-" not in word


def _is_german_name(run: _Run, document: _Document) -> bool:
    """Whether a run is a name in a language where all nouns have capitals."""
    words = tuple(word.text for word in run)
    if len(run) == 1:
        word = run[0]
        if _is_marked(words[0]) and word.place != LABEL:
            return _is_single_name(word, document)
        return words[0] in document.last_words and not document.is_common(words[0])
    if not cues.MEASURES.isdisjoint(map(str.lower, words)) or any(
        word.lower() in cues.CALENDAR for word in words
    ):
        return False
    if words[0].lower() in cues.OFFICES or any(len(word) == 1 for word in words[:-1]):
        return True
    if run[0].place == RUNNING:
        return True
    return words in document.runs or (run[0].place == OPENING and _ADJECTIVE.fullmatch(words[0]) is None)


# -- spans and kinds ---------------------------------------------------------------------------------------------------


def _span(text: str, run: _Run, nouns: bool) -> NamedSpan:
    start, end = run[0].start, run[-1].end
    possessive = _POSSESSIVE.search(run[-1].text)
    if possessive is not None:
        end -= len(possessive[0])
    elif not nouns:
        number = _NUMBER.match(text, end)
        if number is not None:
            end = number.end()
    return NamedSpan(start, end, kind_of([word.text for word in run]))


def kind_of(words: Sequence[str]) -> str:
    """Return the kind of a name by its first and last word; empty if they do not tell.

    >>> kind_of(["Mrs", "Curie"]), kind_of(["Lake", "Constance"]), kind_of(["Acme", "Ltd"]), kind_of(["Enigma"])
    ('person', 'place', 'organisation', '')
    """
    if len(words) < 2:
        return ""
    first, last = words[0].lower().rstrip("."), words[-1].lower().rstrip(".")
    for kind, known in cues.FIRST_WORDS.items():
        if first in known:
            return kind
    for kind, known in cues.LAST_WORDS.items():
        if last in known:
            return kind
    if first in cues.OFFICES or any(len(word) == 1 for word in words[:-1]):
        return "person"
    return ""
