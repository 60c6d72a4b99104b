"""Reads the text of a Word file's paragraphs: runs, links, notes, pictures, text boxes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import unquote

from trivium.parser.documents.archive import Archive
from trivium.parser.documents.embedded import EmbeddedPicture
from trivium.parser.documents.word_styles import W
from trivium.parser.runs import SPACE, TextRun

_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_BLIP = "{http://schemas.openxmlformats.org/drawingml/2006/main}blip"
_IMAGE_DATA = "{urn:schemas-microsoft-com:vml}imagedata"
_PROPERTIES = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}docPr"
_MATH_TEXT = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_BOX = f"{W}txbxContent"
_ALTERNATIVES = f"{_MC}AlternateContent"

# Elements whose content is treated as if it were in their parent.
_TRANSPARENT = frozenset(f"{W}{name}" for name in ("sdtContent", "ins", "moveTo", "customXml", "smartTag"))
_CONTROL = f"{W}sdt"
# Deleted and hidden text.
_SKIPPED = frozenset(
    f"{W}{name}" for name in ("del", "moveFrom", "pPr", "rPr", "instrText", "delText", "sdtPr")
)
_NOTES = {f"{W}footnoteReference": "footnotes", f"{W}endnoteReference": "endnotes"}
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//|#|$", re.IGNORECASE)
_FIELD = re.compile(r'HYPERLINK\s+"([^"]+)"', re.IGNORECASE)


@dataclass(slots=True)
class Paragraph:
    """A paragraph. ``references`` are addresses of other files with their offsets; ``notes`` are keys for
    :meth:`WordText.note`; ``boxes`` are the elements of its text boxes.
    """

    run: TextRun = field(default_factory=TextRun)
    references: list[tuple[str, int]] = field(default_factory=list)
    pictures: list[EmbeddedPicture] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    boxes: list[Any] = field(default_factory=list)


def content(parent: Any) -> Iterator[Any]:
    """Yield the paragraphs and tables (rows, cells) of an element, including those in content controls and tracked
    insertions, except tables of contents.
    """
    stack = [iter(parent)]
    while stack:
        element = next(stack[-1], None)
        if element is None:
            stack.pop()
        elif element.tag in _TRANSPARENT:
            stack.append(iter(element))
        elif element.tag == _CONTROL:
            if not _is_contents(element):
                stack.append(iter(element))
        elif element.tag == _ALTERNATIVES:
            stack.append(iter(_chosen(element)))
        elif element.tag not in _SKIPPED:
            yield element


def _is_contents(control: Any) -> bool:
    gallery = control.find(f"{W}sdtPr/{W}docPartObj/{W}docPartGallery")
    return gallery is not None and "table of contents" in (gallery.get(f"{W}val") or "").lower()


def _chosen(alternatives: Any) -> list[Any]:
    """Return one of several alternative forms: the first, which is the newest."""
    for name in ("Choice", "Fallback"):
        found = alternatives.find(f"{_MC}{name}")
        if found is not None and len(found):
            return list(found)
    return []


class WordText:
    """Reads the paragraphs of a document."""

    def __init__(self, part: Any, archive: Archive) -> None:
        """``part`` is the main part of python-docx, whose relationships refer to links, pictures and notes."""
        self._part = part
        self._archive = archive
        self._note_elements: dict[str, dict[str, Any]] = {}

    def plain(self, element: Any) -> str:
        """Return only the text of a paragraph."""
        return self.paragraph(element).run.text

    def paragraph(self, element: Any) -> Paragraph:
        """Read a paragraph with everything attached to it."""
        paragraph = Paragraph()
        stack = [iter(content(element))]
        while stack:
            child = next(stack[-1], None)
            if child is None:
                stack.pop()
                continue
            tag = child.tag
            if tag in (f"{W}t", _MATH_TEXT):
                paragraph.run.add(child.text or "")
            elif tag in (f"{W}tab", f"{W}br", f"{W}cr", f"{W}ptab"):
                paragraph.run.separate(SPACE)
            elif tag == f"{W}noBreakHyphen":
                paragraph.run.add("-")
            elif tag in _NOTES:
                paragraph.notes.append((_NOTES[tag], child.get(f"{W}id") or ""))
            elif tag in (f"{W}drawing", f"{W}pict", f"{W}object"):
                self._drawing(paragraph, child)
            elif isinstance(tag, str):
                self._reference(paragraph, child)
                if not self._is_hidden(child):
                    stack.append(iter(content(child)))
        return paragraph

    @staticmethod
    def _is_hidden(run: Any) -> bool:
        hidden = run.find(f"{W}rPr/{W}vanish") if run.tag == f"{W}r" else None
        return hidden is not None and hidden.get(f"{W}val") not in ("0", "false", "off")

    def _reference(self, paragraph: Paragraph, element: Any) -> None:
        """Add the address of another file that an element links to. Web addresses are dropped."""
        address = None
        if element.tag == f"{W}hyperlink":
            address = self._target(element.get(f"{_R}id"))
            anchor = element.get(f"{W}anchor")
            address = f"{address}#{anchor}" if address and anchor and "#" not in address else address
        elif element.tag == f"{W}fldSimple":
            address = _address_in_field(element.get(f"{W}instr") or "")
        elif element.tag == f"{W}r":
            for field_code in element.iterchildren(f"{W}instrText"):
                address = address or _address_in_field(field_code.text or "")
        if address is not None and not _SCHEME.match(address):
            paragraph.references.append((address.replace("\\", "/"), paragraph.run.length))

    def _target(self, identifier: str | None) -> str | None:
        relationship = self._part.rels.get(identifier)
        if relationship is None or not relationship.is_external:
            return None
        return unquote(relationship.target_ref)

    def note(self, key: tuple[str, str]) -> Any | None:
        """Return the element of a note; None if it does not exist or was returned before, because a note referenced
        twice is read once.
        """
        kind, identifier = key
        if kind not in self._note_elements:
            self._note_elements[kind] = self._read_notes(kind)
        return self._note_elements[kind].pop(identifier, None)

    def _read_notes(self, kind: str) -> dict[str, Any]:
        from docx.oxml.parser import parse_xml

        for relationship in self._part.rels.values():
            if not relationship.is_external and relationship.reltype.endswith(f"/{kind}"):
                root = parse_xml(relationship.target_part.blob)
                return {note.get(f"{W}id") or "": note for note in root if note.get(f"{W}type") is None}
        return {}

    def _drawing(self, paragraph: Paragraph, element: Any) -> None:
        """Add the pictures and text boxes of a drawing."""
        paragraph.boxes.extend(_outermost_boxes(element))
        described = next(element.iter(_PROPERTIES), None)
        alt = "" if described is None else described.get("descr") or described.get("title") or ""
        for blip in element.iter(_BLIP, _IMAGE_DATA):
            identifier = blip.get(f"{_R}embed") or blip.get(f"{_R}id")
            relationship = self._part.rels.get(identifier)
            if relationship is not None and not relationship.is_external:
                name = str(relationship.target_part.partname).lstrip("/")
                paragraph.pictures.append(EmbeddedPicture(partial(self._archive.get, name), alt))


def _outermost_boxes(drawing: Any) -> Iterator[Any]:
    """Yield the outermost text boxes of a drawing, one alternative of each."""
    stack = [drawing]
    while stack:
        element = stack.pop()
        if element.tag == _BOX:
            yield element
        elif element.tag == _ALTERNATIVES:
            stack.extend(reversed(_chosen(element)))
        else:
            stack.extend(reversed(element))


def _address_in_field(code: str) -> str | None:
    found = _FIELD.search(code)
    return None if found is None else found[1]
