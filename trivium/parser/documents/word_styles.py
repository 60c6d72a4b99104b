"""Determines the role of a paragraph from the styles of a Word file: heading, title, list, caption, quotation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
"""The XML namespace of Word's elements."""

_MAX_BASES = 20  # styles may be based on each other in a cycle
_BODY_LEVEL = 9  # an outline level that means body text
# Word keeps the English names of its built-in styles in every language; other programs use translated names.
_HEADING = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|kop|rubrik|otsikko|overskrift|nagłówek|nadpis|заголовок|标题|見出し)\s*(\d)",
    re.IGNORECASE,
)


class Role(Enum):
    """The role of a paragraph."""

    TEXT = "text"
    HEADING = "heading"
    TITLE = "title"
    LIST = "list"
    CAPTION = "caption"
    QUOTE = "quote"
    CONTENTS = "contents"  # a line of a table of contents


@dataclass(frozen=True, slots=True)
class Look:
    """The role of a paragraph, with the ``level`` of headings (from 1) and lists (from 0)."""

    role: Role
    level: int = 0


_NAMES = (
    (re.compile(r"toc\b.*|table of (?:figures|authorities)|index \d", re.IGNORECASE), Role.CONTENTS),
    (re.compile(r"title", re.IGNORECASE), Role.TITLE),
    (re.compile(r"caption", re.IGNORECASE), Role.CAPTION),
    (re.compile(r"(?:intense )?quot(?:e|ations)|block text", re.IGNORECASE), Role.QUOTE),
    (re.compile(r"list (?:bullet|number|paragraph|continue).*|list", re.IGNORECASE), Role.LIST),
)


class Styles:
    """The paragraph styles of a document, by id."""

    def __init__(self, styles: Any) -> None:
        """``styles`` is the ``<w:styles>`` element."""
        self._elements: dict[str, Any] = {}
        self._default: str | None = None
        for style in styles.iterchildren(f"{W}style"):
            if style.get(f"{W}type") != "paragraph":
                continue
            identifier = style.get(f"{W}styleId") or ""
            self._elements.setdefault(identifier, style)
            if style.get(f"{W}default") in ("1", "true", "on"):
                self._default = identifier
        self._looks: dict[str | None, Look] = {}

    def look(self, properties: Any) -> Look:
        """Return the role of a paragraph with these properties (``<w:pPr>``, or None)."""
        if properties is None:
            return self._of_style(self._default)
        style = value(properties, "pStyle") or self._default
        look = self._of_style(style)
        outline = value(properties, "outlineLvl")
        if outline is not None and look.role is not Role.CONTENTS:
            level = _level(outline)
            if level is not None:
                return Look(Role.HEADING, level)
            if look.role is Role.HEADING and outline == str(_BODY_LEVEL):
                look = Look(Role.TEXT)
        numbering = properties.find(f"{W}numPr")
        if numbering is not None and look.role in (Role.TEXT, Role.LIST):
            if value(numbering, "numId") == "0":  # not numbered, regardless of the style
                return Look(Role.TEXT)
            indent = value(numbering, "ilvl") or "0"
            return Look(Role.LIST, min(int(indent), 8) if indent.isascii() and indent.isdigit() else 0)
        return look

    def _of_style(self, identifier: str | None) -> Look:
        if identifier not in self._looks:
            self._looks[identifier] = self._found(identifier)
        return self._looks[identifier]

    def _found(self, identifier: str | None) -> Look:
        for style in self._bases(identifier):
            name = value(style, "name") or style.get(f"{W}styleId") or ""
            heading = _HEADING.fullmatch(name.strip())
            if heading is not None:
                return Look(Role.HEADING, max(int(heading[1]), 1))
            role = next((role for pattern, role in _NAMES if pattern.fullmatch(name.strip())), None)
            if role is not None:
                return Look(role, _level_in_name(name) if role is Role.LIST else 0)
            properties = style.find(f"{W}pPr")
            if properties is None:
                continue
            level = _level(value(properties, "outlineLvl"))
            if level is not None:
                return Look(Role.HEADING, level)
            numbering = properties.find(f"{W}numPr")
            if numbering is not None and value(numbering, "numId") != "0":
                return Look(Role.LIST)
        return Look(Role.TEXT)

    def _bases(self, identifier: str | None) -> Iterator[Any]:
        for _ in range(_MAX_BASES):
            style = self._elements.get(identifier or "")
            if style is None:
                return
            yield style
            identifier = value(style, "basedOn")


def value(parent: Any, name: str) -> str | None:
    """Return the value of a property: ``<w:NAME w:val="...">`` below ``parent``."""
    child = parent.find(f"{W}{name}")
    return None if child is None else child.get(f"{W}val")


def is_on(parent: Any, name: str) -> bool:
    """Whether a boolean property is on."""
    child = parent.find(f"{W}{name}")
    return child is not None and child.get(f"{W}val") not in ("0", "false", "off", "none")


def _level(outline: str | None) -> int | None:
    if outline is None or not (outline.isascii() and outline.isdigit()):
        return None
    return int(outline) + 1 if int(outline) < _BODY_LEVEL else None


def _level_in_name(name: str) -> int:
    """Return the level in the name of a list style: "List Bullet 3" is the third level."""
    return int(name[-1]) - 1 if name[-1:] in tuple("23456789") else 0
