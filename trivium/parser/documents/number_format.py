"""Numbers as a spreadsheet shows them: leading zeros, currencies, thousands, percent, fractions."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from trivium.parser.documents.office import Package
from trivium.parser.symbol_fonts import SYMBOL_FONTS

BUILT_IN = {
    **{0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00"},
    **{
        12: "# ?/?",
        13: "# ??/??",
        **dict.fromkeys((*range(14, 23), *range(27, 37), *range(50, 59)), "yyyy-mm-dd"),
    },
    **{37: "#,##0", 38: "#,##0", 39: "#,##0.00", 40: "#,##0.00", 41: "#,##0", 42: "$#,##0", 43: "#,##0.00"},
    **{44: "$#,##0.00", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss", 48: "0.0E+0", 49: "@"},
    **{5: "$#,##0", 6: "$#,##0", 7: "$#,##0.00", 8: "$#,##0.00"},
}
"""Formats that files do not define, by number. In those of dates only their kind counts."""
_MAX_FORMAT = 255  # characters, the limit of Excel
_LARGEST = 1e15  # beyond, a double has no digits after the point
_SECTION = re.compile(r"(?:\"[^\"]*\"|\\.|[^;\"\\]|[\"\\])*", re.DOTALL)
_TOKEN = re.compile(
    r"\"([^\"]*)\"|\\(.)|[_*].|\[\$([^\]-]*)[^\]]*\]|\[([<>=]{1,2})\s*(-?\d{1,15}(?:\.\d{1,15})?)\]|(\[(?:h+|m+|s+)\])|\[[^\]]*\]"
    r"|(general)|(am/pm|a/p|[ymdhs])|(e[+-])|(.)",
    re.IGNORECASE | re.DOTALL,
)
_COMPARE = {
    **{"<": operator.lt, ">": operator.gt, "<=": operator.le},
    **{">=": operator.ge, "=": operator.eq, "<>": operator.ne},
}
_LITERAL = "\0"  # begins what is shown as it is
_PLACES = ("0", "#", "?")


@dataclass(slots=True)
class _Section:
    """A part of a format, for some of the numbers. ``signs`` are literal texts, and signs with a meaning."""

    signs: list[str]
    condition: tuple[str, float] | None = None
    is_date: bool = False
    elapsed: str = ""


@lru_cache(maxsize=1_000)
def _sections(code: str) -> list[_Section]:
    parts: list[_Section] = []
    at = 0
    while at <= len(code[:_MAX_FORMAT]) and len(parts) < 4:
        match = _SECTION.match(code[:_MAX_FORMAT], at)
        parts.append(_section(match[0] if match else ""))
        at = match.end() + 1 if match else _MAX_FORMAT + 1
    return parts


def _section(text: str) -> _Section:
    section = _Section([])
    for match in _TOKEN.finditer(text):
        quoted, escaped, currency, compared, bound, elapsed, general, date, power, other = match.groups()
        if quoted or escaped or currency:
            section.signs.append(_LITERAL + (quoted or escaped or currency))
        elif compared in _COMPARE:
            section.condition = compared, float(bound)
        elif general or power:
            section.signs.append(match[0].upper())
        elif other:
            section.signs.append(other if other in "0#?.,%/@" else _LITERAL + other)
        section.is_date |= bool(date or elapsed)
        section.elapsed = section.elapsed or (elapsed or "")[1:2].lower()
    return section


def is_date(code: str) -> bool:
    """Whether a format shows dates or times.

    >>> is_date("dd.mm.yyyy"), is_date('0.0 "days"'), is_date("[Red]0")
    (True, False, False)
    """
    return _sections(code)[0].is_date


def shown_duration(seconds: int, code: str) -> str | None:
    """Return a duration as a format shows it that counts hours, minutes or seconds beyond 24 or 60; None for others.

    >>> shown_duration(108_900, "[h]:mm"), shown_duration(95, "[mm]:ss"), shown_duration(-60, "h:mm")
    ('30:15', '1:35', None)
    """
    unit = _sections(code)[0].elapsed
    minutes, rest = divmod(abs(seconds), 60)
    hours, sixtieth = divmod(minutes, 60)
    if unit == "h":
        shown = f"{hours}:{sixtieth:02}" + (f":{rest:02}" if rest else "")
    else:
        shown = f"{minutes}:{rest:02}" if unit == "m" else str(abs(seconds))
    return f"{'-' * (seconds < 0)}{shown}" if unit else None


def shown_text(text: str, code: str) -> str:
    """Return a text as a format shows it.

    >>> shown_text("7", '"No. "@'), shown_text("7", "0.00")
    ('No. 7', '7')
    """
    signs = _sections(code)[-1].signs
    return _filled(signs, "@", text) if "@" in signs else text


def shown_number(number: float, code: str, general: str) -> str:
    """Return a number as a format shows it. ``general`` is the number in no format.

    >>> [shown_number(1234.5, code, "1234.5") for code in ("000000", '#,##0.00 "€"', "[$CHF] 0", "0.0E+00", "General")]
    ['001235', '1,234.50 €', 'CHF 1235', '1.2E+03', '1234.5']
    >>> [shown_number(-0.125, code, "") for code in ("0.0%", "# ?/?", "0.00;(0.00)", "$0.00")]
    ['-12.5%', '-1/8', '(0.13)', '-$0.13']
    """
    section, has_sign = _chosen(number, _sections(code))
    signs = section.signs
    if section.is_date or abs(number) >= _LARGEST or code == "":
        return general
    if "GENERAL" in signs or "@" in signs:
        return _filled(
            signs, "GENERAL" if "GENERAL" in signs else "@", general.lstrip("-") if has_sign else general
        )
    text = " ".join(_layout(abs(number) * 100 ** min(signs.count("%"), 3), signs).split())
    return f"-{text}" if number < 0 and not has_sign and any(digit in text for digit in "123456789") else text


def _filled(signs: list[str], place: str, text: str) -> str:
    return "".join(sign[1:] if sign[0] == _LITERAL else text if sign == place else "" for sign in signs)


def _chosen(number: float, sections: list[_Section]) -> tuple[_Section, bool]:
    """Return the section for a number, and whether that says itself how a negative number looks."""
    if any(section.condition for section in sections):
        for section in sections:
            if section.condition is None or _COMPARE[section.condition[0]](number, section.condition[1]):
                return section, False
        return sections[0], False
    at = 1 if number < 0 else 2 if number == 0 else 0
    return (sections[at], True) if at < min(len(sections), 3) else (sections[0], False)


def _layout(value: float, signs: list[str]) -> str:
    places = [at for at, sign in enumerate(signs) if sign in _PLACES]
    if not places:
        return "".join(sign[1:] if sign[0] == _LITERAL else sign.strip("@,./") for sign in signs)
    point = signs.index(".") if "." in signs else len(signs)
    power = next((at for at, sign in enumerate(signs) if sign in ("E+", "E-")), len(signs))
    decimals = sum(1 for at in places if point < at < power)
    if power < len(signs):
        mantissa, _, exponent = f"{value:.{decimals}e}".partition("e")
        sign = "-" if exponent[0] == "-" else signs[power][1:].replace("-", "")
        return (
            f"{mantissa}E{sign}{exponent[1:].lstrip('0').rjust(sum(1 for at in places if at > power), '0')}"
        )
    if "/" in signs:
        return _fraction(value, "".join(sign.lstrip(_LITERAL) for sign in signs))
    last = max((at for at in places if at < point), default=0)
    commas = [at for at, sign in enumerate(signs) if sign == ","]
    thousands = sum(1 for at in commas if last < at < point or at > places[-1])
    exact = (Decimal(repr(value)) / 1_000**thousands).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    whole, _, rest = f"{exact:f}".partition(".")
    grouped = any(places[0] < at < last for at in commas)
    return _whole(signs[:point], whole.lstrip("0"), grouped) + _rest(signs[point + 1 :], rest)


def _whole(signs: list[str], digits: str, grouped: bool) -> str:
    """Fill the places before the point from the right; the first takes all digits that are left."""
    out: list[str] = []
    left = sum(1 for sign in signs if sign in _PLACES)
    written = 0
    for sign in reversed(signs):
        if sign in _PLACES:
            left -= 1
            taken = digits if left == 0 else digits[-1:]
            digits = digits[: len(digits) - len(taken)]
            for digit in reversed(taken or sign.strip("#?")):
                out += [","] if grouped and written and written % 3 == 0 else []
                out.append(digit)
                written += 1
        elif sign != ",":
            out.append(sign.lstrip(_LITERAL))
    return "".join(reversed(out))


def _rest(signs: list[str], digits: str) -> str:
    """Fill the places behind the point; zeros at the end are shown only where the format has a 0."""
    needed = (
        max((at for at, sign in enumerate(s for s in signs if s in _PLACES) if sign == "0"), default=-1) + 1
    )
    shown = digits[:needed] + digits[needed:].rstrip("0")
    after = "".join(sign.lstrip(_LITERAL) for sign in signs if sign not in _PLACES and sign != ",")
    return f".{shown}{after}" if shown else after


def _fraction(value: float, pattern: str) -> str:
    before, _, after = pattern.partition("/")
    fixed = re.match(r"[1-9]\d{0,6}", after.strip())
    if fixed is not None:
        below = int(fixed[0])
        above = round(value * below)
    else:
        exact = Fraction(value).limit_denominator(10 ** max(len(re.findall(r"[?#0]", after[:6])), 1) - 1)
        above, below = exact.numerator, exact.denominator
    if len(before.split()) < 2:  # no place for a whole number
        return f"{above}/{below}"
    whole, above = divmod(above, below)
    return f"{whole or ''} {above}/{below}".strip() if above else str(whole)


MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Formats:
    """How values are displayed: number formats by the number of a style, the styles that strike them through, and those
    in fonts of symbols.
    """

    epoch: datetime
    codes: Sequence[str] = ()
    struck: frozenset[int] = frozenset()
    symbols: Mapping[int, str] = field(default_factory=dict)


def read_formats(package: Package, main: str, book: Any) -> Formats:
    """Read the styles of a workbook; ``main`` and ``book`` are the name and root of its main part."""
    properties = book.find(f"{MAIN}workbookPr")
    is_1904 = properties is not None and properties.get("date1904") in ("1", "true")
    epoch = datetime(1904, 1, 1) if is_1904 else datetime(1899, 12, 30)
    _, styles = package.related(main, "styles", "the number formats")
    if styles is None:
        return Formats(epoch)
    own = {
        as_int(format.get("numFmtId")): format.get("formatCode") or ""
        for format in styles.iterfind(f"{MAIN}numFmts/{MAIN}numFmt")
    }
    fonts = list(styles.iterfind(f"{MAIN}fonts/{MAIN}font"))
    codes, struck, symbols_of = [], set(), {}
    for at, style in enumerate(styles.iterfind(f"{MAIN}cellXfs/{MAIN}xf")):
        number, font = as_int(style.get("numFmtId")), as_int(style.get("fontId"))
        codes.append(own.get(number) or BUILT_IN.get(number or 0, "General"))
        if font is not None and font < len(fonts):
            if is_struck(fonts[font]):
                struck.add(at)
            if (name := font_of_symbols(fonts[font], "name")) is not None:
                symbols_of[at] = name
    return Formats(epoch, codes, frozenset(struck), symbols_of)


def font_of_symbols(look: Any, tag: str) -> str | None:
    """Return the font of a style or of a part of a text if its characters are symbols."""
    font = look.find(f"{MAIN}{tag}")
    name = "" if font is None else font.get("val", "")
    return name if name.lower() in SYMBOL_FONTS else None


def is_struck(font: Any) -> bool:
    """Whether a font strikes its text through."""
    strike = font.find(f"{MAIN}strike")
    return strike is not None and strike.get("val") not in ("0", "false")


def as_int(text: str | None) -> int | None:
    """Parse a non-negative integer; None for anything else."""
    return int(text) if text and len(text) < _DIGITS and text.isascii() and text.isdigit() else None
