"""Superscripts, subscripts, fractions and roots as plain text, alike for every format.

Plain text loses what is raised or lowered: 10²³ would become 1023. Where Unicode has a sign for every character, it is
used (``m²``, ``10⁻³``, ``H₂O``), otherwise ``^`` and ``_`` (``x^(a+b)``, ``v_max``).
"""

from __future__ import annotations

import re

from trivium.function_words import FUNCTION_WORDS

_PLAIN = "0123456789+-=()"
_SUPERSCRIPTS = str.maketrans(_PLAIN + "ni−–‑", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ⁻⁻⁻")
_SUBSCRIPTS = str.maketrans(_PLAIN + "−–‑", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎₋₋₋")
_RAISED = re.compile(r"[0-9+\-=()ni−–‑]+")
_LOWERED = re.compile(r"[0-9+\-=()−–‑]+")
_AROUND_SIGN = re.compile(r" ?([+\-=−–‑]) ?")
_PRIMES = re.compile(r"[′″‴'*°]+")
_SIGNS = re.compile("[⁰¹²³⁴-₎ⁿⁱ]")
_ONE_THING = re.compile(r"[-−–‑]?(?:\d+(?:[.,]\d+)*|[^\W\d_]\w*)")
"""What needs no parentheses beside a sign."""

_ORDINAL = re.compile(r"(?:st|nd|rd|th|er|re|ère|ers|e|es|ème|eme|nde|o|os|a|as|º|ª)", re.IGNORECASE)
_MARK = re.compile(r"\d{1,3}(?:[,–\-]\s?\d{1,3})*")
"""What a reference to a note looks like."""
_CLOSED = tuple(".,;:!?\"'”’»…")
_LONGEST_SCRIPT, _MOST_WORDS = 40, 4  # more is small type rather than notation
_WORD_BEFORE = re.compile(r"[^\W\d_]+$")
_LONGEST_SYMBOL = 3  # letters of a unit or variable; a number above a longer word is the mark of a note
_UNIT = re.compile(
    r"(?:centi|deci|kilo|milli|micro|nano)?met(?:er|re)s?|miles?|yards?|feet|foot|inch(?:es)?|sec(?:ond)?s?|hours?"
)
_WORDS = frozenset(
    word for word in FUNCTION_WORDS["en"].split() if len(word) > 1 and word != "in"
)  # not inches
_ABBREVIATIONS = frozenset(("no", "mr", "ms", "dr", "st", "sr", "jr", "cie", "me", "bd"))
_ISOTOPE = re.compile(r"(?!(?:A[st]?|I[ns]?|He|No|O|Be|Am)\s)[A-Z][a-z]?(?![^\W\d_])")
"""The symbol of an element, and none of the words that begin the text of a note."""
_APART = re.compile(r"(?:(?<![\d.,])\d{1,2}|[)\]}]|(?<![^\W_])(?:[^\W\d_]|[kcdm]m|ft|mi))\s$")
"""What a power may be written after with a space."""
_APART_BELOW = re.compile(r"(?:[)\]]|(?<![^\W_])[^\W\d_]|[A-Z][a-z]?|log)\s$")
_OF_AN_ANGLE = re.compile(r"[hmd°′]\s?[\d.]+$")


def raised(before: str, text: str, after: str = "") -> str:
    """Return a superscript as it follows the text ``before`` it, and as the text ``after`` it follows. Ordinals,
    abbreviations, units of time and marks of notes get no sign.

    >>> [raised(*pair) for pair in (("10", "23"), ("s", "-1"), ("x", "a+b"), ("2", "nd"), ("treaty", "4"), ("r.", "4"))]
    ['²³', '⁻¹', '^(a+b)', 'nd', '4', '4']
    >>> raised("of ", "14", "C dating"), raised("05", "h", " 34"), raised("10 ", "5"), raised("the ", "5")
    ('¹⁴', 'h', '⁵', '5')
    """
    inner = " ".join(text.split())
    if inner[:1].isdigit() and not before[-1:].isalnum() and _ISOTOPE.match(after) is not None:
        return superscript(inner)
    if before[-1:].isspace() and _APART.search(before) is None:
        return inner
    return superscript(inner) if _is_power(before.rstrip(), inner, after) else inner


def _is_power(before: str, inner: str, after: str) -> bool:
    if not before or not inner or before.endswith((*_CLOSED, "(", "[")) or _is_long(inner):
        return False
    if inner in ("h", "m", "s", "d") and (after.lstrip()[:1].isdigit() or _OF_AN_ANGLE.search(before[-12:])):
        return not before[-1].isdigit()
    if not any(map(str.isalnum, inner)):
        return inner.strip("+-−–‑") == ""  # the charge of an ion
    if inner[0] in "[*†‡§" or inner in ("TM", "SM"):
        return False
    found = _WORD_BEFORE.search(before)
    word = found[0] if found is not None else ""
    if inner.replace(".", "").isalpha():
        return _is_exponent_of_letters(before, word, inner)
    if (len(word) > _LONGEST_SYMBOL or word in _WORDS) and _MARK.fullmatch(inner):
        return _UNIT.fullmatch(word.lower()) is not None
    return True


def _is_exponent_of_letters(before: str, word: str, inner: str) -> bool:
    if _ORDINAL.fullmatch(inner) and (before[-1].isdigit() or len(inner) > 1):
        return False
    if not word:
        return before[-1].isdigit() or before[-1] in ")]}|"
    if len(word) != 1 or (word + inner).lower() in _ABBREVIATIONS:
        return False
    return len(inner) == 1 or word.islower()


def _is_long(inner: str) -> bool:
    return len(inner) > _LONGEST_SCRIPT or inner.count(" ") >= _MOST_WORDS


def lowered(before: str, text: str) -> str:
    """Return a subscript as it follows the text ``before`` it.

    >>> [lowered(*pair) for pair in (("H", "2"), ("v", "max"), ("a", "i,j"), ("", "2"), ("CO ", "2"), ("the ", "2"))]
    ['₂', '_max', '_(i,j)', '2', '₂', '2']
    """
    inner = " ".join(text.split())
    if before[-1:].isspace() and _APART_BELOW.search(before) is None:
        return inner
    if not before.strip() or _is_long(inner) or not any(c.isalnum() or c in "+-−" for c in inner):
        return inner
    return subscript(inner)


def superscript(text: str) -> str:
    """Return a superscript of which it is known that it is one, as in a formula.

    >>> superscript("n + 1"), superscript("max"), superscript("x²"), superscript("′")
    ('ⁿ⁺¹', '^max', '^(x²)', '′')
    """
    inner = _AROUND_SIGN.sub(r"\1", text)
    if _RAISED.fullmatch(inner):
        return inner.translate(_SUPERSCRIPTS)
    return text if _PRIMES.fullmatch(text) else "^" + _script(inner)


def subscript(text: str) -> str:
    """Return a subscript of which it is known that it is one.

    >>> subscript("n + 1"), subscript("2")
    ('_(n+1)', '₂')
    """
    inner = _AROUND_SIGN.sub(r"\1", text)
    return inner.translate(_SUBSCRIPTS) if _LOWERED.fullmatch(inner) else "_" + _script(inner)


def _script(inner: str) -> str:
    shown = grouped(inner)
    return f"({shown})" if shown[:1] in "-−–‑" or (shown[:1] != "(" and _SIGNS.search(shown)) else shown


def fraction(numerator: str, denominator: str) -> str:
    """Return a fraction on one line. A caller that writes it after a whole number puts a space before it.

    >>> fraction("1", "2"), fraction("a + b", "2")
    ('1/2', '(a + b)/2')
    """
    return f"{grouped(numerator)}/{grouped(denominator)}"


def root(radicand: str, degree: str = "") -> str:
    """Return a root on one line.

    >>> root("50"), root("a + b", "3")
    ('√50', '³√(a + b)')
    """
    index = " ".join(degree.split())
    return f"{superscript(index) if index not in ('', '2') else ''}√{grouped(radicand)}"


def grouped(text: str) -> str:
    """Return a text in parentheses unless it is one number, word or group."""
    inner = " ".join(text.split())
    if _ONE_THING.fullmatch(inner) or (inner[:1] == "(" and inner[-1:] == ")" and inner.count("(") == 1):
        return inner
    return f"({inner})"
