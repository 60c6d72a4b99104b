"""Finds quotes of documents among their chunks.

Quotes are taken from the raw text of a document, often Markdown, whereas chunks contain the parsed text. They differ in
two ways: addresses of links and names of pictures are not in the text, and a table row includes the names of its
columns (``Country: Norway; Capital: Oslo`` for ``| Norway | Oslo |``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import unescape

from trivium.datasets.match import PageTexts, has_words
from trivium.parser.tables import BETWEEN_CELLS
from trivium.parser.text_runs import COLON

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
        (:meth:`trivium.datasets.match.PageTexts.holding`).
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
