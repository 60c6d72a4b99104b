"""Names by their capitals, without a model: runs of capitalised words, joined by connecting words, initials and "&".

A run in the middle of a sentence is a name. At the beginning of a sentence, in a heading, a table or a title a capital
means little: there a run counts if the document has it elsewhere within a sentence, or if it has several words of which
the document writes none in lower case; in a document of a paragraph or two also a word that is followed by a verb in
singular. A word that the document writes in lower case more often is no name.

German writes all nouns with a capital. There a name needs more evidence: two words with a capital in a row, an initial,
a form of address, an acronym, or that it ends such a name elsewhere. What this misses are names of one word: "Berlin" or
"Siemens" are found only within longer ones. Inflected forms ("Москвы", "Herschels") are not reduced to the first case.
Languages that have no capitals (Chinese, Japanese, Korean, Arabic, Hebrew, Hindi, Thai) give no names.

Kinds come from forms of address, legal forms and the words of institutions and places; most names have none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile

from trivium.entities import cue_words as cues
from trivium.entities.capitals import LABEL, LOWER, OPENING, RUNNING, Word, is_small, singular, words_of_names
from trivium.entities.recogniser import RULES, NamedSpan
from trivium.text.languages import function_words

_NOUNS_HAVE_CAPITALS = frozenset(("de", "lb"))

_NUMBER = re.compile(
    r" (?!1[5-9]\d\d|20\d\d)\d{1,5}(?=[)\"'”’]?(?:[.,;:!?)]?(?:\s*\n|$)|[,;)] |[.!?] | [(]| [^\W\d_A-Z]))"
)
_POSSESSIVE = re.compile(r"['’][sS]?$")
_OF = re.compile(" (?:of|for) ")
_SHORT = 200
"""Words in lower case of a short document."""
_VERB = re.compile(r" (?:is|was|has|had|would|became|also|then|later|did|\w{3,20}(?<=ed)|\(\d{4})\b")
"""What follows the name of one thing at the beginning of a sentence."""
_SHARE_OF_NOUNS = 0.1
_NOUN = re.compile(
    r"\b(?:an?|[Ee]ach|[Aa]ny|such|every) ([A-Z][a-z]{3,20})(?=[.,;)’']| (?:[a-z]{1,3}|that|with|from|shall|will)\b)"
)
_ABBREVIATED = re.compile(r"\. [a-z]")
_OF_PEOPLE = re.compile(
    r"\b(?:(?:[Cc]hair(?:man|woman)?|[Cc]ontact|Candidate|Author|Manager|Director|President|Owner|Signed|Present): |"
    r"(?:C[EFTO]O|[Ff]ounder|[Cc]aretaker|director|manager|author|husband|wife|daughter|son|brother|sister),? )$"
)
"""Labels of people, and what stands before their names."""
_DAY = re.compile(r"\s\d")
_DATED = re.compile(r"\b(?:[Oo]n|[Ii]n|last|next|until|since) $")
_ROMAN = re.compile(r"[IVXLC]+")
_ENDINGS_OF_NOUNS = ("ung", "heit", "keit", "schaft", "tion", "tät", "nis", "mus", "ment", "en")
_ADJECTIVE = re.compile(r"\w+(?:e|er|es|en|em)")
_LONGEST_ACRONYM = 5
"""Longer words in capitals may be for emphasis."""
_ARTICLES = ("the", "a", "an")
_Run = list[Word]


@dataclass
class _Document:
    """What is known of a document before its names are chosen."""

    opening_words: frozenset[str]
    function_words: frozenset[str]
    lower: Counter[str]
    """How often each word stands in lower case, without a final "s"."""
    phrases: frozenset[tuple[str, str]]
    """Two words in lower case after each other."""
    is_short: bool
    """Whether it is a paragraph or two, in which most names stand once."""
    nouns: Counter[str]
    """How often words with a capital follow "a", "each" or "any": "Participant"."""
    words: Counter[str] = field(default_factory=Counter)
    """How often each word with a capital stands within a sentence."""
    runs: set[tuple[str, ...]] = field(default_factory=set)
    """The runs within sentences."""
    last_words: set[str] = field(default_factory=set)
    """The last words of runs of several words within sentences."""

    @classmethod
    def of(cls, texts: Sequence[str], language: str) -> _Document:
        lower = [word.rstrip("s") for word in LOWER.findall("\n".join(texts))]
        own = function_words(language) if language in ("", "en") else frozenset[str]()
        nouns = Counter(singular(noun.lower()) for noun in _NOUN.findall("\n".join(texts)))
        return cls(
            cues.opening_words(language),
            own,
            Counter(lower),
            frozenset(pairwise(lower)),
            len(lower) < _SHORT,
            nouns,
        )

    def learn(self, runs: Iterable[_Run]) -> None:
        """Count the words of runs within sentences, and those of several words at their beginning."""
        for run in runs:
            words = tuple(_without_genitive(word.text) for word in run)
            if run[0].place == RUNNING:
                self.words.update(words)
                self.runs.add(words)
            elif run[0].place == OPENING and len(run) > 1:
                self.words.update(words[self.lower[singular(words[0].lower())] > 0 :])

    def is_common(self, word: str) -> bool:
        lowered = word.lower()
        return lowered in self.opening_words or self.lower[singular(lowered)] >= max(1, self.words[word])

    def is_noun(self, word: str) -> bool:
        """Whether a word, though the document writes it with a capital, is one of a kind: "any Participant"."""
        return self.nouns[singular(word.lower())] >= max(2, self.words[word] * _SHARE_OF_NOUNS)


class RuleRecogniser:
    """Names by their capitals; see the module."""

    name = RULES

    def spans(self, texts: Sequence[str], language: str) -> list[list[NamedSpan]]:
        """Return the names of the passages of one document. Takes linear time."""
        if language in cues.WITHOUT_CAPITALS:
            return [[] for _ in texts]
        document = _Document.of(texts, language)
        nouns = language in _NOUNS_HAVE_CAPITALS
        found = [
            [
                trimmed
                for run in _runs(text, words_of_names(text, document.opening_words), document, nouns)
                for trimmed in _trimmed(text, run, document, language)
            ]
            for text in texts
        ]
        for runs in found:
            document.learn(runs)
        accept = _is_german_name if nouns else _is_name
        if nouns:
            document.last_words = {
                run[-1].text
                for text, runs in zip(texts, found, strict=True)
                for run in runs
                if len(run) > 1 and accept(text, run, document)
            }
        return [
            [
                _span(text, name, nouns)
                for run in runs
                for name in _parts(run, document)
                if accept(text, name, document)
            ]
            for text, runs in zip(texts, found, strict=True)
        ]


# -- runs --------------------------------------------------------------------------------------------------------------


def _runs(text: str, words: Iterable[Word], document: _Document, nouns: bool) -> Iterator[_Run]:
    """Join the words of a text that are written as one name."""
    run: _Run = []
    for word in words:
        if run and not _goes_on(text, run, word, document, nouns):
            yield run
            run = []
        run.append(word)
    if run:
        yield run


def _goes_on(text: str, run: _Run, word: Word, document: _Document, nouns: bool) -> bool:
    """Whether a run goes on with the next word with a capital."""
    last = run[-1]
    gap = text[last.end : word.start]
    if len(gap) > 12 or "\n" in gap or (word.place == LABEL) != (last.place == LABEL):
        return False
    if not gap.strip():
        if nouns and last.text.lower() in document.opening_words:
            return False
        owner = _without_genitive(last.text)
        return owner == last.text or len(run) == 1 or run[-2].text in ("St", "Saint") or owner in cues.OWNERS
    if gap in (". ", "."):
        lowered = word.text.lower()
        if len(word.text) > 1 and (
            lowered in document.opening_words or document.lower[singular(lowered)] > 0
        ):
            return last.text in cues.ABBREVIATED and lowered not in document.opening_words
        return len(last.text) == 1 or last.text in cues.ABBREVIATED
    if gap == ", ":
        return word.text.lower() in cues.LEGAL_FORMS or word.text in ("Jr", "Sr")
    if gap in (" & ", "&", "–", " v. ", " vs. "):
        return True
    joining = gap.strip().removesuffix("-")  # al-
    if gap[0] != " " or len(last.text) == 1 or _without_genitive(last.text) != last.text:  # "10-K of"
        return False
    if joining in ("of", "of the") and len(run) > 1 and not _is_institution(text, run):
        return False  # "Werner Dankwort of Germany"
    if joining in cues.CONNECTORS:
        return not nouns or (joining in cues.GERMAN_CONNECTORS and len(run) < 4 and not _is_noun(text, run))
    if joining == "and" and (run[0].text == "U.S." or (len(run) < 3 and _has_article(text, run))):
        following = takewhile(str.istitle, text[word.start : word.start + 60].split()[:3])
        if any(one.lower().rstrip(".,;:)") in cues.INSTITUTIONS for one in following):
            return True
    return (
        joining in cues.TOPIC_CONNECTORS
        and any(one.text.lower() in cues.INSTITUTIONS for one in run)
        and (joining != "and" or _OF.search(text, run[0].start, last.end) is not None)
    )


def _is_institution(text: str, run: _Run) -> bool:
    """Whether words before "of" are no person's name: they have an article, or one of them is that of an institution."""
    if _has_article(text, run) or run[0].text == "The":
        return True
    return not cues.NOT_OF_PEOPLE.isdisjoint(word.text.lower() for word in run)


