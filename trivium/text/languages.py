"""Languages of keyword search: stemmers, function words, and language detection.

A store in English (the default) does not depend on this module: its analyzer is equivalent to
:func:`trivium.text.normalise.terms` and :func:`trivium.text.normalise.question_terms`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

import Stemmer

from trivium.errors import InputError
from trivium.text.folding import SIGNS_IN_WORDS, apart, spellings, tokens, words_of, written
from trivium.text.function_words import FUNCTION_WORDS
from trivium.text.normalise import terms

ENGLISH = "en"
AUTO = "auto"
"""Language setting that detects the language of each document."""
_ANY_EMBEDDER = "any-embedder"

_STEMMERS = {
    "en": "english",
    "de": "german",
    "fr": "french",
    "es": "spanish",
    "it": "italian",
    "pt": "portuguese",
    "nl": "dutch",
    "sv": "swedish",
    "da": "danish",
    "no": "norwegian",
    "fi": "finnish",
    "ru": "russian",
    "ar": "arabic",
    "el": "greek",
    "hi": "hindi",
    "tr": "turkish",
}
WITHOUT_SPACES = ("zh", "ja", "ko")
"""Languages without spaces between words (Korean: with particles attached to words), searched by character bigrams."""

NAMES = {
    **{code: name.capitalize() for code, name in _STEMMERS.items()},
    "zh": "Chinese",
    "ja": "Japanese",
    "ko": "Korean",
}
"""English names of the languages, by ISO 639-1 code."""

_CJK = "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f"
_CJK_RUN = re.compile(f"[{_CJK}]+|[^{_CJK}]+")
_CJK_CHARACTER = re.compile(f"[{_CJK}]")
_KANA = re.compile("[\u3040-\u30ff\uff66-\uff9f]")
_HANGUL = re.compile("[\uac00-\ud7af]")

_WORD = re.compile(rf"[\w{SIGNS_IN_WORDS}]+")

MIN_WORDS = 2
"""Minimum number of function words of a language: one may be part of a name ("La Paz")."""
MIN_SHARE = 0.3
"""Minimum share of function words of the language in the question."""
_SHOWS_LANGUAGE = re.compile(r"^\W*¿|[\u0370-\u04ff\u0600-\u06ff\u0900-\u097f]")
"""A Spanish mark and letters (Greek, Cyrillic, Arabic, Devanagari), beside which one function word is enough."""

_SAMPLED = 1_500
"""Number of words at the beginning of a text that are examined."""
_FEWEST = 8
_FEWEST_DIFFERENT = 3
"""Minimum number of different function words: a table repeats its labels in each row."""
_LEAST_SHARE = 0.08
"""Minimum share of function words of the language in a text. Running text has .3 and more, tables hardly any."""
_CJK_SHARE = 0.3


def check_language(code: str) -> str:
    """Normalise a language code. Raises InputError for an unknown language.

    >>> check_language("DE")
    'de'
    """
    known = code.strip().lower()
    if known != AUTO and known not in NAMES:
        raise InputError(
            f"expected a language, one of {', '.join(NAMES)}, or {AUTO} to recognise that of each document; got {code!r}"
        )
    return known


@cache
def function_words(language: str) -> frozenset[str]:
    """Return the lower-cased function words of a language; empty for languages without spaces."""
    return frozenset(FUNCTION_WORDS.get(language, "").split())


@cache
def _shares_of_words() -> dict[str, tuple[tuple[str, float], ...]]:
    """Map each function word to the languages that have it, with its weight as evidence: the fewer languages, the
    higher.
    """
    by_word: dict[str, list[str]] = {}
    for language in FUNCTION_WORDS:
        for word in function_words(language):
            by_word.setdefault(word, []).append(language)
    return {
        word: tuple((language, 1 / len(having)) for language in having) for word, having in by_word.items()
    }


def detect_language(text: str, among: Iterable[str] | None = None) -> str | None:
    """Detect the language of a text by its function words or its script. Returns None when there is too little
    evidence, as in tables and lists of names.

    >>> detect_language("Der Mars hat zwei Monde. Sie wurden im Jahr 1877 von Asaph Hall entdeckt.")
    'de'
    """
    known = frozenset(NAMES if among is None else among)
    sample = text[: 16 * _SAMPLED]
    script = _script(sample)
    if script is not None:
        return script if script in known else None
    found = written_words(sample)[:_SAMPLED]
    if len(found) < _FEWEST:
        return None
    best = _best(found, known)
    if best is None:
        return None
    common = [word for word in found if word in function_words(best)]
    enough = len(set(common)) >= _FEWEST_DIFFERENT and len(common) >= _LEAST_SHARE * len(found)
    return best if enough else None


def _script(sample: str) -> str | None:
    """Detect Chinese, Japanese or Korean if their characters are a considerable share of all letters."""
    count = len(_CJK_CHARACTER.findall(sample))
    if count == 0 or count < _CJK_SHARE * sum(character.isalpha() for character in sample):
        return None
    if len(_HANGUL.findall(sample)) > count / 2:
        return "ko"
    return "ja" if len(_KANA.findall(sample)) > count / 10 else "zh"


def _best(found: Sequence[str], known: frozenset[str]) -> str | None:
    """Return the language with the most function words; None if there are none, or two languages have equally many."""
    says = _shares_of_words()
    score: dict[str, float] = defaultdict(float)
    for word in found:
        for language, share in says.get(word, ()):
            if language in known:
                score[language] += share
    ranked = sorted(score.items(), key=lambda item: -item[1])
    if not ranked or (len(ranked) > 1 and ranked[1][1] == ranked[0][1]):
        return None
    return ranked[0][0]


# Threads share a stemmer, which has one buffer: it keeps Python's lock from one word to its stem.
@cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(_STEMMERS[language], 0)


def written_words(text: str) -> list[str]:
    """Return the lower-cased words of a text with their accents, as function words are listed."""
    return _WORD.findall(written(text))


def foreign_language(question: str, languages: Collection[str]) -> str | None:
    """Return the language of a question (its code) if it is none of the ``languages``; None if it is, or may be, in one
    of them. Questions are short, so a single function word of those languages decides.

    >>> foreign_language("Wer hat die Monde des Mars entdeckt?", ["en"])
    'de'
    >>> foreign_language("Who sang Je ne regrette rien?", ["en"])
    """
    best = ANY_LANGUAGE.language_of(question)
    if best is None or best in languages:
        return None
    own = function_words(best)
    if not own:
        return best  # recognised by its characters
    asked = written_words(question)
    known = frozenset[str]().union(*map(function_words, languages))
    if any(word in known and word not in own for word in asked):
        return None
    # Single letters are initials, too.
    found = {word for word in asked if word in own - known and len(word) > 1}
    enough = (
        len(found) >= max(MIN_WORDS, MIN_SHARE * len(asked)) or _SHOWS_LANGUAGE.search(question) is not None
    )
    return best if enough and found else None


class Word(NamedTuple):
    """The search terms of a word in the languages of a store: the ``main`` ones, and those of ``further`` spellings, of
    which the last is the word as it is written. A ``joined`` word has a part of its own for each of its words.
    """

    main: tuple[str, ...]
    further: tuple[str, ...] = ()
    joined: bool = False


@lru_cache(maxsize=1 << 18)
def _spelled(word: str, language: str, in_pairs: bool = True) -> Word:
    """Return a written word in a language: its stem, or character bigrams in languages without spaces."""
    if in_pairs and _CJK_CHARACTER.search(word) is not None:
        return Word(
            tuple(
                part
                for run in _CJK_RUN.findall(word)
                for part in (_pairs(run) if _CJK_CHARACTER.match(run) else _spelled(run, language).main)
            )
        )
    if language in WITHOUT_SPACES:
        language = ENGLISH  # such texts quote English
    first, *more = spellings(word, _stemmer(language).stemWord)
    return Word((first,), tuple(more))


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


@dataclass(frozen=True)
class Analyzer:
    """Converts words to search terms for a store with documents in these ``languages`` (codes). The first one is used
    for texts whose language is not recognised.
    """

    languages: tuple[str, ...] = (ENGLISH,)

    @property
    def english(self) -> bool:
        """Whether English is the only language."""
        return self.languages == (ENGLISH,)

    @cached_property
    def _common(self) -> dict[str, frozenset[str]]:
        """The search terms of each language's function words."""
        return {
            language: frozenset(
                stem for word in function_words(language) for stem in self._of(word, language).main
            )
            for language in self.languages
        }

    def terms(self, text: str) -> list[str]:
        """Return the search terms of a text, in order, with repetitions. With several languages, each word yields its
        terms in all of them.

        >>> Analyzer(("de",)).terms("Die Häuser der Stadt")
        ['die', 'haus', 'häuser', 'der', 'stadt']
        """
        if self.english:
            return terms(text)
        return [term for word in self._words(text) for term in (*word.main, *word.further)]

    def question_terms(self, question: str) -> list[str]:
        """Return the distinct search terms of a question, in order, without further spellings, and without function
        words unless nothing else is left.

        >>> Analyzer(("de",)).question_terms("Wer hat die Häuser gebaut?")
        ['haus', 'gebaut']
        """
        return [term for word in self.question_words(question) if not word.joined for term in word.main]

    def question_words(self, question: str) -> list[Word]:
        """Return the words of a question without function words, also those of a language that the store does not have,
        unless nothing else is left. The main terms of each are without those of earlier words.
        """
        asked = self.language_of(question)
        common = self._common[asked] if asked is not None else frozenset()
        distinct: dict[str, None] = {}
        words = []
        for word in self._words(question, asked=True):
            fresh = tuple(term for term in word.main if term not in distinct)
            distinct.update(dict.fromkeys(fresh))
            if fresh:
                words.append(word._replace(main=fresh))
        if not self.english and (foreign := foreign_language(question, self.languages)) is not None:
            common |= _function_terms(self.languages, foreign)
        kept = [word for word in words if word.joined or common.isdisjoint(word.main)]
        return words if all(word.joined for word in kept) else kept

    def places(self, question: str) -> dict[str, int]:
        """Map each term to the position in the question of the first word it stands for, from 0, counted as in a passage
        with these words.
        """
        found: dict[str, int] = {}
        for asked in (False, True):  # forms that only questions have come last, and move no other
            place = 0
            for word in self._words(question, asked):
                group = (*word.main, *word.further)
                for number, term in enumerate(group):
                    # In a language without spaces, one word yields several terms.
                    found.setdefault(term, place + (number if len(self.languages) == 1 else 0))
                place += len(group) if len(self.languages) == 1 else 1
        return found

    def language_of(self, question: str) -> str | None:
        """Detect in which of the store's languages a question is; None if unknown."""
        if len(self.languages) == 1:
            return self.languages[0]
        script = _script(question)
        if script in self.languages:
            return script
        return _best(written_words(question), frozenset(self.languages))

    def _words(self, text: str, asked: bool = False) -> list[Word]:
        found = tokens(text)
        words = [self._of_word(*pair) for token in found for pair in words_of(token, asked)]
        if asked:
            words += [self._of_word("".join(run), True) for run in apart(found, self.function_words)]
        return words

    @cached_property
    def function_words(self) -> frozenset[str]:
        """The function words of all its languages, as they are written."""
        return frozenset[str]().union(*map(function_words, self.languages))

    def _of_word(self, word: str, joined: bool) -> Word:
        own = [self._of(word, language) for language in self.languages]
        main = dict.fromkeys(term for one in own for term in one.main)
        further = dict.fromkeys(term for one in own for term in one.further if term not in main)
        if further:
            further[word] = further.pop(word, None)  # the last one
        return Word(tuple(main), tuple(further), joined)

    def _of(self, word: str, language: str) -> Word:
        # English stores keep the original behaviour: a run of characters without spaces is one word.
        return _spelled(word, language, in_pairs=not self.english)


