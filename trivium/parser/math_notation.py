"""Superscripts, subscripts, fractions and roots as plain text, alike for every format.

Plain text loses what is raised or lowered: 10²³ would become 1023. Where Unicode has a sign for every character, it is
used (``m²``, ``10⁻³``, ``H₂O``), otherwise ``^`` and ``_`` (``x^(a+b)``, ``v_max``).
"""

from __future__ import annotations

import re

from trivium.text.function_words import FUNCTION_WORDS

_PLAIN = "0123456789+-=()"
_SUPERSCRIPTS = str.maketrans(_PLAIN + "ni−–‑", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ⁻⁻⁻")
_SUBSCRIPTS = str.maketrans(_PLAIN + "−–‑", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎₋₋₋")
_RAISED = re.compile(r"[0-9+\-=()ni−–‑]+")
_LOWERED = re.compile(r"[0-9+\-=()−–‑]+")
_AROUND_SIGN = re.compile(r" ?([+\-=−–‑→]) ?")
_PRIMES = re.compile(r"[′″‴'*°]+")
_SIGNS = re.compile("[⁰¹²³⁴-₎ⁿⁱ^_]")
_BRACKETS = frozenset("()[]{}|⟨⟩‖")
_RAISED_SIGNS = re.compile("[⁰¹²³⁴-⁾ⁿⁱ^]")
_ONE_THING = re.compile(r"[-−–‑]?(?:\d+(?:[.,]\d+)*|[^\W\d_]\w*)")
"""What needs no parentheses beside a sign."""

_ORDINAL = re.compile(r"(?:st|nd|rd|th|er|re|ère|ers|e|es|ème|eme|nde|o|os|a|as|º|ª)", re.IGNORECASE)
_MARK = re.compile(r"\d{1,3}(?:[,–\-]\s?\d{1,3})*|[a-z](?:,\s?[a-z])+")
"""What a reference to a note looks like."""
_BRACKETED_MARK = re.compile(r"\(\d{1,2}\)")
_NEAR = 40
"""Characters before a superscript that tell what it is."""
_NO_BASE = re.compile(
    r"(?:%|(?<![\d.,])(?:1[6-9]\d\d|20[0-3]\d)|\d,\d{3}\s?\)?|[$€£¥]\s?(?!10$)[\d.,]*\d|\b(?:Q[1-4]|H[12]|FY\s?\d\d)"
    r"|(?<!times )(?<=[^\W\d_] )\([^()]*[^\W\d_]{3}[^()]*\))$"
)
"""What is not raised to a power: shares, years, thousands, amounts, quarters, a remark in parentheses."""
_CALCULATED = re.compile(r"[+×·*≈]\s?[\d.,]+$")
_PRICE = re.compile(r"[$€£¥]\s?\d{1,3}(?:,?\d{3})*$")
_HOUR = re.compile(r"(?<![\d.,:])(?<![=×·*∙]\s)(?<![=×·*∙])(?:[01]?\d|2[0-4])$")
_OF_DAY = re.compile(r"\s?(?:[ap]\.?\s?m\b\.?|Uhr\b|o['’]clock)", re.IGNORECASE)
_CURRENCY = re.compile(r"\s?(?:[$€£¥]|(?:EUR|USD|CHF|GBP|kr|zł)\b)")
_TEN = re.compile(r"(?<![\d.,])10$")
_LARGEST_POWER = 30
"""Of ten as an amount: $10¹² is no price, $10.95 is one."""
_DEGREES = re.compile(r"\s?[CF]\b")
_CLOSED = tuple(".,;:!?\"'”’»…")
_LONGEST_SCRIPT, _MOST_WORDS = 40, 4  # more is small type rather than notation
_WORD_BEFORE = re.compile(r"(?<![^\W\d_])[^\W\d_]+$")
_LONGEST_SYMBOL = 3  # letters of a unit or variable; a number above a longer word is the mark of a note
_UNIT = re.compile(
    r"(?:centi|deci|kilo|milli|micro|nano)?met(?:er|re)s?|miles?|yards?|feet|foot|inch(?:es)?|sec(?:ond)?s?|hours?"
)
_WORDS = {word for word in FUNCTION_WORDS["en"].split() if len(word) > 1 and word != "in"}  # not inches
_WORDS |= {"US", "USA", "UK", "EU", "UN", "GDP", "GNP", "CEO", "CFO", "IMF", "WTO", "WHO", "NGO"}
_ABBREVIATIONS = frozenset(("no", "mr", "ms", "dr", "st", "sr", "jr", "cie", "me", "bd"))
_ISOTOPE = re.compile(r"(?!(?:A[st]?|I[ns]?|He|No|O|Be|Am)\s)[A-Z][a-z]?(?![^\W\d_])")
"""The symbol of an element, and none of the words that begin the text of a note."""
_APART = re.compile(r"(?:(?<![\d.,])\d{1,2}|[)\]}]|(?<![^\W_])(?:[^\W\d_]|[kcdm]m|ft|mi))\s$")
"""What a power may be written after with a space."""
_APART_BELOW = re.compile(r"(?:[)\]]|(?<![^\W_])[^\W\d_]|[A-Z][a-z]?|log)\s$")
_OF_AN_ANGLE = re.compile(r"[hmd°′]\s?[\d.]+$")


def raised(before: str, text: str, after: str = "") -> str:
    """Return a superscript as it follows the text ``before`` it, and as the text ``after`` it follows. Ordinals,
    abbreviations, units of time and marks of notes get no sign, and the small digits of prices and times their own.

    >>> [raised(*pair) for pair in (("10", "23"), ("s", "-1"), ("x", "a+b"), ("2", "nd"), ("treaty", "4"), ("r.", "4"))]
    ['²³', '⁻¹', '^(a+b)', 'nd', '4', '4']
    >>> raised("of ", "14", "C dating"), raised("05", "h", " 34"), raised("10 ", "5"), raised("the ", "5")
    ('¹⁴', 'h', '⁵', '5')
    >>> raised("$4", "99"), raised("at 7", "30", " pm"), raised("in 2019", "3"), raised("1024", "3")
    ('.99', ':30', '[3]', '³')
    """
    inner = " ".join(text.split())
    if inner[:1].isdigit() and not before[-1:].isalnum() and _ISOTOPE.match(after) is not None:
        return superscript(inner)
    if before[-1:].isspace() and _APART.search(before[-_NEAR:]) is None:
        return inner
    near = before[-_NEAR:].rstrip()
    if near[-1:].isdigit() and (shown := _part_of_number(near, inner, after)):
        return shown
    return superscript(inner) if _is_power(near, inner, after) else note_mark(near, inner)


def note_mark(before: str, text: str) -> str:
    """Return the mark of a note as it follows the text ``before`` it. It must not become a part of a number.

    >>> note_mark("in 1907", "2"), note_mark("the treaty", "2")
    ('[2]', '2')
    """
    is_apart = before[-1:].isdigit() or before.endswith(("%", ")"))
    return f"[{text}]" if is_apart and _MARK.fullmatch(text) else text


def _part_of_number(before: str, inner: str, after: str) -> str:
    """Return small type behind a number that is the rest of a price or time, or degrees; empty if it is none."""
    if len(inner) == 2 and inner.isdecimal():
        may_be_power = _TEN.search(before) is not None and int(inner) <= _LARGEST_POWER
        if not may_be_power and (_PRICE.search(before) or _CURRENCY.match(after)):
            return f".{inner}"
        may_be_power = may_be_power and int(inner) % 15 > 0  # picometres rather than the afternoon
        if (
            int(inner) < 60
            and not may_be_power
            and _HOUR.search(before)
            and (inner == "00" or _OF_DAY.match(after))
        ):
            return f":{inner}"
    return "°" if inner in ("o", "0", "∘") and _DEGREES.match(after) else ""


def _is_power(before: str, inner: str, after: str) -> bool:
    if not before or not inner or before.endswith((*_CLOSED, "(", "[")) or _is_long(inner):
        return False
    if inner in ("h", "m", "s", "d") and (after.lstrip()[:1].isdigit() or _OF_AN_ANGLE.search(before[-12:])):
        return not before[-1].isdigit()
    if not any(map(str.isalnum, inner)):
        return inner.strip("+-−–‑") == ""  # the charge of an ion
    found = _WORD_BEFORE.search(before)
    word = found[0] if found is not None else ""
    if inner[0] in "[*†‡§" or inner in ("TM", "SM") or (len(word) != 1 and _BRACKETED_MARK.fullmatch(inner)):
        return False
    if inner.replace(".", "").isalpha():
        return _is_exponent_of_letters(before, word, inner)
    if not _MARK.fullmatch(inner):
        return True
    if not word:
        is_calculated = "=" in before + after.lstrip()[:1] or _CALCULATED.search(before) is not None
        return is_calculated or _NO_BASE.search(before) is None
    is_word = len(word) > _LONGEST_SYMBOL or word in _WORDS
    return _UNIT.fullmatch(word.lower()) is not None if is_word else inner.isdigit() or len(word) == 1


def _is_exponent_of_letters(before: str, word: str, inner: str) -> bool:
    if _ORDINAL.fullmatch(inner) and (before[-1].isdigit() or len(inner) > 1):
        return False
    if before[-1].isdigit() and _OF_DAY.fullmatch(inner):
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
    if _RAISED.fullmatch(inner) or not _RAISED_SIGNS.sub("", inner):
        return inner.translate(_SUPERSCRIPTS)
    text = text.replace("∘", "°")
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
    is_group = inner[:1] == "(" and inner[-1:] == ")" and inner.count("(") == 1
    return inner if len(inner) < 2 or is_group or _ONE_THING.fullmatch(inner) else f"({inner})"


def base(text: str) -> str:
    """Return what is raised or lowered by a formula, in parentheses unless it is one number, word or group without an
    exponent.

    >>> base("x"), base("|x|"), base("a + b"), base("x²")
    ('x', '|x|', '(a + b)', '(x²)')
    """
    if text[:1] in _BRACKETS and text[-1:] in _BRACKETS:
        return text
    return f"({text})" if _RAISED_SIGNS.search(text) else grouped(text)


def accented(text: str, sign: str) -> str:
    """Return a short text with a combining character behind each letter; a longer one as it is.

    >>> accented("AB", "\u0305") == "A\u0305B\u0305", accented("width", "\u0302")
    (True, 'width')
    """
    is_short = text.isalnum() and len(text) <= _LONGEST_SYMBOL
    return "".join(letter + sign for letter in text) if is_short else text
