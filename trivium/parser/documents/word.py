"""DOCX: headings by the level of their styles, lists, tables, text boxes, notes, pictures.

The text is read from the XML part by part: libraries refuse a file for one part that is missing or damaged, and half of
the text (text boxes, notes, links, tracked changes, content controls) is not accessible through them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from textwrap import dedent
from typing import Any

from trivium.parser.document import DamagedPartError
from trivium.parser.documents.archive import Archive
from trivium.parser.documents.document_file import DocumentFile
from trivium.parser.documents.drawings import EmbeddedPicture
from trivium.parser.documents.office import Deadline, Package, translated
from trivium.parser.documents.word_styles import Look, Role, Styles, W, is_on
from trivium.parser.documents.word_table import read_table
from trivium.parser.documents.word_text import Paragraph, WordText, content
from trivium.parser.picture_text import Pictures
from trivium.parser.text_runs import LINE, TextRun, Verbatim, indented_line
from trivium.settings.limits import InputLimits
from trivium.text.normalise import normalise_title
from trivium.types import ChunkKind, Page

_MAX_HEADING = 300  # characters; a longer paragraph in a heading style is text
_MAX_BOLD = 80  # the same for a heading recognised only because it is bold
_FEW_WORDS = 6  # "Page 3 of 12" and the like
_SENTENCE = re.compile(r"(?s)[^\W\d_a-z].{20,}[.!?:]|.{200,}")  # what is no code
_KINDS = {Role.QUOTE: ChunkKind.QUOTE}


def read(file: DocumentFile, limits: InputLimits) -> Page:
    """Read the file as a page; see :class:`.DocumentReader`.

    Its chunks have no page numbers: a Word file does not contain page breaks, which are determined by the program that
    displays it.
    """
    package = Package(Archive(file.data, limits), limits)
    with translated("a Word file (.docx)"):
        properties = package.properties()
        body = Body(package, limits, properties.title)
        body.read()
    document = package.document
    document.expect_chunks("the document has no text")
    return properties.page_of(document, file, "docx", body.title)


class Body:
    """Reads the content of a document into :attr:`document`."""

    def __init__(self, package: Package, limits: InputLimits, title: str | None) -> None:
        """``title`` is the title in the properties of the document."""
        self.document = package.document
        self.title: str | None = None
        """The title in its text: in the style for titles, else its only heading of the highest level."""
        self._package = package
        self._main, root = package.main("word/document.xml", "document")
        self._root = root.find(f"{W}body")
        if self._root is None:
            raise DamagedPartError(f"{self._main!r} has no <body>")
        self._styles = Styles(package.related(self._main, "styles", "the styles")[1])
        self._text = WordText(package, self._main, self._styles)
        self._reader_of_pictures = Pictures(limits)
        self._deadline = Deadline(limits)
        self._known_title = title
        self._list = TextRun()
        self._list_references: list[tuple[str, int]] = []
        self._pictures: list[EmbeddedPicture] = []
        self._by_bold = False
        self._code: list[str] = []  # lines

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
        self._margins()

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
                with self.document.part("a paragraph"):
                    self._paragraph(element)
            elif element.tag == f"{W}tbl":
                with self.document.part("a table"):
                    self._table(element)

    def _margins(self) -> None:
        """Add what stands in the headers and footers of the pages, once, behind the text."""
        lines: dict[str, None] = {}
        for relation in self._package.relations(self._main).values():
            if relation.kind in ("header", "footer") and not relation.is_external:
                root = self._package.xml(relation.target, f"a page {relation.kind}")
                for element in () if root is None else root.iter(f"{W}p"):
                    line = " ".join(self._text.plain(element).split())
                    if not (_has_page_number(element) and len(line.split()) <= _FEW_WORDS):
                        lines[line] = None
        run = TextRun()
        for line in lines:
            if normalise_title(line) not in ("", self.title, self._known_title):
                run.separate(LINE)
                run.add(line)
        self.document.block(ChunkKind.PARAGRAPH, run)

    def _paragraph(self, element: Any) -> None:
        look = self._styles.look(element.find(f"{W}pPr"))
        if look.role is Role.CONTENTS:
            return
        paragraph = self._text.paragraph(element)
        text = paragraph.run.text
        if look.role is Role.CODE or (look.role is Role.TEXT and self._is_code(element, text)):
            self._flush_list()
            self._flush_pictures()
            self._code += self._text.code(element).split(LINE)
            return
        own = text[len(paragraph.label) :].strip()
        if look.role is Role.TEXT and self._by_bold and self._is_bold_heading(element, own):
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
        for kind, run in paragraph.drawn:
            self._flush()
            self.document.block(kind, run)
        for box in paragraph.boxes:
            self._flush()
            self._blocks(box)

    def _write(self, paragraph: Paragraph, look: Look) -> None:
        if look.role in (Role.HEADING, Role.TITLE):
            name = " ".join(paragraph.run.text.split())
            own = name[len(paragraph.label) :]
            is_first = not self.document.has_sections
            if is_first and normalise_title(own) in (self.title, self._known_title):
                self.document.title(name)
                return
            if look.role is Role.HEADING:
                self.document.heading(name, look.level)
                return
        self.document.block(
            _KINDS.get(look.role, ChunkKind.PARAGRAPH), paragraph.run, references=paragraph.references
        )

    def _item(self, paragraph: Paragraph, level: int) -> None:
        self._flush_pictures()
        self._flush_code()
        if not paragraph.run.length:
            return
        self._list.separate(indented_line(level) if self._list.length else LINE)
        before = self._list.length
        self._list.append(paragraph.run)
        shift = self._list.length - paragraph.run.length if before else 0
        self._list_references += [(address, shift + at) for address, at in paragraph.references]

    def _note(self, note: Any) -> None:
        run = TextRun()
        if note.tag == f"{W}comment":
            run.add(f"Comment by {note.get(f'{W}author') or 'a reader'}: ")
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

    def _is_code(self, element: Any, text: str) -> bool:
        """Whether a paragraph is set in a monospaced font although the document is not, and is no sentence."""
        if self._styles.is_monospaced:
            return False
        properties = element.find(f"{W}pPr")
        runs = [run.find(f"{W}rPr") for run in _runs_with_text(element)]
        if not runs:  # an empty line
            mark = None if properties is None else properties.find(f"{W}rPr")
            return bool(self._code) and not text and self._styles.characters(properties, mark).is_monospaced
        if not all(self._styles.characters(properties, run).is_monospaced for run in runs):
            return False
        return bool(self._code) or not _SENTENCE.fullmatch(text)

    def _is_bold_heading(self, paragraph: Any, text: str) -> bool:
        """Whether a paragraph looks like a heading in a document without heading styles: short, entirely bold, not a
        sentence.
        """
        if not 0 < len(text) <= _MAX_BOLD or text[-1] in ".,;:!?" or not any(map(str.isalpha, text)):
            return False
        runs = list(_runs_with_text(paragraph))
        return bool(runs) and all(map(_is_bold, runs))

    def _flush(self) -> None:
        self._flush_code()
        self._flush_list()
        self._flush_pictures()

    def _flush_code(self) -> None:
        lines, self._code = self._code, []
        run = Verbatim()
        run.add(dedent(LINE.join(lines)).strip(LINE))
        self.document.block(ChunkKind.CODE, run)

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


def _runs_with_text(paragraph: Any) -> Iterator[Any]:
    for run in paragraph.iter(f"{W}r"):
        if any((text.text or "").strip() for text in run.iterchildren(f"{W}t")):
            yield run


def _has_page_number(paragraph: Any) -> bool:
    codes = [field.text or "" for field in paragraph.iter(f"{W}instrText")]
    codes += [field.get(f"{W}instr") or "" for field in paragraph.iter(f"{W}fldSimple")]
    return any("PAGE" in code for code in codes)


def _is_bold(run: Any) -> bool:
    properties = run.find(f"{W}rPr")
    return properties is not None and is_on(properties, "b")
