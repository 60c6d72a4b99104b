"""How Trivium reads words: titles, names and search terms are normalised here and nowhere else."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import Stemmer

_WORD = re.compile(r"\w+", re.UNICODE)
_TOKEN = re.compile(r"\w+|[^\w\s]", re.UNICODE)
_SPACE = re.compile(r"[\s_]+", re.UNICODE)
_PARENTHESIS = re.compile(r"\s*\([^()]*\)$")
_stem = Stemmer.Stemmer("english", 0).stemWord


def normalise_title(title: str) -> str:
    """A title as a key: NFC, spaces for underscores, no runs of white space, control characters or halves of
    surrogate pairs.

    >>> normalise_title("Alfred_North_Whitehead")
    'Alfred North Whitehead'
    """
    clean = unicodedata.normalize("NFC", title)
    clean = (
        "".join(" " if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c for c in clean)
        if not (clean.isascii() and clean.isprintable())
        else clean
    )
    return _SPACE.sub(" ", clean).strip()


def normalise_name(name: str) -> str:
    """A name for matching: lower case, punctuation as spaces.

    >>> normalise_name("Earth's Rotation (film)")
    'earth s rotation film'
    """
    return " ".join(_WORD.findall(name.replace("_", " ").lower()))


def without_parenthesis(title: str) -> str:
    """The title without its trailing disambiguation: ``Mercury (planet)`` -> ``Mercury``."""
    return _PARENTHESIS.sub("", title)


def words(text: str) -> list[str]:
    """Lower-cased words, unstemmed."""
    return _WORD.findall(text.lower())


@lru_cache(maxsize=1 << 18)
def _stemmed(word: str) -> str:
    return str(_stem(word))


def terms(text: str) -> list[str]:
    """Search terms: lower-cased words with English (Snowball) stemming, in order, repeats kept.

    >>> terms("The Moons of Jupiter")
    ['the', 'moon', 'of', 'jupit']
    """
    return [_stemmed(word) for word in _WORD.findall(text.lower())]


_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def plain(text: str) -> str:
    """Text that does nothing but read: spaces for control characters (a line's end stays), for marks that turn the
    direction of what follows, and for halves of surrogate pairs.

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
"""English words that carry no topic. Encyclopaedias hardly ask, so that *what*, *who* or *how* are rare in them and
an inverse document frequency alone would take them for telling."""

_FUNCTION_TERMS = frozenset(terms(_FUNCTION_WORDS))


def question_terms(question: str) -> list[str]:
    """The distinct search terms of a question, in order, without function words (with them when nothing else is
    left).

    >>> question_terms("Who discovered the moons of Mars?")
    ['discov', 'moon', 'mar']
    >>> question_terms("Who?")
    ['who']
    """
    distinct = list(dict.fromkeys(terms(question)))
    return [term for term in distinct if term not in _FUNCTION_TERMS] or distinct


def count_tokens(text: str) -> int:
    """Number of words and punctuation marks: about four fifths of a model's word pieces, and model-free."""
    return len(_TOKEN.findall(text))