def _has_article(text: str, run: _Run) -> bool:
    return text[max(0, run[0].start - 4) : run[0].start].lower() == "the "


def _is_noun(text: str, run: _Run) -> bool:
    """Whether German words before "von" are a noun, and no first names: by its ending, or by an article before it."""
    if run[0].text.lower() in cues.OFFICES:  # "Dr. Anna Schmidt von der Universität"
        return True
    determined = _is_determined(text, run[0])
    if len(run) > 1:
        return determined and run[0].text.endswith(("e", "en"))
    return determined or run[0].text.endswith(_ENDINGS_OF_NOUNS)


def _is_determined(text: str, word: Word) -> bool:
    """Whether a German word follows an article, another small word or an adjective."""
    before = text[max(0, word.start - 20) : word.start].split()[-1:]
    return bool(before) and (
        is_small(before[0].lower()) or (before[0].islower() and before[0].endswith(("e", "en")))
    )


def _trimmed(text: str, run: _Run, document: _Document, language: str) -> Iterator[_Run]:
    """Yield the run without words that belong to no name: the beginning of a sentence, dates."""
    first, end = 0, len(run)
    while first < end and (lowered := run[first].text.lower()) in document.opening_words:
        if run[first].place == RUNNING and (lowered in _ARTICLES or lowered not in document.function_words):
            break  # "the film The Birds"
        first += 1
    if end - first > 2 and language in _NOUNS_HAVE_CAPITALS and _is_determined(text, run[first]):
        lowered = run[first].text.lower()
        if lowered in cues.OFFICES - cues.ADDRESS or not lowered.endswith(("e", "en", *cues.ADDRESS)):
            first += 1  # "der Naturforscher Alexander von Humboldt"
    if end - first > 1 and run[first].text.lower() in cues.CALENDAR:
        first += _DATED.search(text, max(0, run[first].start - 6), run[first].start) is not None
    if end - first > 1 and run[first + 1].text.lower() in cues.MEN | cues.WOMEN:
        first += 1  # "on Monday Charles Babbage", "Suddenly Mr. Babbage"
    in_date = first < end and run[end - 1].text.lower() in cues.CALENDAR
    if in_date and (end - first == 1 or _DAY.match(text, run[end - 1].end)):  # "Year Ended June 30"
        return
    if first < end:
        yield run[first:end]


