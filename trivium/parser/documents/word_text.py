"""Reads the text of a Word file's paragraphs: runs, links, notes, pictures, text boxes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from trivium.parser.documents.drawings import EmbeddedPicture, drawn_texts, embedded_picture
from trivium.parser.documents.office import Package, R
from trivium.parser.documents.office_text import M, ShiftedText, formula
from trivium.parser.documents.word_numbering import Numbering
from trivium.parser.documents.word_styles import CharacterLook, Styles, W
from trivium.parser.symbol_fonts import symbols
from trivium.parser.text_runs import BREAK, LINE, SPACE, TextRun, Verbatim
from trivium.types import ChunkKind

_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_BLIP = "{http://schemas.openxmlformats.org/drawingml/2006/main}blip"
_IMAGE_DATA = "{urn:schemas-microsoft-com:vml}imagedata"
_PROPERTIES = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}docPr"
_BOX = f"{W}txbxContent"
_ALTERNATIVES = f"{_MC}AlternateContent"

# Elements whose content is treated as if it were in their parent.
_TRANSPARENT = frozenset(f"{W}{name}" for name in ("sdtContent", "ins", "moveTo", "customXml", "smartTag"))
_CONTROL = f"{W}sdt"
# Deleted text, properties, and the readings of ruby.
_SKIPPED = frozenset(
    f"{W}{name}" for name in ("del", "moveFrom", "pPr", "rPr", "instrText", "delText", "sdtPr", "rt")
)
_NOTES = {
    f"{W}footnoteReference": "footnotes",
    f"{W}endnoteReference": "endnotes",
    f"{W}commentReference": "comments",
}
_BREAKS = {f"{W}tab": "\t", f"{W}ptab": "\t", f"{W}br": LINE, f"{W}cr": LINE}
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//|#|$", re.IGNORECASE)
_CODE = re.compile(r"[0-9a-fA-F]{1,4}")
_FIELD = re.compile(r'HYPERLINK\s+"([^"]+)"', re.IGNORECASE)


@dataclass(slots=True)
class Paragraph:
    """A paragraph. Its text begins with its automatic number ``label``. ``references`` are addresses of other files with
    their offsets; ``notes`` are keys for :meth:`WordText.note`; ``boxes`` are the elements of its text boxes;
    ``drawn`` are the texts of charts and diagrams.
    """

    run: TextRun = field(default_factory=TextRun)
    references: list[tuple[str, int]] = field(default_factory=list)
    pictures: list[EmbeddedPicture] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    boxes: list[Any] = field(default_factory=list)
    drawn: list[tuple[ChunkKind, TextRun]] = field(default_factory=list)
    label: str = ""


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


_MARGIN = "|"


class WordText:
    """Reads the paragraphs of a document."""

    def __init__(self, package: Package, part: str, styles: Styles) -> None:
        """``part`` is the name of the main part, whose relations lead to links, pictures and notes."""
        self._package = package
        self._part = part
        self._styles = styles
        self._numbering = Numbering(package.related(part, "numbering", "the automatic numbers")[1], styles)
        self._note_elements: dict[str, dict[str, Any]] = {}

    def plain(self, element: Any) -> str:
        """Return only the text of a paragraph, without its number."""
        return self._read(element, Paragraph()).run.text

    def paragraph(self, element: Any) -> Paragraph:
        """Read a paragraph with everything attached to it. It must be called once for each, because it counts them."""
        paragraph = self._read(element, Paragraph())
        label = self._numbering.label(element.find(f"{W}pPr"))
        if label and paragraph.run.length:
            numbered = TextRun()
            numbered.add(f"{label} ")
            shift = numbered.length + 1
            numbered.append(paragraph.run)
            paragraph.run, paragraph.label = numbered, label
            paragraph.references = [(address, at + shift) for address, at in paragraph.references]
        return paragraph

    def code(self, element: Any) -> str:
        """Return the text of a paragraph with its spaces, tabs and line breaks."""
        run = Verbatim()
        run.parts.append(_MARGIN)  # keeps the indentation of the first line
        run.length = len(_MARGIN)
        self._read(element, Paragraph(run))
        return run.text[len(_MARGIN) :]

    def _read(self, element: Any, paragraph: Paragraph) -> Paragraph:
        properties = element.find(f"{W}pPr")
        text = ShiftedText(paragraph.run)
        look = CharacterLook()
        stack = [iter(content(element))]
        while stack:
            child = next(stack[-1], None)
            if child is None:
                stack.pop()
                continue
            tag = child.tag
            if tag == f"{W}t":
                text.add(symbols(child.text or "", look.font), look.shift)
            elif tag == f"{W}sym":
                text.add(_symbol(child), look.shift)
            elif tag == f"{M}oMath":
                text.add_formula(formula(child))
            elif tag in _BREAKS:
                text.end()
                if isinstance(paragraph.run, Verbatim):
                    paragraph.run.add(_BREAKS[tag])
                paragraph.run.separate(SPACE if _BREAKS[tag] != LINE else BREAK)
            elif tag == f"{W}noBreakHyphen":
                text.add("-", look.shift)
            elif tag in _NOTES:
                paragraph.notes.append((_NOTES[tag], child.get(f"{W}id") or ""))
            elif tag in (f"{W}drawing", f"{W}pict", f"{W}object"):
                self._drawing(paragraph, child)
            elif isinstance(tag, str):
                self._reference(paragraph, child)
                if tag == f"{W}r":
                    look = self._styles.characters(properties, child.find(f"{W}rPr"))
                if tag != f"{W}r" or not look.is_hidden:
                    stack.append(iter(content(child)))
        text.end()
        return paragraph

    def _reference(self, paragraph: Paragraph, element: Any) -> None:
        """Add the address of another file that an element links to. Web addresses are dropped."""
        address = None
        if element.tag == f"{W}hyperlink":
            address = self._target(element.get(f"{R}id"))
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
        relation = self._package.relations(self._part).get(identifier or "")
        return unquote(relation.target) if relation is not None and relation.is_external else None

    def note(self, key: tuple[str, str]) -> Any | None:
        """Return the element of a note; None if it does not exist or was returned before, because a note referenced
        twice is read once.
        """
        kind, identifier = key
        if kind not in self._note_elements:
            self._note_elements[kind] = self._read_notes(kind)
        return self._note_elements[kind].pop(identifier, None)

    def _read_notes(self, kind: str) -> dict[str, Any]:
        _, root = self._package.related(self._part, kind, f"the {kind}")
        notes = () if root is None else root.iterchildren("{*}*")
        return {note.get(f"{W}id") or "": note for note in notes if note.get(f"{W}type") is None}

    def _drawing(self, paragraph: Paragraph, element: Any) -> None:
        """Add the pictures and text boxes of a drawing."""
        paragraph.boxes.extend(_outermost_boxes(element))
        paragraph.drawn += drawn_texts(self._package, self._part, element, "")
        described = next(element.iter(_PROPERTIES), None)
        alt = "" if described is None else described.get("descr") or described.get("title") or ""
        for blip in element.iter(_BLIP, _IMAGE_DATA):
            identifier = blip.get(f"{R}embed") or blip.get(f"{R}id") or ""
            picture = embedded_picture(self._package, self._part, identifier, alt)
            if picture is not None:
                paragraph.pictures.append(picture)


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


def _symbol(element: Any) -> str:
    code = element.get(f"{W}char") or ""
    return symbols(chr(int(code, 16)), element.get(f"{W}font")) if _CODE.fullmatch(code) else ""


def _address_in_field(code: str) -> str | None:
    found = _FIELD.search(code)
    return None if found is None else found[1]
