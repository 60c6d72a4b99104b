"""Formulas of Office files (OMML) on one line: ``(a + b)/2``, ``x²``, ``√50``."""

from __future__ import annotations

from typing import Any

from trivium.parser.documents.office import local
from trivium.parser.notation import fraction, lowered, raised, root

M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_VALUE = f"{M}val"
_BASE = ")"  # a base after which every exponent is one, unlike the mark of a note after a word
_SKIPPED = frozenset(("ctrlPr", "rPr", "del", "moveFrom", "delText", "instrText"))
_ACCENTED = 1  # letters that can carry an accent


def formula(element: Any) -> str:
    """Return a formula (``<m:oMath>`` or a part of it) as text."""
    parts = [_part(child) for child in element if isinstance(child.tag, str)]
    return joined(parts)


def joined(parts: list[str]) -> str:
    """Join the parts of a formula; two numbers, as in ``3 1/2``, are kept apart.

    >>> joined(["x=", "3", "1/2"])
    'x=3 1/2'
    """
    text = ""
    for part in parts:
        text += " " + part if text[-1:].isdigit() and part[:1].isdigit() else part
    return text


def _part(element: Any) -> str:
    name = local(element)
    if name in _SKIPPED or (name.endswith("Pr") and element.tag.startswith(M)):
        return ""
    if name == "t":
        return element.text or ""
    if name == "r":
        return "".join(map(_part, element))
    read = _READERS.get(name) if element.tag.startswith(M) else None
    return formula(element) if read is None else read(element)


def _child(element: Any, name: str) -> str:
    child = element.find(f"{M}{name}")
    return "" if child is None else formula(child).strip()


def _property(element: Any, name: str) -> str | None:
    """Return the value of a property; empty if it has none, None if it is missing."""
    found = element.find(f"{M}{local(element)}Pr/{M}{name}")
    return None if found is None else found.get(_VALUE) or ""


def _base(element: Any) -> str:
    text = _child(element, "e")
    return f"({text})" if any(sign in text for sign in "+-−=/ ") and text[-1:] not in ")]}|" else text


def _above(text: str) -> str:
    return raised(_BASE, text) if text else ""


def _below(text: str) -> str:
    return lowered(_BASE, text) if text else ""


def _fraction(element: Any) -> str:
    above, below = _child(element, "num"), _child(element, "den")
    return f"{above} over {below}" if _property(element, "type") == "noBar" else fraction(above, below)


def _scripts(element: Any) -> str:
    return _base(element) + _below(_child(element, "sub")) + _above(_child(element, "sup"))


def _scripts_before(element: Any) -> str:
    return _above(_child(element, "sup")) + _below(_child(element, "sub")) + _base(element)


def _limit(element: Any) -> str:
    return _child(element, "e") + _below(_child(element, "lim"))


def _root(element: Any) -> str:
    return root(_child(element, "e"), _child(element, "deg"))


def _large(element: Any) -> str:
    """Return a sum, product, integral or the like."""
    sign = _property(element, "chr")
    limits = _below(_child(element, "sub")) + _above(_child(element, "sup"))
    return f"{'∫' if sign is None else sign}{limits} {_child(element, 'e')}"


def _delimited(element: Any) -> str:
    begin, end, between = (_property(element, name) for name in ("begChr", "endChr", "sepChr"))
    inner = ("|" if between is None else between).join(map(formula, element.findall(f"{M}e")))
    return f"{'(' if begin is None else begin}{inner}{')' if end is None else end}"


def _function(element: Any) -> str:
    return f"{_child(element, 'fName')} {_child(element, 'e')}"


def _accent(element: Any) -> str:
    text = _child(element, "e")
    sign = "\u0304" if local(element) == "bar" else _property(element, "chr") or "\u0302"
    return text + sign if len(text) == _ACCENTED else text


def _matrix(element: Any) -> str:
    rows = (", ".join(map(formula, row.findall(f"{M}e"))) for row in element.findall(f"{M}mr"))
    return f"[{'; '.join(rows)}]"


def _lines(element: Any) -> str:
    return "; ".join(map(formula, element.findall(f"{M}e")))


_READERS = {
    "f": _fraction,
    "sSup": _scripts,
    "sSub": _scripts,
    "sSubSup": _scripts,
    "sPre": _scripts_before,
    "rad": _root,
    "nary": _large,
    "d": _delimited,
    "func": _function,
    "limLow": _limit,
    "limUpp": _limit,
    "acc": _accent,
    "bar": _accent,
    "m": _matrix,
    "eqArr": _lines,
}
