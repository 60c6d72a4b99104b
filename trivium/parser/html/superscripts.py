"""Handlers for superscripts, subscripts and the fractions made of them, which
:mod:`trivium.parser.math_notation` writes."""

from __future__ import annotations

import re
from functools import lru_cache

from selectolax.lexbor import LexborNode

from trivium.parser.html.reader import SKIP, Leave, Numerator, Reader, handles
from trivium.parser.html.skipped_elements import is_skipped
from trivium.parser.math_notation import fraction, grouped, lowered, note_mark, raised
from trivium.parser.text_runs import COLON, COMMA, SPACE, TextRun
from trivium.types import ChunkKind

_KINDS = {
    "sup": "sup", "superscript": "sup", "sub": "sub", "subscript": "sub",
    "num": "num", "numerator": "num", "den": "den", "denominator": "den",
}  # fmt: skip
_ALIGNED = re.compile(r"vertical-align\s{0,9}:\s{0,9}(super|sub)\b")
_LONGEST = 100  # characters; longer elements are small type
_SLASHES = ("/", "⁄", "∕")
_NOTE = re.compile(r"(?:\S+ )?(?:footnote|fnref|noteref)", re.IGNORECASE)
_TOLERANCE = re.compile(r"[+−-]\d[\d.,]*")
_INLINE = frozenset(("span", "i", "b", "em", "strong", "a", "u", "font", "small", "sup", "sub"))
_SCRIPTS = ("sup", "sub")
_MOST_STEPS = 6


@lru_cache(maxsize=1 << 12)
def _kind(classes: str) -> str:
    return next((_KINDS[name] for name in classes.lower().split() if name in _KINDS), "")


def script_of(node: LexborNode, attributes: dict[str, str | None]) -> str:
    """Return how a ``span`` is written: as ``sup``, ``sub``, ``num`` and ``den`` of a fraction; empty for plain text."""
    classes = attributes.get("class") or ""
    kind = _kind(classes) if 0 < len(classes) < _LONGEST else ""
    if kind in ("num", "den"):
        outer = "" if node.parent is None else node.parent.attributes.get("class") or ""
        return kind if "frac" in outer or "tion" in outer.split() else ""
    style = "" if kind else attributes.get("style") or ""
    if "border-top" in style or "overline" in style:
        before = node.prev
        return "root" if before is not None and (before.text_content or "").endswith("√") else ""
    if "vertical-align" in style and (found := _ALIGNED.search(style)) is not None:
        return found[1][:3]
    return kind


@handles("sup", "sub")
def _script(reader: Reader, node: LexborNode) -> Leave:
    tag = node.tag or ""
    return SKIP if is_skipped(node.attributes, tag) else begin_script(reader, node, tag)


def begin_script(reader: Reader, node: LexborNode, kind: str) -> Leave:
    """Write what follows, up to the end of the element, as a script of this kind (:func:`script_of`)."""
    run = reader.run
    run.write_label()
    is_code = reader.codes > 0 or reader.kind is ChunkKind.CODE
    is_stacked = _is_broken(node.next, forwards=True)
    if _is_broken(node.prev, forwards=False):
        is_stacked, run.pending = True, ""
    mark = run.mark()

    def leave(reader: Reader) -> None:
        if reader.run is run and 0 < run.length - mark[1] <= _LONGEST:
            if not is_code:
                _write(reader, node, kind, mark, is_stacked=is_stacked)
            elif kind == "sup" and run.before(mark[0])[-1:].isdigit() and run.parts[mark[0]].isalnum():
                run.replace(mark, "^" + "".join(run.parts[mark[0] :]), 1)  # 2^31; other code stays as it is

    return leave


def _is_broken(node: LexborNode | None, *, forwards: bool) -> bool:
    """Whether a line break leads to the other of two scripts above one another."""
    if node is None or node.tag != "br":
        return False
    other = node.next if forwards else node.prev
    return other is not None and other.tag in _SCRIPTS


def _write(reader: Reader, node: LexborNode, kind: str, mark: tuple[int, int], *, is_stacked: bool) -> None:
    run, (index, start) = reader.run, mark
    before = run.before(index)
    if node.parent is not None and node.parent.tag in _SCRIPTS:
        before = (
            "" if node.prev is None else (node.prev.text_content or "")[-len(before) :]
        )  # not what is below
    if run.parts[index] in (COMMA, COLON) or run.parts[index].isspace():
        start += len(run.parts[index])
        index += 1
        before = ""
    written = "".join(run.parts[index:])
    inner = written.strip()
    lead = written[: written.find(inner)]
    above, reader.numerator = reader.numerator, None
    if kind in ("sub", "den") and above is not None and _is_fraction(above, run, index, start, kind):
        run.replace((above.part, above.start), (above.lead or "") + fraction(above.text, inner))
        return
    shown = inner
    if is_stacked and before[-1:].isdigit() and _TOLERANCE.fullmatch(inner) is not None:
        lead = SPACE
    elif kind == "sub":
        shown = lowered(before + lead, inner)
        lead = lead if shown == inner else ""
        if (
            is_stacked
            and above is not None
            and above.run is run
            and above.lead is None
            and above.end == start
        ):
            shown += "".join(run.parts[above.part :][: index - above.part])  # the index stands first: SO₄²⁻
            index, start = above.part, above.start
    elif kind == "sup" and _is_note(node):
        shown = inner if lead else note_mark(before, inner)
    elif kind == "root":
        shown = grouped(inner)
    elif kind == "sup":
        shown = raised(before + lead, inner, _after(node))
        lead = lead if raised(before + lead, inner) == inner else ""
    if lead + shown != written or index < mark[0]:
        moved = written.find(inner) - len(lead) - max(shown.find(inner), 0)
        run.replace((index, start), lead + shown, -moved)
    if kind in ("sup", "num"):
        apart: str | None = SPACE if written[:1].isspace() or before[-1:].isalnum() else ""
        if kind == "sup" and before[-1:].isalpha() and not written[:1].isspace():
            apart = None
        reader.numerator = Numerator(run, index, start, apart, inner, len(run.parts), run.length)


def _is_fraction(above: Numerator, run: TextRun, index: int, start: int, kind: str) -> bool:
    """Whether only a slash is between a superscript and what starts at a place of the run."""
    if above.lead is None or above.run is not run or start - above.end > len(" / "):
        return False
    between = "".join(run.parts[above.next_part : index]).strip()
    return between in _SLASHES or (kind == "den" and not between)


def _is_note(node: LexborNode) -> bool:
    """Whether a superscript is the mark of a note: a link to a place in a page."""
    attributes = node.attributes
    if _NOTE.match((attributes.get("class") or attributes.get("id") or "")[:_LONGEST]):
        return True
    return any(
        anchor is not None and anchor.tag == "a" and "#" in (anchor.attributes.get("href") or "")
        for anchor in (node.first_child, node.parent)
    )


def _after(node: LexborNode) -> str:
    """Return the text that follows an element directly; empty if there is none."""
    at: LexborNode | None = node
    for _ in range(_MOST_STEPS):
        if at is None:
            break
        if at.next is None:
            at = at.parent if at.parent is not None and at.parent.tag in _INLINE else None
            continue
        at = at.next
        while at is not None and at.tag in _INLINE and at.tag not in _SCRIPTS and at.first_child is not None:
            at = at.first_child
        if at is not None and at.tag == "-text":
            return at.text_content or ""
    return ""
