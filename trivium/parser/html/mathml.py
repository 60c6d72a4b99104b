"""Formulas in MathML as plain text on one line, written by :mod:`trivium.parser.math_notation`."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from trivium.parser.math_notation import accented, base, fraction, root, subscript, superscript

_MAX_DEPTH = 40  # deeper formulas are read as the text of their elements
_INFIX = frozenset("+-−±∓=≠≈≡<>≤≥×·⋅∗*÷→⇒⇔∈∪∩∧∨∼≃∝∶:|")
_OPENING = frozenset("([{⟨|‖")
_ACCENTS = {
    "¯": "\u0304", "‾": "\u0304", "^": "\u0302", "ˆ": "\u0302", "~": "\u0303", "˜": "\u0303", "→": "\u20d7",
    "˙": "\u0307", "¨": "\u0308", "ˇ": "\u030c",
}  # fmt: skip
_BRACES = frozenset("⏞⏟︷︸⎴⎵_")
_LARGE = frozenset("∑∏∐∫∬∭∮⋃⋂⨁⨂⋁⋀")
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
    was_word = has_limits = False
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
        elif name == "mtable" and after in _OPENING:
            written += text[1:-1]
        elif (has_limits and text[0] not in ")]}") or (
            after
            and text[0].isalnum()
            and (after.isalnum() or after == ")")
            and (is_word or was_word or text[0].isdigit())
        ):
            written += f" {text}"
        else:
            written += text
        was_word = is_word
        has_limits = name in _LAYOUTS and name != "mfrac" and _is_large(node)
    return written


def _is_large(node: LexborNode) -> bool:
    """Whether what has limits is an operator (∑, ∫) or the name of a function (max)."""
    first = next(iter(_elements(node)), None)
    text = "" if first is None or _name(first) not in ("mi", "mo") else _token(first)
    return (len(text) > 1 and text.isalpha()) or (text != "" and text in _LARGE)


def _text(node: LexborNode, depth: int) -> str:
    name, inner = _name(node), _elements(node)
    if name in _TOKENS or not inner or depth > _MAX_DEPTH:
        return _token(node)
    attributes = node.attributes
    if name == "mtable":
        return f"[{'; '.join(_text(row, depth + 1) for row in inner)}]"
    if name in ("mtr", "mlabeledtr"):
        return ", ".join(filter(None, (_text(cell, depth + 1) for cell in inner)))
    if name == "msqrt" or (name == "menclose" and "radical" in (attributes.get("notation") or "")):
        return root(_row(inner, depth + 1).strip())
    if name == "mfenced":
        content = ", ".join(_text(part, depth + 1) for part in inner)
        return f"{attributes.get('open', '(') or ''}{content}{attributes.get('close', ')') or ''}"
    if name in ("semantics", "maction"):
        return _text(inner[0], depth + 1)
    parts = [_text(part, depth + 1).strip() for part in inner] if name in _LAYOUTS and len(inner) >= 2 else []
    if name == "mmultiscripts" and parts:
        return _scripts(inner, parts)
    if name == "mfrac" and parts and (attributes.get("linethickness") or "1")[0] == "0":
        return f"({parts[0]} over {parts[1]})"
    return _layout(name, parts) if parts else _row(inner, depth + 1)


def _scripts(nodes: list[LexborNode], parts: list[str]) -> str:
    """Write an element with scripts on both sides, as in ¹⁴₆C: those before it stand behind ``mprescripts``."""
    names = [_name(node) for node in nodes]
    middle = names.index("mprescripts") if "mprescripts" in names else len(names)
    left, right = parts[middle + 1 :], parts[1:middle]
    return _above(left) + _below(left) + base(parts[0]) + _below(right) + _above(right)


def _above(scripts: list[str]) -> str:
    return "".join(superscript(text) for text in scripts[1::2] if text)


def _below(scripts: list[str]) -> str:
    return "".join(subscript(text) for text in scripts[::2] if text)


def _layout(name: str, parts: list[str]) -> str:
    inner, first, last = parts[0], parts[1], parts[-1]
    if name == "mfrac":
        return fraction(inner, first)
    if name == "mroot":
        return root(inner, first)
    if name in ("mover", "munder") and first in _ACCENTS:
        return accented(inner, _ACCENTS[first]) if name == "mover" else inner
    if name in ("mover", "munder") and first in _BRACES:
        return inner
    shown = base(inner)
    if name in ("msub", "munder", "msubsup", "munderover") and first:
        shown += subscript(first)
    if name not in ("msub", "munder") and last and (len(parts) > 2 or name in ("msup", "mover")):
        shown += superscript(last)
    return shown
