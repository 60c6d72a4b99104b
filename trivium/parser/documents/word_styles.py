"""Determines the role of paragraphs and the look of their characters from the styles of a Word file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from trivium.parser.documents.office import local

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
    CODE = "code"
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
    (
        re.compile(
            r"(?:.*[ _-])?(?:source ?code|code|listing|verbatim|preformatted|macro|terminal)(?:[ _-]?(?:text|block|\d))?",
            re.IGNORECASE,
        ),
        Role.CODE,
    ),
    (re.compile(r"list (?:bullet|number|paragraph|continue).*|list", re.IGNORECASE), Role.LIST),
)


_CHARACTER = ("vertAlign", "position", "vanish", "strike", "dstrike")
_OFF = frozenset(("0", "false", "off", "none"))
_FEW_POINTS = 4  # half points; characters moved further are raised or lowered
_MONOSPACED = re.compile(
    r"(?:courier|source code|cascadia).*|consolas|menlo|monaco|inconsolata|lucida console|fira code|.*\bmono\b.*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class CharacterLook:
    """How characters look. ``shift`` is 1 if they are raised, -1 if lowered. Struck-through characters are hidden."""

    shift: int = 0
    is_hidden: bool = False
    font: str | None = None

    @property
    def is_monospaced(self) -> bool:
        return self.font is not None and _MONOSPACED.fullmatch(self.font) is not None


class Styles:
    """The styles of paragraphs and characters of a document, by id."""

    def __init__(self, styles: Any | None) -> None:
        """``styles`` is the ``<w:styles>`` element, None if there is none."""
        self._elements: dict[str, Any] = {}
        self._default: str | None = None
        for style in () if styles is None else styles.iterchildren(f"{W}style"):
            if style.get(f"{W}type") not in ("paragraph", "character"):
                continue
            identifier = style.get(f"{W}styleId") or ""
            self._elements.setdefault(identifier, style)
            if style.get(f"{W}default") in ("1", "true", "on") and style.get(f"{W}type") == "paragraph":
                self._default = identifier
        self._looks: dict[str | None, Look] = {}
        self._characters: dict[str | None, dict[str, str]] = {}
        self._of_document = (
            {} if styles is None else _characters(styles.find(f"{W}docDefaults/{W}rPrDefault/{W}rPr"))
        )
        self.is_monospaced = self.characters(None, None).is_monospaced
        """Whether the text of the document is, apart from characters with a look of their own."""

    def characters(self, paragraph: Any | None, run: Any | None) -> CharacterLook:
        """Return the look of a run with the properties ``run`` (``<w:rPr>``, or None) in a paragraph with the properties
        ``paragraph`` (``<w:pPr>``, or None).
        """
        style = None if paragraph is None else value(paragraph, "pStyle")
        of_style = self._of_characters(style or self._default)
        if run is None:
            found = of_style
        else:
            found = {**of_style, **self._of_characters(value(run, "rStyle"), of_run=True), **_characters(run)}
        if not found:
            return CharacterLook()
        align, position = found.get("vertAlign"), found.get("position", "0")
        points = int(position) if re.fullmatch(r"-?\d{1,4}", position) else 0
        shift = {"superscript": 1, "subscript": -1}.get(align or "", 0)
        if shift == 0 and abs(points) >= _FEW_POINTS:
            shift = 1 if points > 0 else -1
        is_hidden = any(found.get(name, "0") not in _OFF for name in ("vanish", "strike", "dstrike"))
        return CharacterLook(shift, is_hidden, found.get("font"))

    def _of_characters(self, identifier: str | None, *, of_run: bool = False) -> dict[str, str]:
        if identifier is None and of_run:
            return {}
        if identifier not in self._characters:
            found = {} if of_run else dict(self._of_document)
            for style in reversed(list(self._bases(identifier))):
                found |= _characters(style.find(f"{W}rPr"))
            self._characters[identifier] = found
        return self._characters[identifier]

    def numbering(self, properties: Any | None) -> tuple[str | None, int | None, str | None]:
        """Return how a paragraph with these properties is numbered: the number of its list, its level (None: that of
        its style), and the style that says so.
        """
        own = None if properties is None else properties.find(f"{W}numPr")
        number = None if own is None else value(own, "numId")
        level = None if own is None else _digits(value(own, "ilvl"))
        style = (None if properties is None else value(properties, "pStyle")) or self._default
        if number is not None:
            return number, level or 0, None
        for of_style in self._bases(style):
            numbered = of_style.find(f"{W}pPr/{W}numPr")
            if numbered is not None:
                level = _digits(value(numbered, "ilvl")) if level is None else level
                return value(numbered, "numId"), level, of_style.get(f"{W}styleId")
        return None, None, None

    def number_of_style(self, identifier: str) -> str | None:
        """Return the number of the list that a style defines."""
        style = self._elements.get(identifier)
        numbered = None if style is None else style.find(f"{W}pPr/{W}numPr")
        return None if numbered is None else value(numbered, "numId")

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
            return Look(Role.LIST, min(_digits(value(numbering, "ilvl")) or 0, 8))
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
    return child is not None and child.get(f"{W}val") not in _OFF


def _characters(properties: Any | None) -> dict[str, str]:
    """Return what ``<w:rPr>`` says of the look of characters."""
    found: dict[str, str] = {}
    for child in () if properties is None else properties:
        name = local(child)
        if name in _CHARACTER:
            found[name] = child.get(f"{W}val") or "on"
        elif name == "rFonts" and (font := child.get(f"{W}ascii") or child.get(f"{W}hAnsi")):
            found["font"] = font
    return found


def _digits(text: str | None) -> int | None:
    return int(text) if text and len(text) < _BODY_LEVEL and text.isascii() and text.isdigit() else None


def _level(outline: str | None) -> int | None:
    number = _digits(outline)
    return number + 1 if number is not None and number < _BODY_LEVEL else None


def _level_in_name(name: str) -> int:
    """Return the level in the name of a list style: "List Bullet 3" is the third level."""
    return int(name[-1]) - 1 if name[-1:] in tuple("23456789") else 0
