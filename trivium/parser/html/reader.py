"""Traverses the content of a page once and passes headings, blocks and links to the document.

The traversal uses an explicit stack, so deeply nested elements cannot exceed Python's recursion limit. Every relevant
tag has a handler (``HANDLERS``), called when the element starts. It returns a function to call when the element ends,
None if nothing is to be done then (the content is read as if the tag were not there), or :data:`SKIP`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from trivium.parser.document import Document
from trivium.parser.html.link_targets import link_target
from trivium.parser.list_numbers import ListNumbers
from trivium.parser.text_runs import COMMA, LINE, SPACE, PictureText, TextRun, indented_line
from trivium.settings.limits import DEFAULT_LIMITS, InputLimits
from trivium.types import ChunkKind

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from trivium.parser.tables import Table


class Mode(Enum):
    """The meaning of a block edge at the current position."""

    FLOW = "flow"  # it ends a chunk
    LINES = "lines"  # it ends a line of the chunk (lists, quotes, definitions)
    CELL = "cell"  # it separates parts of a table cell


Leave = Callable[["Reader"], None]
Enter = Callable[["Reader", "LexborNode"], Leave | None]


def _skipped(_reader: Reader) -> None:
    """Never called; only marks skipped elements."""


SKIP: Final[Leave] = _skipped  # returned by a handler: skip the element with all its content

_CONTENT = frozenset(("div", "p", "section", "ul", "ol", "dl", "table", "blockquote", "pre"))
_PARTED = frozenset((ChunkKind.LIST, ChunkKind.QUOTE, ChunkKind.DEFINITION))
_SHORT_LINE = 60  # characters; longer lines are paragraphs regardless of the markup

HANDLERS: dict[str | None, Enter] = {}


def handles(*tags: str) -> Callable[[Enter], Enter]:
    """Register a handler for some tags."""

    def register(function: Enter) -> Enter:
        HANDLERS.update(dict.fromkeys(tags, function))
        return function

    return register


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture in a document. ``address`` is relative to the document; ``alt`` is the alternative text, ``title`` the
    tooltip, ``caption`` the text below. ``decorative``: the document marks it as such, or it is too small to be
    significant.
    """

    address: str
    alt: str
    title: str
    caption: str = ""
    decorative: bool = False


class Numerator(NamedTuple):
    """A superscript, which is a numerator if a slash and a subscript follow: its run, where it begins (part,
    character), the separator before it as a fraction (None if it follows a letter), its text, and where it ends.
    """

    run: TextRun
    part: int
    start: int
    lead: str | None
    text: str
    next_part: int
    end: int


LinkResolver = Callable[[str], str | None]
"""Maps the address of a link to the title it leads to, or an :class:`.Address`; None for neither.
"""

PictureReader = Callable[["Reader", Picture], None]
"""Called with every picture, in document order."""


