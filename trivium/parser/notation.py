"""Superscripts, subscripts, fractions and roots as plain text, alike for every format.

Plain text loses what is raised or lowered: 10²³ would become 1023. Where Unicode has a sign for every character, it is
used (``m²``, ``10⁻³``, ``H₂O``), otherwise ``^`` and ``_`` (``x^(a+b)``, ``v_max``).
"""

from __future__ import annotations

import re

_PLAIN = "0123456789+-=()"
_SUPERSCRIPTS = str.maketrans(_PLAIN + "ni−–‑", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ⁻⁻⁻")
_SUBSCRIPTS = str.maketrans(_PLAIN + "−–‑", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎₋₋₋")
_RAISED = re.compile(r"[0-9+\-=()ni−–‑]+")
_LOWERED = re.compile(r"[0-9+\-=()−–‑]+")
_ONE_THING = re.compile(r"[-−–‑]?(?:\d+(?:[.,]\d+)*|[^\W\d_]\w*)")
"""What needs no parentheses beside a sign."""

_ORDINAL = re.compile(r"(?:st|nd|rd|th|er|re|ère|ers|e|es|ème|eme|nd|nde|o|os|a|as|º|ª)", re.IGNORECASE)
_MARK = re.compile(r"\d{1,3}(?:[,–\-]\s?\d{1,3})*")
"""What a reference to a note looks like."""
_CLOSED = tuple(".,;:!?\"'”’»…")
_WORD_BEFORE = re.compile(r"[^\W\d_]+$")
_LONGEST_SYMBOL = 3  # letters of a unit or variable; a number above a longer word is the mark of a note
_UNIT = re.compile(
    r"(?:centi|deci|kilo|milli|micro|nano)?met(?:er|re)s?|miles?|yards?|feet|foot|inch(?:es)?|sec(?:ond)?s?|hours?"
)
_ABBREVIATIONS = frozenset(("no", "mr", "ms", "dr", "st", "sr", "jr", "cie", "me", "bd"))


def raised(before: str, text: str) -> str:
    """Return a superscript as it follows the text ``before`` it. Ordinals, abbreviations and marks of notes get no
    sign.

    >>> [raised(*pair) for pair in (("10", "23"), ("s", "-1"), ("x", "a+b"), ("2", "nd"), ("treaty", "4"), ("r.", "4"))]
    ['²³', '⁻¹', '^(a+b)', 'nd', '4', '4']
    """
    inner = " ".join(text.split())
    return _signed(inner, "^") if _is_power(before.rstrip(), inner) else inner


def _is_power(before: str, inner: str) -> bool:
    if not before or not inner or before.endswith(_CLOSED):
        return False
    if not any(map(str.isalnum, inner)):
        return inner.strip("+-−–‑") == ""  # the charge of an ion
    if inner[0] in "[*†‡§" or inner in ("TM", "SM"):
        return False
    found = _WORD_BEFORE.search(before)
    word = found[0] if found is not None else ""
    if inner.replace(".", "").isalpha():
        return _is_exponent_of_letters(before, word, inner)
    if len(word) > _LONGEST_SYMBOL and _MARK.fullmatch(inner):
        return _UNIT.fullmatch(word.lower()) is not None
    return True


def _is_exponent_of_letters(before: str, word: str, inner: str) -> bool:
    if _ORDINAL.fullmatch(inner) and (before[-1].isdigit() or len(inner) > 1):
        return False
    if not word:
        return before[-1].isdigit() or before[-1] in ")]}|"
    return len(word) == 1 and len(inner) == 1 and (word + inner).lower() not in _ABBREVIATIONS


def lowered(before: str, text: str) -> str:
    """Return a subscript as it follows the text ``before`` it.

    >>> [lowered(*pair) for pair in (("H", "2"), ("v", "max"), ("a", "i,j"), ("", "2"))]
    ['₂', '_max', '_(i,j)', '2']
    """
    inner = " ".join(text.split())
    if not before.strip() or not any(character.isalnum() or character in "+-−" for character in inner):
        return inner
    return _signed(inner, "_")


def _signed(inner: str, sign: str) -> str:
    """Return a raised or lowered text with its sign, in the characters that Unicode has for it if it has all."""
    signs, table = (_RAISED, _SUPERSCRIPTS) if sign == "^" else (_LOWERED, _SUBSCRIPTS)
    if signs.fullmatch(inner):
        return inner.translate(table)
    return sign + _grouped(inner)


def fraction(numerator: str, denominator: str) -> str:
    """Return a fraction on one line. A caller that writes it after a whole number puts a space before it.

    >>> fraction("1", "2"), fraction("a + b", "2")
    ('1/2', '(a + b)/2')
    """
    return f"{_grouped(numerator)}/{_grouped(denominator)}"


def root(radicand: str, degree: str = "") -> str:
    """Return a root on one line.

    >>> root("50"), root("a + b", "3")
    ('√50', '³√(a + b)')
    """
    index = " ".join(degree.split())
    return f"{_signed(index, '^') if index not in ('', '2') else ''}√{_grouped(radicand)}"


def _grouped(text: str) -> str:
    inner = " ".join(text.split())
    if _ONE_THING.fullmatch(inner) or (inner[:1] == "(" and inner[-1:] == ")" and inner.count("(") == 1):
        return inner
    return f"({inner})"
