"""Text normalisation: the only place where titles, names and search terms are normalised."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import Stemmer

from trivium.text.folding import SIGNS_IN_WORDS, SIGNS_OF_THAI, Cache, folded, spellings, tokens, words_of
from trivium.text.folding import composed as composed
from trivium.text.sentence_ends import SentenceEnds

_WORD = re.compile(rf"[\w{SIGNS_IN_WORDS}{SIGNS_OF_THAI}]+", re.UNICODE)
_TOKEN = re.compile(r"\w+|[^\w\s]", re.UNICODE)
_SPACE = re.compile(r"\s+", re.UNICODE)
_PARENTHESIS = re.compile(r"(?<!\s)\s*+\([^()]*\)$")
_LINE = re.compile(r"[^\n]+")
# Citation marks after the full stop belong to the sentence before them.
_MARKS = r"""['"”’»)]*(?:\s*\[\d{1,3}\])*"""
_SENTENCE_END = re.compile(
    rf"(?<![.!?…])[.!?…]++{_MARKS}(?=\s+(?:[^\sa-z(]|\([^a-z])|\s*$)|[。！？؟۔।॥]++{_MARKS}"
)
# Full stops that do not end a sentence: after titles, other abbreviations before a capital or a number, and initials
# ("J. Smith", "U.S.").
_ABBREVIATED = re.compile(
    r"(?:\b(?:Dr|Mr|Mrs|Ms|Prof|St|Sr|Jr|Lt|Col|Gen|Gov|Sen|Rep|Rev|Hon|Mt|Ft|No|Nos|Fig|Vol|vol|pp|p|ca|c|cf|vs|v"
    r"|approx|est|b|d|r|fl|e\.g|i\.e)|(?<![^\W\d_])[A-HJ-Z])\.$"
)
STOPS = tuple(".!?…。！？؟۔।॥]\"'”’)")
"""Characters that end a complete sentence, including a citation or closing quotation mark after its full stop."""
_CLOSING = " \t\n.!?…。！？؟۔।॥"
"""Characters that close a sentence, including white space."""
_LIST_ITEM = re.compile(r"(?:\d{1,3}\.){1,9}")
_INK = re.compile(r"\S")
_LOOKAHEAD = 80
_NUMBER_OF_LINE = re.compile(r"[ \t]{0,40}(?:[A-Za-z]|[ivxlc]{2,7}|[IVXLC]{2,7})\.")
_stem = Stemmer.Stemmer("english", 0).stemWord


def has_lone_surrogate(text: str) -> bool:
    """Whether a text contains a lone surrogate, which is not a character and cannot be encoded.

    >>> has_lone_surrogate("Mars\\udcff"), has_lone_surrogate("Möbius")
    (True, False)
    """
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def normalise_title(title: str) -> str:
    """Normalise a title for use as a key: as a heading (:func:`normalise_heading`), with spaces instead of underscores,
    as in addresses of Wikipedia.

    >>> normalise_title("Alfred_North_Whitehead")
    'Alfred North Whitehead'
    """
    return normalise_heading(title.replace("_", " "))


def normalise_heading(heading: str) -> str:
    """Normalise the heading of a section: NFC, no runs of white space, control characters or lone surrogates.

    >>> normalise_heading("Project  Channels (proj_)")
    'Project Channels (proj_)'
    """
    clean = composed(heading)
    clean = (
        "".join(" " if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c for c in clean)
        if not (clean.isascii() and clean.isprintable())
        else clean
    )
    return _SPACE.sub(" ", clean).strip()


def normalise_name(name: str) -> str:
    """Normalise a name for matching: :func:`folded`, spaces instead of punctuation.

    >>> normalise_name("Earth's Rotation (film)"), normalise_name("Ærøskøbing")
    ('earth s rotation film', 'aeroskobing')
    """
    return " ".join(words(name.replace("_", " ")))


def without_parenthesis(title: str) -> str:
    """Remove the trailing disambiguation from a title: ``Mercury (planet)`` -> ``Mercury``."""
    return _PARENTHESIS.sub("", title)


def named_by_id(title: str, identifier: object) -> str:
    """The title of a document that only its id tells apart. The id is a name, and no text: see :func:`without_id`.

    >>> named_by_id("Heather", 17), named_by_id("", 17)
    ('Heather ⟦17⟧', '⟦Document 17⟧')
    """
    return f"{title} ⟦{identifier}⟧" if title else f"⟦Document {identifier}⟧"


def without_id(title: str) -> str:
    """What of a title is text, which is searched and embedded.

    >>> without_id("Heather ⟦17⟧"), without_id("⟦Document 17⟧"), without_id("Heather")
    ('Heather', '', 'Heather')
    """
    while title.endswith("⟧") and "⟦" in title:
        title = title.rpartition("⟦")[0].rstrip()
    return title


def words(text: str) -> list[str]:
    """Return the words, :func:`folded` and unstemmed.

    >>> words("Die Küche")
    ['die', 'kuche']
    """
    return _WORD.findall(folded(text))


NUMBER_WORDS = dict(
    zip(
        words("two three four five six seven eight nine ten eleven twelve"),
        map(str, range(2, 13)),
        strict=True,
    )
)
"""Numbers that are usually written as words, with their digits."""

_main = Cache(lambda token: " ".join(spellings(w, _stem)[0] for w, joined in words_of(token) if not joined))
_all = Cache(lambda token: " ".join(term for w, _ in words_of(token) for term in spellings(w, _stem)))


def terms(text: str) -> list[str]:
    """Return the search terms: words with English (Snowball) stemming, in order, with repetitions, and their further
    spellings (:mod:`trivium.text.folding`).

    >>> terms("The Moons of Jupiter"), terms("e-mails")
    (['the', 'moon', 'of', 'jupit'], ['e', 'mail', 'email'])
    """
    return " ".join(map(_all.__getitem__, tokens(text))).split()


def main_terms(text: str) -> list[str]:
    """Return :func:`terms` without further spellings.

    >>> main_terms("e-mails")
    ['e', 'mail']
    """
    return " ".join(map(_main.__getitem__, tokens(text))).split()


_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def plain(text: str) -> str:
    """Make text safe to display: control characters (except line ends), direction marks and lone surrogates become
    spaces.

    >>> plain("red\\x1b[0m")
    'red [0m'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        " " if c in _DIRECTIONS or (c != "\n" and unicodedata.category(c) in ("Cc", "Cs")) else c
        for c in text
    )


_FUNCTION_WORDS = (
    "a an the of in on at to for from by with as into and or but so than then there this that these those "
    "it its he she they them his her their you your we our i me my is are was were be been being am do "
    "does did has have had can could would should shall might must not no if about what which who whom "
    "whose when where why how "
)
"""English words that carry no topic. Encyclopaedias rarely ask questions, so *what*, *who* or *how* are rare in them,
and an inverse document frequency alone would give them a high weight.
"""

_FUNCTION_TERMS = frozenset(terms(_FUNCTION_WORDS))


def question_terms(question: str) -> list[str]:
    """Return the distinct search terms of a question, in order, without function words unless nothing else is left.

    >>> question_terms("Who discovered the moons of Mars?")
    ['discov', 'moon', 'mar']
    >>> question_terms("Who?")
    ['who']
    """
    return content_terms(question) or list(dict.fromkeys(main_terms(question)))


def content_terms(text: str) -> list[str]:
    """Return the distinct search terms of a text, in order, without function words; may be empty.

    >>> content_terms("When did he do that?")
    []
    """
    return [term for term in dict.fromkeys(main_terms(text)) if term not in _FUNCTION_TERMS]


def without_closing_marks(question: str) -> str:
    """Remove closing punctuation from a question, which users type inconsistently, unless nothing else is left.

    >>> without_closing_marks("How many moons has Mars ?"), without_closing_marks("?")
    ('How many moons has Mars', '?')
    """
    return question.rstrip(_CLOSING) or question


def count_tokens(text: str) -> int:
    """Count words and punctuation marks. This needs no model and is about four fifths of the number of a model's word
    pieces.
    """
    return len(_TOKEN.findall(text))


def sentences(text: str) -> list[tuple[int, int]]:
    """Return start and end of each sentence, in order, without the white space between them. Line breaks end a
    sentence. Ordinals and abbreviations of other languages do not where the text is not English.

    >>> text = "It was found by J. Smith in 1877. [1] So they say.\\nMass: 5 kg"
    >>> [text[start:end] for start, end in sentences(text)]
    ['It was found by J. Smith in 1877. [1]', 'So they say.', 'Mass: 5 kg']
    """
    ends = SentenceEnds(text)
    return [
        span
        for line in _LINE.finditer(text)
        for span in _sentences_of_line(text, line.start(), line.end(), ends)
    ]


def _sentences_of_line(text: str, start: int, end: int, ends: SentenceEnds) -> Iterator[tuple[int, int]]:
    begin, word = start, None
    for stop in _SENTENCE_END.finditer(text, start, end):
        # Within a line, a full stop after an abbreviation or a list number does not end a sentence.
        ink = _INK.search(text, stop.end(), end)
        rest = text[ink.start() : min(end, ink.start() + _LOOKAHEAD)] if ink else ""
        word = word or _WORD.search(text, begin, stop.end())
        if rest and stop[0] == "." and _ABBREVIATED.search(text, max(begin, stop.end() - 12), stop.end()):
            continue
        if rest and word and _LIST_ITEM.fullmatch(text, word.start(), stop.end()):
            continue
        if rest and begin == start and _NUMBER_OF_LINE.fullmatch(text, begin, stop.end()):
            continue
        if rest and ends.continues(begin, stop, rest):
            continue
        yield from _trimmed(text, begin, stop.end())
        begin, word = stop.end(), None
    yield from _trimmed(text, begin, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    if piece.strip():
        yield start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())
