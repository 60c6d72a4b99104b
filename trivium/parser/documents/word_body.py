"""Reads the body of a Word file, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from trivium.limits import InputLimits
from trivium.parser.document import Document
from trivium.parser.documents.archive import Archive
from trivium.parser.documents.embedded import EmbeddedPicture
from trivium.parser.documents.office import Deadline
from trivium.parser.documents.word_styles import Look, Role, Styles, W, is_on
from trivium.parser.documents.word_table import read_table
from trivium.parser.documents.word_text import Paragraph, WordText, content
from trivium.parser.pictures import Pictures
from trivium.parser.runs import LINE, TextRun, indented_line
from trivium.text import normalise_title
from trivium.types import ChunkKind

_MAX_HEADING = 300  # characters; a longer paragraph in a heading style is text
_MAX_BOLD = 80  # the same for a heading recognised only because it is bold
_KINDS = {Role.QUOTE: ChunkKind.QUOTE}


class Body:
    """Reads the content of a document into :attr:`document`."""

    def __init__(self, opened: Any, archive: Archive, limits: InputLimits, title: str | None) -> None:
        """``opened`` is a document of python-docx; ``title`` is the title in its properties."""
        self.document = Document(limits.headings)
        self.title: str | None = None
        """The title in its text: in the style for titles, else its only heading of the highest level."""
        self._root = opened.element.body
        self._styles = Styles(opened.styles.element)
        self._text = WordText(opened.part, archive)
        self._reader_of_pictures = Pictures(limits)
        self._deadline = Deadline(limits)
        self._known_title = title
        self._list = TextRun()
        self._list_references: list[tuple[str, int]] = []
        self._pictures: list[EmbeddedPicture] = []
        self._by_bold = False

    def read(self) -> None:
        """Read the entire body."""
        levels = [
            (look.level, self._text.plain(element))
            for element in self._root.iterchildren(f"{W}p")
            if (look := self._styles.look(element.find(f"{W}pPr"))).role is Role.HEADING
        ]
        self._by_bold = not levels
        self._find_title(levels)
        self._blocks(self._root)
        self._flush()

    def _find_title(self, headings: list[tuple[int, str]]) -> None:
        for element in self._root.iterchildren(f"{W}p"):
            if self._styles.look(element.find(f"{W}pPr")).role is Role.TITLE:
                self.title = normalise_title(self._text.plain(element)[:_MAX_HEADING]) or None
                break
        if self.title is None and self._known_title is None and headings:
            highest = min(level for level, _ in headings)
            top = [text for level, text in headings if level == highest]
            if len(top) == 1 and headings[0] == (highest, top[0]):
                self.title = normalise_title(top[0][:_MAX_HEADING]) or None

    def _blocks(self, parent: Any) -> None:
        for element in content(parent):
            self._deadline.check()
            if element.tag == f"{W}p":
                self._paragraph(element)
            elif element.tag == f"{W}tbl":
                self._table(element)

    def _paragraph(self, element: Any) -> None:
        look = self._styles.look(element.find(f"{W}pPr"))
        if look.role is Role.CONTENTS:
            return
        paragraph = self._text.paragraph(element)
        text = paragraph.run.text
        if look.role is Role.TEXT and self._by_bold and _is_bold_heading(element, text):
            look = Look(Role.HEADING, 1)
        if look.role is Role.HEADING and len(text) > _MAX_HEADING:
            look = Look(Role.TEXT)
        if look.role is Role.CAPTION and self._pictures and text:
            self._pictures[-1] = replace(self._pictures[-1], caption=text)
        elif look.role is Role.LIST:
            self._item(paragraph, look.level)
        elif text:
            self._flush()
            self._write(paragraph, look)
        if paragraph.pictures:
            self._flush()
            self._pictures = list(paragraph.pictures)
        for key in paragraph.notes:
            note = self._text.note(key)
            if note is not None:
                self._flush_list()
                self._note(note)
        for box in paragraph.boxes:
            self._flush()
            self._blocks(box)

    def _write(self, paragraph: Paragraph, look: Look) -> None:
        text = paragraph.run.text
        if look.role in (Role.HEADING, Role.TITLE):
            name = " ".join(text.split())
            is_first = not self.document.has_sections
            if is_first and normalise_title(name) in (self.title, self._known_title):
                return  # the page's title
            if look.role is Role.HEADING:
                self.document.heading(name, look.level)
                return
        self.document.block(
            _KINDS.get(look.role, ChunkKind.PARAGRAPH), paragraph.run, references=paragraph.references
        )

    def _item(self, paragraph: Paragraph, level: int) -> None:
        self._flush_pictures()
        if not paragraph.run.length:
            return
        self._list.separate(indented_line(level) if self._list.length else LINE)
        before = self._list.length
        self._list.append(paragraph.run)
        shift = self._list.length - paragraph.run.length if before else 0
        self._list_references += [(address, shift + at) for address, at in paragraph.references]

    def _note(self, note: Any) -> None:
        run = TextRun()
        references: list[tuple[str, int]] = []
        for element in content(note):
            if element.tag == f"{W}p":
                paragraph = self._text.paragraph(element)
                run.separate(" ")
                run.append(paragraph.run)
                references += paragraph.references
        self.document.block(ChunkKind.PARAGRAPH, run, references=references)

    def _table(self, element: Any) -> None:
        self._flush()
        box = _only_cell(element)
        if box is not None:  # a frame around text
            self._blocks(box)
            return
        table = read_table(element, self._text)
        self.document.block(ChunkKind.TABLE, table.run, references=table.references)
        for picture in table.pictures:
            picture.add_to(self.document, self._reader_of_pictures)

    def _flush(self) -> None:
        self._flush_list()
        self._flush_pictures()

    def _flush_list(self) -> None:
        if self._list.length:
            self.document.block(ChunkKind.LIST, self._list, references=self._list_references)
            self._list, self._list_references = TextRun(), []

    def _flush_pictures(self) -> None:
        for picture in self._pictures:
            picture.add_to(self.document, self._reader_of_pictures)
        self._pictures = []


def _only_cell(table: Any) -> Any | None:
    cells = table.findall(f"{W}tr/{W}tc")
    return cells[0] if len(cells) == 1 else None


def _is_bold_heading(paragraph: Any, text: str) -> bool:
    """Whether a paragraph looks like a heading in a document without heading styles: short, entirely bold, not a
    sentence.
    """
    if not 0 < len(text) <= _MAX_BOLD or text[-1] in ".,;:!?" or not any(map(str.isalpha, text)):
        return False
    return all(_is_bold(run) for run in _runs_with_text(paragraph))


def _runs_with_text(paragraph: Any) -> Iterator[Any]:
    for run in paragraph.iter(f"{W}r"):
        if any((text.text or "").strip() for text in run.iterchildren(f"{W}t")):
            yield run


def _is_bold(run: Any) -> bool:
    properties = run.find(f"{W}rPr")
    return properties is not None and is_on(properties, "b")
