"""How a workbook shows the values of its cells: number formats, text struck through, fonts of symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from trivium.parser.documents.number_format import BUILT_IN
from trivium.parser.documents.office import Package
from trivium.parser.symbol_fonts import SYMBOL_FONTS

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
