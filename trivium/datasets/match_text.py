"""Finds a known text among the chunks of its page, regardless of punctuation and markup.

Words are compared as :func:`trivium.text.normalise.normalise_name` reads them: lower case, punctuation as spaces. A
text of at least four words is compared by its distinct word 4-grams, which tolerate small edits but rarely
agree by chance; a shorter one has to occur word for word.

Quotes are taken from the raw text of a document, often Markdown, whereas chunks contain the parsed text. They differ in
two ways: addresses of links and names of pictures are not in the text, and a table row includes the names of its
columns (``Country: Norway; Capital: Oslo`` for ``| Norway | Oslo |``).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from html import unescape

from trivium.parser.tables import BETWEEN_CELLS
from trivium.parser.text_runs import COLON
from trivium.text.normalise import normalise_name

GRAM = 4
MIN_SHARE = 0.6
"""A chunk holds a text when it shares at least this much of the text's 4-grams."""

_Gram = tuple[str, ...]


class PageTexts:
    """The chunks of one page, indexed for many look-ups. Chunks are identified by their position in ``texts``."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._words = [_words(text) for text in texts]
        self._padded = [f" {' '.join(words)} " for words in self._words]
        self._sizes: list[int] = []
        self._holders: defaultdict[_Gram, list[int]] = defaultdict(list)
        for chunk, words in enumerate(self._words):
            grams = _grams(words)
            self._sizes.append(len(grams))
            for gram in grams:
                self._holders[gram].append(chunk)

    def best(self, text: str, preferred: Collection[int] = ()) -> tuple[int, ...]:
        """The positions of the chunks that hold ``text`` best; empty when none holds it.

        Among equal shares of 4-grams a ``preferred`` chunk wins, then the shortest chunk. More than one
        position is returned only when chunks are equal in all of that.
        """
        shares = {chunk: share for chunk, share in self._shares(text).items() if share >= MIN_SHARE}
        return _smallest(shares, lambda c: (-shares[c], c not in preferred, len(self._words[c])))

    def best_part(self, text: str) -> tuple[int, ...]:
        """For a text that was split over several chunks, the chunks that hold most of it; empty when none does.

        A chunk is a part of the text when at least ``MIN_SHARE`` of its own 4-grams come from it. The parts
        together must cover at least ``MIN_SHARE`` of the text's 4-grams.
        """
        grams = _grams(_words(text))
        common = self._common(grams)
        parts = {chunk for chunk, n in common.items() if n >= MIN_SHARE * self._sizes[chunk]}
        covered = sum(not parts.isdisjoint(self._holders.get(gram, ())) for gram in grams)
        if not grams or covered < MIN_SHARE * len(grams):
            return ()
        return _smallest(parts, lambda c: (-common[c],))

    def containing(self, answers: Iterable[str]) -> tuple[int, ...]:
        """The positions of chunks that contain one of the answers as whole words. Answers without words match
        nothing."""
        phrases = [f" {' '.join(words)} " for words in map(_words, answers) if words]
        return tuple(
            chunk for chunk, padded in enumerate(self._padded) if any(phrase in padded for phrase in phrases)
        )

    def holding(self, text: str) -> tuple[int, ...]:
        """The positions of all chunks that hold ``text``: its words in a row, or at least ``MIN_SHARE`` of its 4-grams. A
        chunk of fewer words also holds it when at least ``MIN_SHARE`` of the chunk's own 4-grams come from it."""
        words = _words(text)
        if not words:
            return ()
        grams = _grams(words)
        held = {
            chunk
            for chunk, n in self._common(grams).items()
            if n >= MIN_SHARE * len(grams)
            or (len(self._words[chunk]) < len(words) and n >= MIN_SHARE * self._sizes[chunk])
        }
        return tuple(sorted(held.union(self.containing([text]))))

    def _shares(self, text: str) -> dict[int, float]:
        words = _words(text)
        if len(words) < GRAM:
            return dict.fromkeys(self.containing([text]), 1.0)
        grams = _grams(words)
        return {chunk: n / len(grams) for chunk, n in self._common(grams).items()}

    def _common(self, grams: Iterable[_Gram]) -> Counter[int]:
        """The number of the given 4-grams that each chunk has."""
        return Counter(chunk for gram in grams for chunk in self._holders.get(gram, ()))


def _smallest(chunks: Iterable[int], key: Callable[[int], tuple[float, ...]]) -> tuple[int, ...]:
    """The chunks with the smallest key, in page order."""
    keys = {chunk: key(chunk) for chunk in chunks}
    smallest = min(keys.values(), default=None)
    return tuple(sorted(chunk for chunk, value in keys.items() if value == smallest))


def has_words(text: str) -> bool:
    """Whether a text contains any words after normalisation."""
    return bool(_words(text))


def same_words(left: str, right: str) -> bool:
    """Whether two texts have the same words in the same order, ignoring punctuation and case."""
    return _words(left) == _words(right)


def _words(text: str) -> list[str]:
    return normalise_name(unicodedata.normalize("NFC", text)).split()


def _grams(words: Sequence[str]) -> set[_Gram]:
    return set(zip(*(words[i:] for i in range(GRAM)), strict=False))


_ADDRESS = re.compile(
    r"\]\(\s{0,9}(?:<[^<>\n]{0,4000}>|(?:[^\s()]|\([^\s()]{0,500}\)){0,4000})"
    r"""(?:\s{1,9}(?:"[^"]{0,1000}"|'[^']{0,1000}'))?\s{0,9}\)"""
)
"""The part after the text of a link or picture: ``](address "title")``."""
_TAG = re.compile(
    r"</?(?:a|b|br|code|div|em|i|img|kbd|li|ol|p|span|strong|sub|sup|u|ul)(?=[\s/>])[^<>]{0,4000}>",
    re.IGNORECASE,
)
_LABEL = re.compile(rf"(?:^|(?<={re.escape(BETWEEN_CELLS)}))[^;\n]{{1,200}}?{re.escape(COLON)}")


class QuotedTexts:
    """The chunks of one document, indexed for finding quotes."""

    def __init__(self, texts: Sequence[str]) -> None:
        readings = dict.fromkeys((tuple(texts), tuple(map(without_labels, texts))))
        self._readings = [PageTexts(reading) for reading in readings]

    def holding(self, quotes: Iterable[str]) -> tuple[int, ...]:
        """Return the positions of chunks that hold one of the quotes
        (:meth:`trivium.datasets.match_text.PageTexts.holding`).
        """
        texts = {text: None for quote in quotes if has_words(text := words_of(quote))}
        found = {row for text in texts for reading in self._readings for row in reading.holding(text)}
        return tuple(sorted(found))


def words_of(quote: str) -> str:
    """Return the text of a quote without HTML tags and without addresses of links and pictures. Other marks, such as
    those of emphasis, are not words and are ignored by the comparison.

    >>> words_of("**Ask** [the team](/team/) in `#help` <br> ![A map](img/map.png)")
    '**Ask** [the team]  in `#help`   ![A map] '
    """
    return unescape(_TAG.sub(" ", _ADDRESS.sub("] ", quote)))


def without_labels(text: str) -> str:
    """Remove the names of columns from lines that are table rows.

    >>> without_labels("Country | Capital\\nCountry: Norway; Capital: Oslo")
    'Country | Capital\\nNorway; Oslo'
    """
    return "\n".join(map(_without_labels, text.split("\n")))


def _without_labels(line: str) -> str:
    return _LABEL.sub("", line) if BETWEEN_CELLS in line else line
