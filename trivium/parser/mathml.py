"""Formulas in MathML as plain text on one line, written by :mod:`trivium.parser.notation`."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from trivium.parser.notation import fraction, grouped, root, subscript, superscript

_MAX_DEPTH = 40  # deeper formulas are read as the text of their elements
_INFIX = frozenset("+-−±∓=≠≈≡<>≤≥×·⋅∗*÷→⇒⇔∈∪∩∧∨∼≃∝∶:|")
_OPENING = frozenset("([{⟨|‖")
_ACCENTS = {
    "¯": "\u0304", "‾": "\u0304", "^": "\u0302", "ˆ": "\u0302", "~": "\u0303", "˜": "\u0303", "→": "\u20d7",
    "˙": "\u0307", "¨": "\u0308", "ˇ": "\u030c",
}  # fmt: skip
_INVISIBLE = {"\u2061": " ", "\u2062": "", "\u2063": ",", "\u2064": " "}
_NOT_SHOWN = frozenset(("annotation", "annotation-xml", "mphantom", "mspace", "malignmark"))
_LAYOUTS = frozenset(
    ["mfrac", "mroot", "msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts"]
)
_TOKENS = frozenset(("mi", "mn", "mo", "mtext", "ms"))


def linear_formula(node: LexborNode) -> str:
    """Return a formula as one line of text; ``node`` is its ``math`` element.

    >>> from selectolax.lexbor import LexborHTMLParser
    >>> html = "<math><mi>x</mi><mo>=</mo><mfrac><mi>a</mi><msup><mi>b</mi><mn>2</mn></msup></mfrac></math>"
    >>> linear_formula(LexborHTMLParser(html).css_first("math"))
    'x = a/b²'
    """
    return _row(_elements(node), 0).strip()


def _name(node: LexborNode) -> str:
    return (node.tag or "").rpartition(":")[2]


def _elements(node: LexborNode) -> list[LexborNode]:
    return [child for child in node.iter() if _name(child) not in _NOT_SHOWN]


def _token(node: LexborNode) -> str:
    text = " ".join(node.text().split())
    return _INVISIBLE.get(text, text)


def _row(nodes: list[LexborNode], depth: int) -> str:
    """Join the terms of a formula, with spaces around operators and between words, numbers and fractions."""
    written = ""
    was_word = False
    for node in nodes:
        text = _text(node, depth)
        if not text:
            continue
        name = _name(node)
        is_infix = name == "mo" and text in _INFIX
        is_word = name in ("mfrac", "mtext") or (name in ("mi", "mo") and len(text) > 1 and text.isalpha())
        after = written[-1:]
        if is_infix and (not written or after in _OPENING or after in " ,;"):
            written += text  # a sign
        elif is_infix:
            written += f" {text} "
        elif name == "mo" and text in (",", ";"):
            written += f"{text} "
        elif (
            after
            and text[0].isalnum()
            and (after.isalnum() or after == ")")
            and (is_word or was_word or text[0].isdigit())
        ):
            written += f" {text}"
        else:
            written += text
        was_word = is_word
    return written


def _text(node: LexborNode, depth: int) -> str:
    name, inner = _name(node), _elements(node)
    if name in _TOKENS or not inner or depth > _MAX_DEPTH:
        return _token(node)
    if name == "mtable":
        return f"({'; '.join(_text(row, depth + 1) for row in inner)})"
    if name in ("mtr", "mlabeledtr"):
        return ", ".join(filter(None, (_text(cell, depth + 1) for cell in inner)))
    if name == "msqrt":
        return root(_row(inner, depth + 1).strip())
    if name == "mfenced":
        attributes = node.attributes
        content = ", ".join(_text(part, depth + 1) for part in inner)
        return f"{attributes.get('open') or '('}{content}{attributes.get('close') or ')'}"
    if name == "semantics":
        return _text(inner[0], depth + 1)
    if name in _LAYOUTS and len(inner) >= 2:
        return _layout(name, [_text(part, depth + 1).strip() for part in inner])
    return _row(inner, depth + 1)


def _layout(name: str, parts: list[str]) -> str:
    base, first, last = parts[0], parts[1], parts[-1]
    if name == "mfrac":
        return fraction(base, first)
    if name == "mroot":
        return root(base, first)
    if name == "mover" and first in _ACCENTS and len(base) == 1:
        return base + _ACCENTS[first]
    shown = base if len(base) < 2 or base.isalnum() else grouped(base)
    if name in ("msub", "munder", "msubsup", "munderover", "mmultiscripts") and first:
        shown += subscript(first)
    if name not in ("msub", "munder") and last and (len(parts) > 2 or name in ("msup", "mover")):
        shown += superscript(last)
    return shown