class Reader:
    """The state of the traversal: the current run, the enclosing ones, and the open link."""

    def __init__(
        self,
        title: str | None,
        host: str | None,
        limits: InputLimits,
        *,
        resolve_link: LinkResolver | None = None,
        read_picture: PictureReader | None = None,
    ) -> None:
        """``host`` is the site of the page. ``resolve_link`` replaces the link rules of MediaWiki; ``read_picture``
        receives the pictures, which are dropped without it.
        """
        self.document = Document(limits.headings)
        self.title = title
        self.resolve_link = resolve_link or partial(link_target, host=host)
        self.read_picture = read_picture
        self.captions: dict[int, str] = {}
        """Captions of pictures that follow, by element."""
        self.written: set[int] = set()
        """Captions that follow and are already part of their picture."""
        self.keeps_anchors = resolve_link is not None  # in a MediaWiki, links to sections are links to pages
        self.titles_are_text = True  # but those of encyclopaedias, whose pages are named by them
        self.run = TextRun()
        self.mode = Mode.FLOW
        self.kind = ChunkKind.PARAGRAPH
        self.depth = 0  # nesting of lists inside the current chunk
        self.codes = 0  # elements of code around the current position
        self.numerator: Numerator | None = None
        self.numbers: dict[int, ListNumbers] = {}
        """Of the ordered lists so far, by element."""
        self.readings: list[str] = []
        """Of words with ruby in the current block, which end it."""
        self.tables: list[Table | None] = []  # enclosing tables, outermost first; None for a layout table
        self._line = 0  # offset at which the current line of loose text starts
        self._outer: list[tuple[TextRun, Mode, ChunkKind, int]] = []
        self._target: str | None = None  # of the open link
        self._recorded = False  # whether a part of that link was already recorded
        self._mark = (0, 0)

    def read(self, root: LexborNode) -> None:
        """Read everything below ``root`` into the document."""
        entry = HANDLERS.get
        stack: list[tuple[LexborNode, Leave | None]] = []
        node = root.first_child
        while True:
            if node is None:
                if not stack:
                    break
                node, leave = stack.pop()
                if leave is not None:
                    leave(self)
                node = node.next
                continue
            tag = node.tag
            if tag == "-text":
                self.run.add(node.text_content or "")
                node = node.next
                continue
            enter = entry(tag)
            action = None if enter is None else enter(self, node)
            if action is SKIP:
                if tag in _CONTENT and self.mode is Mode.FLOW and not self.run.length:
                    self.document.keep_headings_out()
                node = node.next
                continue
            child = node.first_child
            if child is not None:
                stack.append((node, action))
                node = child
                continue
            if action is not None:
                action(self)
            node = node.next
        self.flush()
        self.document.write_pictures()

    def open(self, run: TextRun, mode: Mode, kind: ChunkKind) -> None:
        """Switch to a new run; :meth:`close` returns to the current one."""
        if self._target is not None:
            self._cut_anchor()
            self._mark = run.mark()
        self._outer.append((self.run, self.mode, self.kind, self.depth))
        self.run, self.mode, self.kind, self.depth = run, mode, kind, 0

    def close(self) -> TextRun:
        """Return to the run before :meth:`open`, and return the run that ends."""
        if self.readings:
            self._write_readings()
        ended = self.run
        if self._target is None:
            self.run, self.mode, self.kind, self.depth = self._outer.pop()
            return ended
        self._cut_anchor()
        self.run, self.mode, self.kind, self.depth = self._outer.pop()
        self._mark = self.run.mark()
        return ended

    def leave_run(self) -> None:
        """Like :meth:`close`, if the caller of :meth:`open` holds the run."""
        self.close()

    def open_chunk(self, kind: ChunkKind) -> None:
        """Start a chunk whose inner blocks are lines; :meth:`close_chunk` ends it."""
        self.flush()
        self.open(TextRun(), Mode.LINES, kind)

    def write_apart(self, code: TextRun) -> bool:
        """Write code as a block of its own inside of a list or quotation, which goes on below it in another chunk.
        Returns False if the current chunk cannot be parted, as in a table.
        """
        if len(self._outer) != 1 or self.mode is not Mode.LINES or self.kind not in _PARTED:
            return False
        self.run.write_label()
        self._cut_anchor()
        self.document.block(self.kind, self.run)
        self.document.block(ChunkKind.CODE, code)
        self.run = TextRun()
        self._mark = (0, 0)
        return True

    def close_chunk(self) -> None:
        kind = self.kind
        self.document.block(kind, self.close())

    def flush(self) -> None:
        """End the chunk being written in the flow of the page, if any."""
        if self._target is not None:
            self._cut_anchor()
        if self.readings:
            self._write_readings()
        if self.run.length:
            self.document.block(ChunkKind.LIST if LINE in self.run.parts else self.kind, self.run)
        self._renew()

    def add_picture(self, run: PictureText) -> None:
        """Add the text of a picture as a block of its own, at once if no other block is being written."""
        self.document.picture(run)
        if self.mode is Mode.FLOW and not self.run.length:
            self.document.write_pictures()

    def _write_readings(self) -> None:
        self.run.separate(SPACE)
        self.run.add(f"({' '.join(self.readings)})")
        self.readings.clear()

    def _renew(self) -> None:
        self.run = TextRun()
        self._line = 0
        self._mark = (0, 0)

    def edge(self) -> None:
        """Mark the edge of a block."""
        if self.readings:
            self._write_readings()
        if self.mode is Mode.FLOW:
            if self.run.length:
                self.flush()
            else:
                self._renew()  # drops white space and icons before the block
        elif self.mode is Mode.LINES:
            self.run.separate(indented_line(self.depth - 1))
        else:
            self.run.separate(COMMA)

    def soft_edge(self) -> None:
        """Mark the edge of a container, which may contain anything from a word to a section.

        Each label of a diagram or legend has its own container, so short lines are kept in one chunk.
        """
        if self.mode is Mode.FLOW and 0 < self.run.length < self._line + _SHORT_LINE:
            self.run.separate(LINE)
            self._line = self.run.length
        else:
            self.edge()

    def anchor(self, href: str) -> bool:
        """Start a link. Returns False if it does not lead to another article."""
        target = self.resolve_link(href)
        if target is None or target == self.title:
            return False
        self._target = target
        self._recorded = False
        self._mark = self.run.mark()
        return True

    def end_anchor(self) -> None:
        """End the open link. A link around only an image is recorded without visible text."""
        target = self._target
        if target is not None:
            run = self.run
            if run.length > self._mark[1] or not self._recorded:
                run.link(target, self._mark)
            self._target = None

    def _cut_anchor(self) -> None:
        """Record the part of the open link that is in the current run, before the run changes."""
        if self._target is not None and self.run.length > self._mark[1]:
            self.run.link(self._target, self._mark)
            self._recorded = True


def inline_text(node: LexborNode | None) -> str:
    """Return the text of an element as that of a paragraph is read, on one line; empty without an element."""
    reader = Reader(None, None, DEFAULT_LIMITS, resolve_link=lambda _: None)
    reader.mode = Mode.LINES
    if node is not None:
        reader.read(node)
    return " ".join(reader.document.text.split())
