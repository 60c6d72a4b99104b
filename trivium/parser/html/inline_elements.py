"""Handlers for inline elements: links, spans, line breaks, formulas, pictures with their addresses and captions."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from trivium.parser.html.mathml import linear_formula
from trivium.parser.html.reader import SKIP, Leave, Mode, Picture, Reader, handles, inline_text
from trivium.parser.html.skipped_elements import SKIPPED_TAGS, is_skipped
from trivium.parser.html.superscripts import begin_script, script_of
from trivium.parser.math_notation import subscript, superscript
from trivium.parser.text_runs import BREAK, COMMA, LINE, Verbatim

Attributes = dict[str, str | None]

_PIXELS = re.compile(r"\s{0,9}(\d{1,5})(?:px)?\s{0,9}", re.IGNORECASE)
_ICON = 32
"""Maximum side in pixels of an icon, line or tracking pixel."""
_MAX_CAPTION = 1_000
_MAX_ELEMENTS = 60
"""Maximum number of elements of a figure that is a picture with a caption."""


def picture_address(attributes: Attributes) -> str:
    """Return the address of an ``img``. Pages with lazy loading have a placeholder in ``src``."""
    address = attributes.get("src") or ""
    late = attributes.get("data-src") or attributes.get("data-original") or ""
    return late if late and (not address or address.startswith("data:")) else address


def is_icon(attributes: Attributes) -> bool:
    """Whether the page marks a picture as insignificant: it has the size of an icon, or is decorative."""
    if attributes.get("role") in ("presentation", "none") or attributes.get("aria-hidden") == "true":
        return True
    sizes = (_PIXELS.fullmatch(attributes.get(name) or "") for name in ("width", "height"))
    return any(size is not None and int(size[1]) <= _ICON for size in sizes)


def captioned(figure: LexborNode) -> tuple[LexborNode, LexborNode, str] | None:
    """Return the only picture of a ``figure``, its ``figcaption`` and the text of that; None unless there is exactly
    one of each. A caption with links is None as well, because it becomes a paragraph of its own.
    """
    picture = caption = None
    seen = 0
    stack = [figure.first_child]
    while stack:
        node = stack.pop()
        if node is None:
            continue
        seen += 1
        if seen > _MAX_ELEMENTS:
            return None
        stack.append(node.next)
        if node.tag == "img":
            if picture is not None:
                return None
            picture = node
        elif node.tag == "figcaption":
            if caption is not None:
                return None
            caption = node
        elif node.tag in ("figure", "table", "pre"):
            return None
        else:
            stack.append(node.first_child)
    if picture is None or caption is None or caption.css_first("a[href], img, svg, math") is not None:
        return None
    attributes = picture.attributes
    if not picture_address(attributes) or is_skipped(attributes, "img") or is_icon(attributes):
        return None
    text = inline_text(caption)
    return (picture, caption, text) if 0 < len(text) <= _MAX_CAPTION else None


_CJK = "\u2e80"
_DISPLAY_STYLE = re.compile(r"^\{\s*\\(?:display|text)style\s*+(.*)\}$", re.DOTALL)


@handles(*sorted(SKIPPED_TAGS))
def _nothing(_reader: Reader, _node: LexborNode) -> Leave:
    return SKIP


@handles("a")
def _anchor(reader: Reader, node: LexborNode) -> Leave | None:
    href = node.attrs.get("href")
    if href is None or not reader.anchor(href):
        return None
    return Reader.end_anchor


@handles("img")
def _picture(reader: Reader, node: LexborNode) -> Leave:
    if reader.read_picture is not None:
        attributes = node.attributes
        address = picture_address(attributes)
        if address and not is_skipped(attributes, "img"):
            caption = reader.captions.pop(node.mem_id, "")
            alt = attributes.get("alt") or ""
            decorative = is_icon(attributes) or ("alt" in attributes and not alt.strip() and not caption)
            title = attributes.get("title") or ""
            reader.read_picture(reader, Picture(address, alt, title, caption, decorative))
    return SKIP


@handles("del", "s", "strike")
def _deleted(_reader: Reader, _node: LexborNode) -> Leave:
    return SKIP


@handles("ruby")
def _ruby(_reader: Reader, node: LexborNode) -> None:
    """Remove the white space between the base characters of a word in Chinese or Japanese."""
    for child in list(node.iter(include_text=True)):
        text = (child.text_content or "") if child.tag == "-text" else ""
        clean = text.strip()
        if text != clean and (not clean or max(clean) >= _CJK):
            child.replace_with(clean)


@handles("rt", "rtc")
def _reading(reader: Reader, node: LexborNode) -> Leave:
    reader.readings.append(" ".join(node.text().split()))
    return SKIP


@handles("code", "kbd", "samp", "tt")
def _code(reader: Reader, node: LexborNode) -> Leave:
    if is_skipped(node.attributes, node.tag or ""):
        return SKIP
    reader.codes += 1
    return _leave_code


def _leave_code(reader: Reader) -> None:
    reader.codes -= 1


@handles("small", "abbr", "cite", "label", "u", "font", "ins", "mark", "b", "strong", "i", "em")
def _styled(_reader: Reader, node: LexborNode) -> Leave | None:
    return SKIP if is_skipped(node.attributes, node.tag or "") else None


@handles("span")
def _span(reader: Reader, node: LexborNode) -> Leave | None:
    attributes = node.attributes
    if "mwe-math-element" in (attributes.get("class") or ""):
        return write_formula(reader, node)
    if not attributes:
        return None
    if is_skipped(attributes, "span"):
        return SKIP
    if attributes.get("class") == "template-chem2-su":  # a charge above an index
        parts = [child.text().strip() for child in node.iter()]
        reader.run.add("".join([*map(subscript, parts[1:]), *map(superscript, parts[:1])]))
        return SKIP
    kind = script_of(node, attributes)
    return begin_script(reader, node, kind) if kind else None


@handles("br")
def _break(reader: Reader, _node: LexborNode) -> None:
    if isinstance(reader.run, Verbatim):
        reader.run.add(LINE)
    elif reader.mode is Mode.CELL:
        reader.run.separate(COMMA)
    else:
        reader.run.separate(BREAK)


@handles("math", "m:math", "mml:math")
def write_formula(reader: Reader, node: LexborNode) -> Leave:
    """Write a formula once, as TeX if the page has that. It may be there as MathML, annotation and image."""
    tex = _tex(node) or linear_formula(node)
    if tex:
        reader.run.add(tex)
    return SKIP


def _tex(node: LexborNode) -> str:
    image = node.css_first("img[alt]")
    tex = None if image is None else image.attributes.get("alt")
    if not tex:
        math = node if node.tag == "math" else node.css_first("math[alttext]")
        tex = None if math is None else math.attributes.get("alttext")
    if not tex:
        annotation = node.css_first('annotation[encoding="application/x-tex"]')
        tex = "" if annotation is None else annotation.text()
    display = _DISPLAY_STYLE.match(tex.strip())
    return tex if display is None else display[1]