def _parts(run: _Run, document: _Document) -> Iterator[_Run]:
    """Yield the run without a post before it ("Prime Minister of France"), and in two if it begins with the genitive of
    a name that the document has elsewhere.
    """
    for at in range(len(run) - 1, 0, -1):
        if run[at].start - run[at - 1].end > 1 and singular(run[at - 1].text.lower()) in cues.ROLES:
            if len(run) - at > 1 or (run[at].text,) in document.runs:
                yield run[at:]
            return
    owner = _without_genitive(run[0].text)
    if len(run) == 1 or owner == run[0].text:
        yield run
        return
    rest = tuple(word.text for word in run[1:])
    if document.words[owner] > 1 or rest in document.runs or owner.isupper():
        yield run[:1]
        yield run[1:]
    else:
        yield run


def _without_genitive(word: str) -> str:
    return word if word.isalpha() else _POSSESSIVE.sub("", word)


# -- which runs are names ----------------------------------------------------------------------------------------------


def _is_name(text: str, run: _Run, document: _Document) -> bool:
    """Whether a run is a name in a language where only names have capitals."""
    words = tuple(word.text for word in run)
    if len(run) == 1:
        return _is_single_name(text, run[0], document)
    lowered = [word.lower() for word in words]
    if (cues.LEGAL_FORMS | {"company"}).issuperset(lowered) or cues.PEOPLES.issuperset(lowered):
        return False  # "Company Limited", "South African"
    if max(map(len, words)) == 1:  # R&D
        return False
    if lowered[0] in cues.NUMBERED and len(words[1]) < 3:
        return False
    lowered = [*map(singular, lowered)]
    if lowered[-1] in cues.ROLES and (document.lower[lowered[0]] or (words[0],) not in document.runs):
        return False  # "Senior Product Manager", but "Google Assistant"
    if document.phrases.issuperset(pairwise(lowered)):
        return False
    if run[0].place == RUNNING:
        return True
    common = any(document.is_common(word) for word in words)
    if run[0].place == LABEL:
        return not common and all(document.words[word] for word in words)
    return not common or words in document.runs


