"""Recognises superscripts and subscripts by their size and baseline."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trivium.parser.documents.pdf.pdfium import Span
from trivium.parser.notation import lowered, note_mark, raised

SMALLER = 0.9
"""Maximum size of raised or lowered text, relative to the text beside it."""
_RAISED = 0.2
_LOWERED = 0.06, 0.65
"""Minimum difference of the baselines, and the maximum of lowered text, in sizes of the text beside it."""
_LONGEST = 12
"""Maximum number of characters."""

_LABEL = re.compile(r"[0-9a-z]{1,3}")
"""What a note begins with."""
_REFERENCE = re.compile(
    r"\d+(?:,\s?\d+)+|[(\[]*(?:[0-9a-z]{1,4}[)\]][\s,]*[(\[]*)+|[(\[].{0,3}", re.IGNORECASE
)
"""References to several notes, or to some in brackets, or a part of them."""
_SLASHES = ("/", "⁄")
_DIGITS = re.compile(r"\d{1,3}")
_SURE = re.compile(r"(?:[×x·*∙]\s?10|(?<![^\W_])(?:[kcdmnµ]?m|ft|in|yd|s))$")
"""Powers of ten and units, after which a number is no reference to a note."""
_DECIMAL = re.compile(r"\d\.\d+$")
"""In print, a number above a decimal is rather a note."""


def notes_of(rows: Sequence[Sequence[Span]]) -> frozenset[str]:
    """Return the labels of the notes on a page: small marks that begin a line. The spans of a row are from left to
    right.
    """
    return frozenset(
        row[0].text
        for row in rows
        if len(row) > 1 and row[0].size < SMALLER * row[1].size and _LABEL.fullmatch(row[0].text)
    )


def script_of(before: str, span: Span, beside: Span, following: str, notes: frozenset[str]) -> str | None:
    """Return ``span`` as a superscript or subscript of the text ``before`` it, which ends with the span ``beside`` on
    the line; None if it is neither. ``following`` is the text after it, ``notes`` are the labels of notes on the page.
    """
    text = span.text.strip()
    shift = (span.base - beside.base) / max(beside.size, 1.0)
    if span.size >= SMALLER * beside.size or len(text) > _LONGEST or " " in text or not before:
        return None
    if _LOWERED[0] < -shift < _LOWERED[1] and not _REFERENCE.fullmatch(text):
        return text if before[-1] in _SLASHES else lowered(before, text)
    if shift <= _RAISED or _REFERENCE.fullmatch(text) or (before[-4:].isalpha() and not text[-1].isalnum()):
        return None
    if _DIGITS.fullmatch(text) and following[:1] in _SLASHES:
        return f" {text}" if before[-1].isdigit() else text  # a fraction
    if _DIGITS.fullmatch(text) and not _SURE.search(before) and (text in notes or _DECIMAL.search(before)):
        signed = note_mark(before, text)
    else:
        signed = raised(before, text, following)
    return signed if signed != text else None