IN_ENGLISH = Analyzer()


ANY_LANGUAGE = Analyzer(tuple(NAMES))


@cache
def _function_terms(languages: tuple[str, ...], foreign: str) -> frozenset[str]:
    """Return the search terms, in a store with these ``languages``, of the function words of another one."""
    words = Analyzer(languages)._words(" ".join(function_words(foreign)))
    return frozenset(term for word in words for term in word.main)


@dataclass(frozen=True, slots=True)
class StoreLanguages:
    """The languages of a store: those of its documents, whether those of further documents are detected (``detect``),
    and whether an English-only model may embed other languages (``any_embedder``).
    """

    codes: tuple[str, ...] = (ENGLISH,)
    detect: bool = False
    any_embedder: bool = False

    @classmethod
    def read(cls, kept: str | None) -> StoreLanguages:
        """Parse the result of :meth:`__str__`; None is English.

        >>> StoreLanguages.read("auto de en")
        StoreLanguages(codes=('de', 'en'), detect=True, any_embedder=False)
        """
        words = (kept or "").split()
        codes = tuple(word for word in words if word in NAMES)
        return cls(codes or (ENGLISH,), AUTO in words, _ANY_EMBEDDER in words)

    def __str__(self) -> str:
        more = [word for word, on in ((_ANY_EMBEDDER, self.any_embedder), (AUTO, self.detect)) if on]
        return " ".join((*more, *self.codes))

    @property
    def analyzer(self) -> Analyzer:
        """The analyzer for these languages."""
        return _analyzer(self.codes)


@lru_cache(maxsize=64)
def _analyzer(codes: tuple[str, ...]) -> Analyzer:
    return Analyzer(codes)
