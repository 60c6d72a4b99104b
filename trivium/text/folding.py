"""Spellings of a word that are searched alike: accents, ligatures, width, apostrophes, hyphens, and points of acronyms.

A *token* is a run of characters without spaces, such as ``e-mail`` or ``3.14.2``. It is found by its words (``e``,
``mail``) and joined (``email``). Between digits a joined form keeps its signs: 10³¹ is 10^31, not 1031.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence, Set
from functools import lru_cache
from itertools import groupby, pairwise

_MAX_MARKS = 30
_JOINER = "\u034f"  # combining grapheme joiner
_MANY_MARKS = re.compile(
    rf"[^\w\s\x00-\x7f]{{{_MAX_MARKS + 1},}}"
)  # combining marks are neither word characters nor spaces

_LONGEST = 100
"""Longer tokens are found by their words only. Longer runs of characters are not cached."""
_CACHED = 1 << 16
SIGNS_IN_WORDS = "".join(
    chr(code) for code in range(0x0900, 0x0E00) if unicodedata.category(chr(code)) in ("Mn", "Mc")
)
"""Vowels and other signs inside of words of the scripts of India, which regular expressions do not count as letters."""
SIGNS_OF_THAI = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
"""The same of Thai, as a set of a regular expression: apart, since no spaces part its words."""
_TOKEN = re.compile(rf"[\w{SIGNS_IN_WORDS}]++(?:['\-./:^]{{1,2}}+[\w{SIGNS_IN_WORDS}]++)*+")
_PART = re.compile(rf"(?:[^\W_]|[{SIGNS_IN_WORDS}])+")
_HYPHENATED = re.compile(rf"[\w{SIGNS_IN_WORDS}'\-]+")
_ACRONYM = re.compile(r"(?<!\w)[^\W\d_]{1,2}(?:\.[^\W\d_]{1,2})+(?!\w)")
_ENDING = re.compile(r"'(?:s|t|re|ve|ll|d|m)(?!\w)")
"""English endings (*Earth's*, *don't*), which are words of their own."""
_SHORT = 3
"""Only words with so short a part (*e-mail*, *re-entry*) are commonly written as one."""
_SHORTEST = 4
"""Shorter terms are no identifiers."""
_NUMBER = re.compile(r"\d+(?:st|nd|rd|th|s)")
_POWER = re.compile(r"(?<=\dx)10\^-?\d+")  # of 4x10^27
_VERSION = re.compile(r"^v(?=\d+\.)")
_SIGNS = re.compile(r"(?<=\d)(['\-./:^_]+)(?=\d)|['\-./:^_]+")

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_NOT_PLAIN = re.compile(r"[^\x00-\x7fß-öø-ÿ]+")  # German or French letters stay as they are
_RAISED_DIGIT = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹₀-₉]")
_RAISED = re.compile(r"[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+|[₊₋]?[₀-₉]+")
_VOWELS = (
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4"
    "\u06e7\u06e8\u06ea-\u06ed"
)
"""Vowel signs of Hebrew and Arabic, which writers leave out. Marks of Devanagari, Thai or kana are letters."""
UNSEEN = f"\u00ad\u0640\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff{_VOWELS}"
"""Characters that words are compared without, as a set of a regular expression."""
_UNSEEN = re.compile(f"[{UNSEEN}]")
_LOOSE = re.compile("[\u0300-\u036f]+")
_ACCENTS = re.compile(f"[\u0300-\u0305\u0307-\u036f{_VOWELS}]+|(?<!и)\u0306")  # й is a letter of its own
_UNDECOMPOSED = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ħ": "h", "ŧ": "t"}
)
_TRANSLITERATED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})
"""How German and Scandinavian letters are typed on other keyboards."""
_REPLACED = str.maketrans(
    {
        **dict.fromkeys("’‘ʼʹ′ʻ`´", "'"),
        **dict.fromkeys("‐‑‒–−⁻₋", "-"),
        **dict.fromkeys("™℠⁺₊", ""),
        **{fraction: f" {fraction}" for fraction in "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"},
    }
)
_SLASH = str.maketrans("⁄＇", "/'")


class Cache(dict[str, str]):
    """The results of a function of a text, dropped when there are too many."""

    def __init__(self, function: Callable[[str], str]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, text: str) -> str:
        found = self._function(text)
        if len(text) <= _LONGEST:
            if len(self) >= _CACHED:
                self.clear()
            self[text] = found
        return found


def composed(text: str) -> str:
    """Convert to Unicode normalisation form NFC. A joiner is inserted after every 30 consecutive combining marks, as in
    the stream-safe text format, because sorting longer runs takes quadratic time.

    >>> composed("e\u0301")
    'é'
    """
    if text.isascii():
        return text
    if _MANY_MARKS.search(text) is not None:
        text = _MANY_MARKS.sub(lambda match: _with_joiners(match.group()), text)
    return unicodedata.normalize("NFC", text)


def _with_joiners(marks: str) -> str:
    parts = []
    count = 0
    for mark in marks:
        count = count + 1 if unicodedata.combining(mark) else 0
        if count > _MAX_MARKS:
            parts.append(_JOINER)
            count = 1
        parts.append(mark)
    return "".join(parts)


def folded(text: str) -> str:
    """Return a text in lower case without accents, ligatures, wide letters and invisible characters.

    >>> folded("Ærøskøbing, Łomża, Gießstraße"), folded("ﬁling ＴＲ－４１０ 10³¹ m² O’Brien")
    ('aeroskobing, lomza, giessstrasse', "filing tr-410 10^31 m2 o'brien")
    """
    plain = written(text)
    return plain if plain.isascii() else _NOT_ASCII.sub(lambda run: _BARE[run[0]], plain)


def written(text: str) -> str:
    """Return a text in lower case with its accents, but all else as :func:`folded` does.

    >>> written("Gießstraße ﬁling")
    'gießstraße filing'
    """
    if text.isascii():
        return text.lower()
    lower = composed(text).lower()
    raised = _RAISED.sub(_with_sign, lower) if _RAISED_DIGIT.search(lower) else lower
    return _NOT_PLAIN.sub(lambda run: _PLAINER[run[0]], raised)


def _with_sign(raised: re.Match[str]) -> str:
    """A raised or lowered number behind a digit with a sign between them."""
    if not raised.string[max(0, raised.start() - 1) : raised.start()].isdecimal():
        return raised[0]
    return ("_" if raised[0][0] in "₊₋₀₁₂₃₄₅₆₇₈₉" else "^") + raised[0]


def _plainer(run: str) -> str:
    clean = unicodedata.normalize("NFKC", composed(_UNSEEN.sub("", run.translate(_REPLACED)))).lower()
    return _LOOSE.sub("", clean).translate(_SLASH)


def _bare(run: str) -> str:
    marked = unicodedata.normalize("NFKD", composed(run.casefold().translate(_UNDECOMPOSED)))
    return composed(_ACCENTS.sub("", marked).translate(_UNDECOMPOSED))


_PLAINER, _BARE = Cache(_plainer), Cache(_bare)


def tokens(text: str) -> list[str]:
    """Return the tokens of a text, as :func:`written`.

    >>> tokens("The e-mail of O’Brien, v3.14.2.")
    ['the', 'e-mail', 'of', "o'brien", 'v3.14.2']
    """
    return _TOKEN.findall(written(text))


@lru_cache(maxsize=_CACHED)
def words_of(token: str, asked: bool = False) -> tuple[tuple[str, bool], ...]:
    """Return the words of a token and, marked True, the forms by which it is also found, in order. A passage has only
    those that people write for it; a question (``asked``) asks for all.

    >>> [word for word, _ in words_of("o'brien's")], [word for word, joined in words_of("u.s.s.r") if joined]
    (['o', 'brien', 's', 'obrien'], ['ussr'])
    >>> [word for word, joined in words_of("ab-1234/5") if joined], words_of("v3.14.2")[-1]
    (['ab1234', 'ab1234/5'], ('3.14.2', True))
    >>> words_of("table-tennis") == words_of("table-tennis", asked=True)[:-1]
    True
    """
    if token.isalnum():
        return ((token, False),)
    if len(token) > _LONGEST:
        return tuple((word, False) for word in _PART.findall(token))
    words: list[tuple[str, bool]] = []
    known = {"", *_PART.findall(token)}

    def add(form: str) -> None:
        if form not in known:
            words.append((form, True))
            known.add(form)

    for run in _HYPHENATED.findall(token):
        parts = _PART.findall(run)
        words += [(part, False) for part in parts]
        if asked or min(map(len, parts), default=0) <= _SHORT or is_identifier(joined(run)):
            add(joined(run))
    for acronym in _ACRONYM.findall(token):
        add(acronym.replace(".", ""))
    for power in _POWER.findall(token):
        add(power)
    if any(map(str.isdigit, token)):
        add(joined(token))
    return tuple(words)


def apart(found: Sequence[str], common: Set[str]) -> list[tuple[str, ...]]:
    """Return the runs of neighbouring tokens that may be one word elsewhere: single letters, and two tokens of which one
    is short or a number, and none a function word (``common``).

    >>> apart(tokens("The e mail of U S A about TR 410"), {"the", "of", "a", "about"})
    [('e', 'mail'), ('u', 's'), ('tr', '410'), ('u', 's', 'a')]
    """
    pairs = [
        (first, second)
        for first, second in pairwise(found)
        if first.isalnum()
        and second.isalnum()
        and (min(len(first), len(second)) <= _SHORT - 1 or first.isdigit() != second.isdigit())
        and common.isdisjoint((first, second))
    ]
    letters = [tuple(run) for single, run in groupby(found, lambda t: len(t) == 1 and t.isalpha()) if single]
    return [*pairs, *(run for run in letters if len(run) > 2)]


def is_identifier(term: str) -> bool:
    """Whether a term looks like a code, a version or a part number: it has a digit beside letters or signs, or five
    digits, and is no ordinal or decade.

    >>> [is_identifier(term) for term in ("0x80070057", "3.14.2", "tr410", "1877", "20th", "1960s", "moon")]
    [True, True, True, False, False, False, False]
    """
    long = len(term) >= _SHORTEST and any(map(str.isdigit, term))
    return long and (len(term) > _SHORTEST or not term.isdigit()) and _NUMBER.fullmatch(term) is None


def joined(token: str) -> str:
    """Return a token without its signs but those between digits, and without an English ending.

    >>> joined("o'brien's"), joined("ab-1234/5"), joined("10^31")
    ('obrien', 'ab1234/5', '10^31')
    """
    return _SIGNS.sub(lambda sign: sign[1] or "", _VERSION.sub("", _ENDING.sub("", token)))


def spellings(word: str, stem: Callable[[str], str]) -> tuple[str, ...]:
    """Return the terms of a :func:`written` word: its folded stem, and if it has accents also the stem of the word
    without them, transliterated, and the word itself, which comes last. A joined number has no stem.

    >>> spellings("marché", lambda word: word.removesuffix("é")), spellings("müller", str)
    (('march', 'marche', 'marché'), ('muller', 'mueller', 'müller'))
    """
    if word.isascii():
        return (stem(word) if word.isalnum() else word,)
    bare = folded(word)
    if bare == word:
        return (stem(word),)
    more = stem(bare), stem(folded(word.translate(_TRANSLITERATED))), word
    return tuple(dict.fromkeys((folded(stem(word)), *more)))
