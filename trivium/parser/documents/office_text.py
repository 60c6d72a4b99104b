"""Raised and lowered text whose parts markup separates."""

from __future__ import annotations

from typing import Any

from trivium.parser.documents.office import local
from trivium.parser.math_notation import accented, fraction, lowered, raised, root, subscript, superscript
from trivium.parser.math_notation import base as base_of
from trivium.parser.text_runs import SPACE, TextRun

_PARTS_BEFORE = 3
"""Parts of a run that show what a superscript belongs to."""


class ShiftedText:
    """Writes text to a run, raised (``shift`` positive), lowered (negative) or neither (0)."""

    def __init__(self, run: TextRun) -> None:
        self._run = run
        self._shift = 0
        self._waiting: list[str] = []

    def add(self, text: str, shift: int = 0) -> None:
        if shift != self._shift:
            self.end(text)
            self._shift = shift
        if shift:
            self._waiting.append(text)
        else:
            self._run.add(text)

    def add_formula(self, text: str) -> None:
        """Add a formula; after a number it is kept apart."""
        self.end()
        if self._run.parts and self._run.parts[-1][-1:].isdigit() and text[:1].isdigit():
            self._run.separate(SPACE)
        self._run.add(text)

    def end(self, after: str = "") -> None:
        """Write what was raised or lowered; ``after`` follows it."""
        text, self._waiting = "".join(self._waiting), []
        if text:
            before = "".join(self._run.parts[-_PARTS_BEFORE:])
            shifted = raised(before, text, after) if self._shift > 0 else lowered(before, text)
            lead, trail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
            self._run.add(f"{lead}{shifted}{trail}")


M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_SKIPPED = frozenset(("del", "moveFrom", "delText", "instrText"))
_WITH_BASE = frozenset(
    ("sSup", "sSub", "sSubSup", "sPre", "rad", "nary", "func", "limLow", "limUpp", "acc", "bar")
)
_MACRON, _CIRCUMFLEX = "\u0304", "\u0302"


def formula(element: Any) -> str:
    """Return a formula (``<m:oMath>`` or a part of it) as text. Two numbers, as in ``3 1/2``, are kept apart."""
    text = ""
    for child in element:
        name = local(child)
        if name and name not in _SKIPPED and not name.endswith("Pr"):
            part = _part(child, name)
            text += f" {part}" if text[-1:].isdigit() and part[:1].isdigit() else part
    return text


def _part(element: Any, name: str) -> str:
    def of(child: str) -> str:
        found = element.find(f"{M}{child}")
        return "" if found is None else formula(found).strip()

    def all_of(parent: Any) -> list[str]:
        return [formula(child) for child in parent.iterchildren(f"{M}e")]

    def given(setting: str, otherwise: str) -> str:
        found = element.find(f"{M}{name}Pr/{M}{setting}")
        return otherwise if found is None else found.get(f"{M}val") or ""

    base = (
        of("e") if name in _WITH_BASE else ""
    )  # each part is read once, or deep nesting takes exponential time
    above, below = of("sup"), of("sub")
    above, below = above and superscript(above), below and subscript(below)
    whole = base_of(base)
    match name:
        case "t":
            text: str = element.text or ""
        case "r":
            text = "".join(part.text or "" for part in element.iterchildren("{*}t"))
        case "f" if given("type", "bar") == "noBar":
            text = f"{of('num')} over {of('den')}"
        case "f":
            text = fraction(of("num"), of("den"))
        case "sSup" | "sSub" | "sSubSup":
            text = whole + below + above
        case "sPre":
            text = above + below + whole
        case "rad":
            text = root(base, of("deg"))
        case "nary":
            text = f"{given('chr', '∫')}{below}{above} {base}"
        case "d":
            inner = given("sepChr", "|").join(all_of(element))
            if element.find(f"{M}e/{M}m") is not None and inner[:1] == "[" and inner[-1:] == "]":
                inner = inner[1:-1]  # a matrix
            text = given("begChr", "(") + inner + given("endChr", ")")
        case "func":
            text = f"{of('fName')} {base}"
        case "limLow" | "limUpp":
            limit = of("lim")
            text = whole + (limit and (superscript if name == "limUpp" else subscript)(limit))
        case "phant" if given("show", "1") in ("0", "off", "false"):
            text = ""
        case "acc" | "bar":
            sign = _MACRON if name == "bar" else given("chr", _CIRCUMFLEX)
            text = accented(base, sign)
        case "m":
            text = f"[{'; '.join(', '.join(all_of(row)) for row in element.iterchildren(f'{M}mr'))}]"
        case "eqArr":
            text = "; ".join(all_of(element))
        case _:
            text = formula(element)
    return text
