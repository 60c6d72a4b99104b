"""Handlers for block elements: paragraphs and containers, headings, lists, definitions, quotes, code."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from trivium.parser.html.inline_elements import captioned, write_formula
from trivium.parser.html.reader import SKIP, Leave, Mode, Reader, handles
from trivium.parser.html.skipped_elements import is_skipped, is_struck
from trivium.parser.list_numbers import ListNumbers
from trivium.parser.text_runs import COLON, COMMA, LINE, TextRun, Verbatim, indented_line
from trivium.text.normalise import normalise_title
from trivium.types import ChunkKind

_MAX_ANCHORS = 20  # per heading
_CODE = re.compile(
    r"[{}\\]$|^ *[\w.]+ [+*/-]?= \S|\);$|[=!<>]=|=>|->|\(\)|^ *[$#] | --\w|\w[=:]\S{0,40}[\d'\"]",
    re.MULTILINE,
)
"""Signs of code in preformatted text that is not marked as such, which poems and addresses do not have."""
_MAX_CODE = 10_000
_QUOTE_CLASSES = frozenset(("quotebox", "pullquote", "templatequote", "cquote"))


@handles(
    "p", "section", "article", "main", "header", "address", "details",
    "summary", "fieldset", "legend", "aside", "form", "hgroup", "body",
)  # fmt: skip
def _block(reader: Reader, node: LexborNode) -> Leave:
    if is_skipped(node.attributes, node.tag or ""):
        return SKIP
    reader.edge()
    return Reader.edge


@handles("figure")
def _figure(reader: Reader, node: LexborNode) -> Leave | None:
    leave = _block(reader, node)
    if leave is not SKIP and reader.read_picture is not None and (found := captioned(node)) is not None:
        picture, caption, text = found
        reader.captions[picture.mem_id] = text
        reader.written.add(caption.mem_id)
    return leave


@handles("figcaption")
def _figcaption(reader: Reader, node: LexborNode) -> Leave | None:
    if node.mem_id in reader.written:
        reader.written.remove(node.mem_id)
        return SKIP
    return _block(reader, node)


@handles("hr")
def _rule(reader: Reader, _node: LexborNode) -> Leave:
    reader.edge()
    return SKIP


@handles("div", "center")
def _div(reader: Reader, node: LexborNode) -> Leave:
    attributes = node.attributes
    if is_skipped(attributes, node.tag or ""):
        return SKIP
    names = (attributes.get("class") or "").split()
    if reader.mode is Mode.FLOW and not _QUOTE_CLASSES.isdisjoint(names):
        return _open_quote(reader)
    if "mwe-math-element" in names:
        reader.edge()
        write_formula(reader, node)
        reader.edge()
        return SKIP
    if "thumb" in names:  # a picture with its caption
        reader.edge()
        return Reader.edge
    reader.soft_edge()
    return Reader.soft_edge


@handles("h1", "h2", "h3", "h4", "h5", "h6")
def _heading(reader: Reader, node: LexborNode) -> Leave:
    attributes = node.attributes
    if attributes.get("id") == "firstHeading" or is_skipped(attributes, "h"):
        return SKIP
    if reader.mode is not Mode.FLOW:
        reader.edge()
        return Reader.edge
    reader.flush()
    reader.open(TextRun(), Mode.LINES, ChunkKind.PARAGRAPH)
    number = int((node.tag or "h2")[1])
    anchors = _anchors(node) if reader.keeps_anchors else ()

    def leave(reader: Reader) -> None:
        text = " ".join(reader.close().text.split())
        repeats_title = (
            number == 1
            and not reader.document.has_sections
            and reader.title in (normalise_title(text), normalise_title(node.text()))
        )
        if text and not repeats_title:
            reader.document.heading(text, number, anchors)
        elif text and reader.titles_are_text:
            reader.document.title(text)

    return leave


def _anchors(heading: LexborNode) -> tuple[str, ...]:
    """Return the anchors that links may use for a heading: its own, those inside it, and that of a section that begins
    with it.
    """
    found = [heading.attributes.get("id")]
    for node in heading.css("[id], a[name]")[:_MAX_ANCHORS]:
        found += [node.attributes.get("id"), node.attributes.get("name")]
    above, before = heading.parent, heading.prev
    while before is not None and before.tag == "-text" and not (before.text_content or "").strip():
        before = before.prev
    if above is not None and above.tag in ("section", "div") and before is None:
        found.append(above.attributes.get("id"))
    return tuple(dict.fromkeys(name for name in found if name))


@handles("blockquote")
def _quote(reader: Reader, node: LexborNode) -> Leave:
    if is_skipped(node.attributes, "blockquote"):
        return SKIP
    if reader.mode is not Mode.FLOW:
        reader.edge()
        return Reader.edge
    return _open_quote(reader)


@handles("ul", "ol", "menu", "dl")
def _list(reader: Reader, node: LexborNode) -> Leave:
    tag = node.tag or ""
    if is_skipped(node.attributes, tag):
        return SKIP
    if reader.mode is Mode.FLOW:
        reader.open_chunk(ChunkKind.DEFINITION if tag == "dl" else ChunkKind.LIST)
        reader.depth = 1
        return Reader.close_chunk
    reader.depth += 1
    reader.edge()
    return _leave_nested_list


def _leave_nested_list(reader: Reader) -> None:
    reader.depth -= 1
    reader.edge()


@handles("li", "dt")
def _item(reader: Reader, node: LexborNode) -> Leave:
    if is_skipped(node.attributes, "li"):
        return SKIP
    reader.edge()
    outer = node.parent
    if outer is not None and outer.tag == "ol":
        if outer.mem_id not in reader.numbers:
            reader.numbers[outer.mem_id] = ListNumbers.of(outer)
        reader.run.label = reader.numbers[outer.mem_id].next(node)
    return SKIP if is_struck(node.attributes) else Reader.edge


@handles("dd")
def _definition(reader: Reader, node: LexborNode) -> Leave:
    if is_skipped(node.attributes, "dd"):
        return SKIP
    reader.edge()
    if reader.mode is not Mode.FLOW and _follows_term(node):
        reader.run.pending = COLON
    return Reader.edge


def _follows_term(node: LexborNode) -> bool:
    before = node.prev
    while before is not None and before.tag == "-text":
        before = before.prev
    return before is not None and before.tag == "dt"


@handles("pre", "listing", "xmp")
def _preformatted(reader: Reader, node: LexborNode) -> Leave:
    if is_skipped(node.attributes, "pre"):
        return SKIP
    if reader.mode is Mode.CELL and LINE not in node.text().strip():
        reader.run.separate(COMMA)
        return Reader.edge
    if reader.mode is Mode.FLOW:
        reader.flush()
    elif isinstance(
        reader.run, Verbatim
    ):  # continue the current run: nesting runs and copying each into the next would take quadratic time
        reader.run.separate(LINE)
        return _leave_inner_preformatted
    is_code = node.css_first("code") is not None or _CODE.search(node.text()[:_MAX_CODE]) is not None
    reader.open(Verbatim(), Mode.LINES, ChunkKind.CODE if is_code else ChunkKind.PARAGRAPH)
    return _leave_preformatted


def _leave_inner_preformatted(reader: Reader) -> None:
    reader.run.separate(LINE)


def _leave_preformatted(reader: Reader) -> None:
    kind = reader.kind
    lines = reader.close()
    if reader.mode is Mode.FLOW:
        reader.document.block(kind, lines)
        return
    if kind is ChunkKind.CODE:
        if reader.write_apart(lines):
            return
        if reader.tables and (table := reader.tables[-1]) is not None:
            table.has_code = True
    reader.run.separate(LINE)
    reader.run.append(lines)
    reader.run.separate(indented_line(reader.depth - 1))


def _open_quote(reader: Reader) -> Leave:
    reader.open_chunk(ChunkKind.QUOTE)
    return Reader.close_chunk