def _is_single_name(passage: str, word: Word, document: _Document) -> bool:
    text = _without_genitive(word.text)
    lowered = text.lower()
    if len(text) < 2 or lowered in cues.NO_NAMES_ALONE or singular(lowered) in cues.ROLES:
        return False
    if _ROMAN.fullmatch(text) or _ABBREVIATED.match(passage, word.end) or document.is_noun(text):
        return False
    if text.isupper() and len(text) <= _LONGEST_ACRONYM and word.place != LABEL:
        return lowered not in document.opening_words and document.lower[lowered] <= document.words[text]
    if document.is_common(text) or (text.isupper() and document.lower[singular(lowered)]):
        return False
    if word.place == LABEL:
        return (text,) in document.runs
    if word.place == RUNNING or _is_marked(text) or document.words[text] > 0:
        return True
    return (
        document.is_short and not text.endswith(cues.ENDINGS) and _VERB.match(passage, word.end) is not None
    )


def _is_marked(word: str) -> bool:
    """Whether a word is an acronym or has a capital within: "NASA", "GitLab"."""
    return word[1:] != word[1:].lower() and "-" not in word


def _is_german_name(text: str, run: _Run, document: _Document) -> bool:
    """Whether a run is a name in a language where all nouns have capitals."""
    words = tuple(word.text for word in run)
    if len(run) == 1:
        word = run[0]
        if _is_marked(words[0]) and word.place != LABEL:
            return _is_single_name(text, word, document)
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
    words = [word.text + "." * (len(word.text) == 1 and text[word.end : word.end + 1] == ".") for word in run]
    kind = kind_of(words)
    if not kind and len(run) in (2, 3) and _OF_PEOPLE.search(text, max(0, run[0].start - 25), run[0].start):
        kind = "person" if cues.NOT_OF_PEOPLE.isdisjoint(map(str.lower, words)) else ""
    named = len(run) > 2 and (run[1].end + 1 == run[2].start or len(run[1].text) == 1)
    if kind == "person" and named and run[0].text.lower() in cues.ADDRESS | cues.HELD_OFFICES:
        run = run[1:]  # "Professor Ada Lovelace"
    start, end = run[0].start, run[-1].end
    genitive = len(run[-1].text) - len(_without_genitive(run[-1].text))
    if genitive:
        end -= genitive
    elif not nouns:
        number = _NUMBER.match(text, end)
        if number is not None:
            end = number.end()
    return NamedSpan(start, end, kind)


def kind_of(words: Sequence[str]) -> str:
    """Return the kind of a name by its first and last word; empty if they do not tell.

    >>> kind_of(["Mrs", "Curie"]), kind_of(["Lake", "Constance"]), kind_of(["Acme", "Ltd"]), kind_of(["Enigma"])
    ('person', 'place', 'organisation', '')
    """
    if " ".join(words).lower() in cues.PLACES or " ".join(words) in cues.SHORT_PLACES:
        return "place"
    if len(words) < 2:
        return ""
    first, last = words[0].lower().rstrip("."), words[-1].lower().rstrip(".")
    for kind, known in cues.FIRST_WORDS.items():
        if first in known:
            return kind
    for kind, known in cues.LAST_WORDS.items():
        if last in known:
            return kind
    if (words[0].isupper() and words[0][1:] not in ("", ".")) or not cues.NOT_OF_PEOPLE.isdisjoint(
        map(str.lower, words)
    ):
        return ""
    named = first in cues.FIRST_NAMES and len(words) < 4
    initials = any(len(word.rstrip(".")) == 1 for word in words[1:-1]) or words[0][1:] == "."
    return "person" if named or initials or first in cues.OFFICES else ""
