"""Mends typing errors: a word of a question that no passage has, and that is no common English word, is replaced by one
that passages have and that differs by one letter left out, added, swapped with the next or, in longer words, replaced.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

from trivium.graph.protocols import TextSearch
from trivium.text.languages import ENGLISH, StoreLanguages

_WORD = re.compile(r"(?<![\w'’-])[a-z]{5,30}(?![\w'’-])")
"""Words in lower case: others are names, which are not mended. Short words have too many that look like them."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LEAST_REPLACED = 6
"""Number of letters of a word in which one may be another."""


def mended(question: str, store: TextSearch) -> str:
    """Return a question in which words with typing errors are replaced by those that an English store has: of several by
    the one with the same letters, else by a common word, in which a letter was left out rather than replaced.
    """
    analyzer = StoreLanguages.read(store.languages).analyzer
    if set(analyzer.languages) != {ENGLISH}:
        return question  # common words of other languages are not known
    spelled: dict[str, str] = {}
    asked = list(dict.fromkeys(_WORD.findall(question)))
    for word, known in zip(
        asked, _passages_with([analyzer.terms(word) for word in asked], store), strict=True
    ):
        tried = [] if known or word in _common_words() else list(dict.fromkeys(_edits(word)))
        terms = [analyzer.terms(other) for other in tried]
        counts = [
            count if _is_word(other, found) else 0
            for other, found, count in zip(tried, terms, _passages_with(terms, store), strict=True)
        ]
        if any(counts):
            spelled[word] = max(
                (other for other, count in zip(tried, counts, strict=True) if count),
                key=lambda other: (_alike(word, other), other in _common_words(), len(other)),
            )
    return _WORD.sub(lambda found: spelled.get(found[0], found[0]), question)


def _passages_with(terms: Sequence[Sequence[str]], store: TextSearch) -> list[int]:
    """Return how many passages have the first of the terms of each word."""
    if not terms:
        return []
    found = store.term_statistics([one[0] if one else "" for one in terms]).document_frequency
    return [int(count) if one else 0 for one, count in zip(terms, found.tolist(), strict=True)]


@cache
def _common_words() -> frozenset[str]:
    """Return the 20,000 most frequent words of English, as the tokenizer of minilm knows them."""
    tokenizer = json.loads(files("trivium.embedding").joinpath("minilm/tokenizer.json").read_text("utf-8"))
    return frozenset(word for word in tokenizer["model"]["vocab"] if word.isalpha())


def _is_word(word: str, found: Sequence[str]) -> bool:
    """Whether a word is one, if passages have its terms: a stem does not tell that all that has it is a word."""
    return word in _common_words() or list(found) in ([word], [word.removesuffix("s")])


def _alike(word: str, other: str) -> bool:
    """Whether two words have the same letters, but for how often one stands in a row."""
    return sorted(set(word)) == sorted(set(other))


def _edits(word: str) -> Iterator[str]:
    """Iterate over the words with the same first letter that differ by one letter."""
    for at in range(1, len(word) + 1):
        before, behind = word[:at], word[at:]
        if behind:
            yield before + behind[1:]
        if len(behind) > 1:
            yield before + behind[1] + behind[0] + behind[2:]
        for letter in _LETTERS:
            yield before + letter + behind
            if behind and len(word) >= _LEAST_REPLACED:
                yield before + letter + behind[1:]
