"""Numbers as a spreadsheet shows them: leading zeros, currencies, thousands, percent, fractions."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache

BUILT_IN = {
    **{0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00"},
    **{12: "# ?/?", 13: "# ??/??", **dict.fromkeys((*range(14, 18), 22, *range(27, 37)), "yyyy-mm-dd")},
    **{**dict.fromkeys((18, 19, 20, 21, *range(50, 59)), "hh:mm"), 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss"},
    **dict.fromkeys((5, 6, 37, 38), "#,##0;-#,##0"),
    **dict.fromkeys((7, 8, 39, 40), "#,##0.00;-#,##0.00"),
    **{41: "#,##0", 42: "$#,##0", 43: "#,##0.00", 44: "$#,##0.00", 48: "##0.0E+0", 49: "@"},
}
"""Formats that files do not define, by number. In those of dates only their kind counts."""
_MAX_FORMAT = 255  # characters, the limit of Excel
_TOKEN = re.compile(
    r"\"([^\"]*)\"|\\(.)|_.|\*.|\[\$([^\]-]*)[^\]]*\]|\[([<>=]{1,2})\s*(-?[\d.]+)\]|(\[(?:h+|m+|s+)\])|\[[^\]]*\]"
    r"|(general)|(am/pm|a/p)|(e[+-])|(.)",
    re.IGNORECASE | re.DOTALL,
)
_DATE = frozenset("ymdhsYMDHS")
_PLACES = frozenset("0#?")
_NAMED = re.compile(r"\"[^\"]*\"|\\.|[^;\"\\]+|[\"\\]|(;)")
_GROUP = 3
_LARGEST = 1e15  # beyond, a double has no digits after the point
_COMPARE = {
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
}


@dataclass(frozen=True, slots=True)
class _Section:
    """A part of a format: signs to show (``literal`` True) and those with a meaning."""

    signs: tuple[tuple[str, bool], ...]
    condition: tuple[str, float] | None
    is_date: bool
    is_duration: bool


@lru_cache(maxsize=1_000)
def _sections(code: str) -> tuple[_Section, ...]:
    parts = [""]
    for match in _NAMED.finditer(code[:_MAX_FORMAT]):
        if match[1]:
            parts.append("")
        else:
            parts[-1] += match[0]
    return tuple(map(_section, parts[:4]))


def _section(text: str) -> _Section:
    signs: list[tuple[str, bool]] = []
    condition = None
    is_date = is_duration = False
    for match in _TOKEN.finditer(text):
        quoted, escaped, currency, sign, bound, elapsed, general, noon, power, other = match.groups()
        literal = quoted or escaped or currency
        if literal:
            signs.append((literal, True))
        elif sign and sign in _COMPARE and re.fullmatch(r"-?\d+\.?\d*", bound):
            condition = sign, float(bound)
        elif elapsed:
            is_date = is_duration = True
        elif noon:
            is_date = True
        elif general or power:
            signs.append((match[0].upper(), False))
        elif other:
            is_date = is_date or other in _DATE
            signs.append((other, other not in "0#?.,%/@"))
    return _Section(tuple(signs), condition, is_date, is_duration)


def is_date(code: str) -> bool:
    """Whether a format shows dates or times.

    >>> is_date("dd.mm.yyyy"), is_date('0.0 "days"'), is_date("[Red]0")
    (True, False, False)
    """
    return _sections(code)[0].is_date


def is_duration(code: str) -> bool:
    """Whether a format shows hours, minutes or seconds beyond 24 or 60."""
    return _sections(code)[0].is_duration


def shown_text(text: str, code: str) -> str:
    """Return a text as a format shows it.

    >>> shown_text("7", '"No. "@'), shown_text("7", "0.00")
    ('No. 7', '7')
    """
    sections = _sections(code)
    signs = sections[3 if len(sections) > 3 else 0].signs if sections else ()
    if ("@", False) not in signs or len(signs) == 1:
        return text
    return "".join(sign if literal else text for sign, literal in signs if literal or sign == "@")


def shown_number(number: float, code: str, general: str) -> str:
    """Return a number as a format shows it. ``general`` is the number in no format.

    >>> [shown_number(1234.5, code, "1234.5") for code in ("000000", '#,##0.00 "€"', "[$CHF] 0", "0.0E+00", "General")]
    ['001235', '1,234.50 €', 'CHF 1235', '1.2E+03', '1234.5']
    >>> [shown_number(-0.125, code, "") for code in ("0.0%", "# ?/?", "0.00;(0.00)", "$0.00")]
    ['-12.5%', '-1/8', '(0.13)', '-$0.13']
    """
    sections = _sections(code)
    section, own_sign = _chosen(number, sections)
    if section.is_date or not math.isfinite(number) or abs(number) >= _LARGEST:
        return general
    signs = section.signs
    meaning = [sign for sign, literal in signs if not literal]
    if "GENERAL" in meaning or "@" in meaning or (len(sections) == 1 and not signs):
        plain = general.lstrip("-") if own_sign else general
        return (
            "".join(s if literal else plain if s in ("GENERAL", "@") else "" for s, literal in signs) or plain
        )
    value = abs(number) * 100 ** meaning.count("%")
    try:
        text = _layout(value, signs)
    except (InvalidOperation, OverflowError, ValueError):
        return general
    text = " ".join(text.split())
    return f"-{text}" if number < 0 and not own_sign and any(c in "123456789" for c in text) else text


def _chosen(number: float, sections: tuple[_Section, ...]) -> tuple[_Section, bool]:
    """Return the section for a number, and whether that says itself how a negative number looks."""
    for at, section in enumerate(sections[:3]):
        if section.condition is not None and _COMPARE[section.condition[0]](number, section.condition[1]):
            return section, at > 0 and number < 0
    if any(section.condition for section in sections):
        rest = [section for section in sections[:3] if section.condition is None]
        return (rest[0] if rest else sections[0]), False
    if number < 0 and len(sections) > 1:
        return sections[1], True
    if number == 0 and len(sections) > 2:
        return sections[2], True
    return sections[0], False


def _layout(value: float, signs: tuple[tuple[str, bool], ...]) -> str:
    places = [at for at, (sign, literal) in enumerate(signs) if not literal and sign in _PLACES]
    if not places:
        return "".join(sign for sign, literal in signs if literal or sign in "%-")
    power = next((at for at, sign in enumerate(signs) if sign in (("E+", False), ("E-", False))), None)
    if power is not None:
        digits = sum(1 for at in places if at > power)
        decimals = _decimals(signs[:power])
        mantissa, _, exponent = f"{value:.{decimals}e}".partition("e")
        plus = "-" if exponent.startswith("-") else "+" if signs[power][0] == "E+" else ""
        return f"{mantissa}E{plus}{exponent[1:].lstrip('0').rjust(digits, '0')}"
    slash = next((at for at, sign in enumerate(signs) if sign == ("/", False)), None)
    if slash is not None:
        return _fraction(value, signs, slash, places)
    point = next((at for at, sign in enumerate(signs) if sign == (".", False)), len(signs))
    last = max((at for at in places if at < point), default=0)
    thousands = sum(
        1 for at, sign in enumerate(signs) if sign == (",", False) and (last < at < point or at > places[-1])
    )
    grouped = any(sign == (",", False) for sign in signs[places[0] : last])
    decimals = _decimals(signs)
    exact = Decimal(repr(value)) / 1_000**thousands
    whole, _, rest = f"{exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP):f}".partition(".")
    return _whole(signs[:point], whole.lstrip("0"), grouped) + _rest(signs[point + 1 :], rest)


def _decimals(signs: tuple[tuple[str, bool], ...]) -> int:
    point = next((at for at, sign in enumerate(signs) if sign == (".", False)), len(signs))
    return sum(1 for sign, literal in signs[point:] if not literal and sign in _PLACES)


def _whole(signs: tuple[tuple[str, bool], ...], digits: str, grouped: bool) -> str:
    """Fill the places before the point from the right; the first takes all digits that are left."""
    out: list[str] = []
    left = sum(1 for sign, literal in signs if not literal and sign in _PLACES)
    written = 0
    for sign, literal in reversed(signs):
        if literal or sign == "%":
            out.append(sign)
        elif sign in _PLACES:
            left -= 1
            taken = digits if left == 0 else digits[-1:]
            digits = digits[: len(digits) - len(taken)]
            for digit in reversed(taken or ("0" if sign == "0" else "")):
                if grouped and written and written % _GROUP == 0:
                    out.append(",")
                out.append(digit)
                written += 1
    return "".join(reversed(out))


def _rest(signs: tuple[tuple[str, bool], ...], digits: str) -> str:
    """Fill the places behind the point; zeros at the end only where the format has a 0."""
    out = ""
    shown = 0
    for at, sign in enumerate(signs):
        if sign[1] or sign[0] == "%":
            out += sign[0]
        elif sign[0] in _PLACES:
            digit, digits = digits[:1], digits[1:]
            needed = any(later == ("0", False) for later in signs[at:]) or digits.strip("0") or digit != "0"
            if needed:
                out = out + ("" if shown else ".") + digit
                shown += 1
    return out


def _fraction(value: float, signs: tuple[tuple[str, bool], ...], slash: int, places: list[int]) -> str:
    tail = "".join(sign for sign, _ in signs[slash + 1 :]).strip()
    fixed = re.match(r"\d+", tail)
    size = sum(1 for at in places if at > slash)
    if fixed is not None and int(fixed[0]):
        whole = Fraction(round(value * int(fixed[0])), int(fixed[0]))
        below = int(fixed[0])
    else:
        whole = Fraction(value).limit_denominator(10 ** max(size, 1) - 1)
        below = whole.denominator
    above = whole.numerator * below // whole.denominator
    before = "".join(sign for sign, _ in signs[:slash]).split()
    if len(before) < 2:  # no place for a whole number
        return f"{above}/{below}"
    integer, above = divmod(above, below)
    return f"{integer or ''} {above}/{below}".strip() if above else str(integer)
