"""Splits an answer into sentences to speak, without citations, Markdown and addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from trivium.text.normalise import plain, sentences

LONGEST = 300
"""Maximum number of characters passed to a voice at once. Longer sentences are split, so that a text without full stops
starts playing, and can be stopped, in time.
"""

_MARK = re.compile(r"(?<!\s)\s*+(?:\[\s*+\d++(?:\s*+[,;]\s*+\d++)*+\s*+\]|【[^】]{0,40}】)")
_ADDRESS = re.compile(r"\b(?:https?://|www\.)[^\s<>()\[\]]+", re.IGNORECASE)
_MARKUP = re.compile(r"[*_`~#|<>\\^={}\[\]]+")
"""Remaining unclosed markup, which voices cannot pronounce."""
_EMPTY_PARENTHESES = re.compile(r"(?<!\s)\s*+\(\s*+\)")
_WORD = re.compile(r"\w")
_CUT = re.compile(r"[,;:—–]\s+|\s+")


def spoken_sentences(text: str) -> list[str]:
    """Return the sentences of a Markdown text that are to be spoken, in order.

    >>> spoken_sentences("**Asaph Hall** found them [1][2]. See https://example.org.\\n\\n- Phobos [3]\\n- Deimos")
    ['Asaph Hall found them.', 'See.', 'Phobos', 'Deimos']
    """
    found: list[str] = []
    for line in _lines(_parser().parse(plain(text))):
        clean = _ADDRESS.sub(_ending, _MARK.sub("", line))
        clean = " ".join(_EMPTY_PARENTHESES.sub("", _MARKUP.sub(" ", clean)).split())
        clean = re.sub(r" ([.,;:!?])", r"\1", clean)
        for start, end in sentences(clean):
            found += [piece for piece in _pieces(clean[start:end]) if _WORD.search(piece)]
    return found


def _ending(address: re.Match[str]) -> str:
    """Replace an address by the punctuation that ends its sentence."""
    last = address[0][-1]
    return last if last in ".,;:!?" else ""


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    # Indented text is treated as a quotation, not as code; link reference definitions would swallow their lines.
    return MarkdownIt("commonmark", {"maxNesting": 50}).enable("table").disable(["code", "reference"])


def _lines(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield the text of each block; a table row is one block."""
    cells: list[str] = []
    in_row = False
    for token in tokens:
        if token.type == "tr_open":
            in_row, cells = True, []
        elif token.type == "tr_close":
            in_row = False
            yield ", ".join(cell for cell in cells if cell)
        elif token.type == "inline":
            text = _text(token.children or ())
            if in_row:
                cells.append(text)
            else:
                yield text


def _text(tokens: Sequence[Token]) -> str:
    parts = []
    for token in tokens:
        if token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif token.type in ("text", "code_inline", "image"):
            parts.append(token.content)
    return "".join(parts)


def _pieces(sentence: str) -> Iterator[str]:
    """Split a long sentence after a comma or between words if possible."""
    while len(sentence) > LONGEST:
        cuts = [found for found in _CUT.finditer(sentence, 0, LONGEST) if found.end() > LONGEST // 3]
        commas = [found for found in cuts if not found[0].isspace()]
        end = (commas or cuts)[-1].end() if cuts else LONGEST
        yield sentence[:end].strip()
        sentence = sentence[end:]
    if sentence.strip():
        yield sentence.strip()
