"""Walks the content of a page once and tells headings, blocks and links apart.

The walk keeps its own stack, so that twenty thousand nested elements need no more of Python's than two. Every
tag that means something has an entry function (``HANDLERS``); it answers with what to do when the element
ends, ``None`` when nothing is to be done (its content is read as if the tag were not there), or :data:`SKIP`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Final

from trivium.parser.document import Document
from trivium.parser.links import link_target
from trivium.parser.runs import COMMA, LINE, Run, indented_line
from trivium.types import ChunkKind

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from trivium.parser.grid import Table


class Mode(Enum):
    """What the edge of a block means at the present place."""

    FLOW = "flow"  # it ends a chunk
    LINES = "lines"  # it ends a line of the chunk (lists, quotes, definitions)
    CELL = "cell"  # it separates parts of a table cell


Leave = Callable[["Reader"], None]
Enter = Callable[["Reader", "LexborNode"], Leave | None]


def _skipped(_reader: Reader) -> None:
    """Never called: an element that is left out is not left."""


SKIP: Final[Leave] = _skipped  # an entry function's answer: leave the element out with all its content

_SHORT_LINE = 60  # characters; longer ones are paragraphs, whatever the markup

HANDLERS: dict[str | None, Enter] = {}


def handles(*tags: str) -> Callable[[Enter], Enter]:
    """Registers an entry function for some tags."""

    def register(function: Enter) -> Enter:
        HANDLERS.update(dict.fromkeys(tags, function))
        return function

    return register


class Reader:
    """The place reached in the page: the run being filled, what surrounds it, and the link it stands in."""

    def __init__(self, title: str | None, host: str | None) -> None:
        self.document = Document()
        self.title = title
        self.host = host
        self.run = Run()
        self.mode = Mode.FLOW
        self.kind = ChunkKind.PARAGRAPH
        self.depth = 0  # of lists inside the present chunk
        self.tables: list[Table | None] = []  # around the present place; None: it only arranges content
        self._line = 0  # where the present line of loose text begins
        self._outer: list[tuple[Run, Mode, ChunkKind, int]] = []
        self._target: str | None = None  # of the link the present place is in
        self._recorded = False  # whether a part of that link has been recorded already
        self._mark = (0, 0)

    def read(self, root: LexborNode) -> None:
        """Reads everything below ``root`` into the document."""
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

    def open(self, run: Run, mode: Mode, kind: ChunkKind) -> None:
        """Turns to a new run; :meth:`close` returns to the present one."""
        if self._target is not None:
            self._cut_anchor()
            self._mark = run.mark()
        self._outer.append((self.run, self.mode, self.kind, self.depth))
        self.run, self.mode, self.kind, self.depth = run, mode, kind, 0

    def close(self) -> Run:
        """Returns to the run before :meth:`open`; answers the one that ends."""
        ended = self.run
        if self._target is None:
            self.run, self.mode, self.kind, self.depth = self._outer.pop()
            return ended
        self._cut_anchor()
        self.run, self.mode, self.kind, self.depth = self._outer.pop()
        self._mark = self.run.mark()
        return ended

    def leave_run(self) -> None:
        """Returns to the run before :meth:`open`; the one that ends has its owner."""
        self.close()

    def open_chunk(self, kind: ChunkKind) -> None:
        """Begins a chunk whose inner blocks are lines; :meth:`close_chunk` ends it."""
        self.flush()
        self.open(Run(), Mode.LINES, kind)

    def close_chunk(self) -> None:
        kind = self.kind
        self.document.block(kind, self.close())

    def flush(self) -> None:
        """Ends the chunk that is being written, if there is one, at the level of the page's flow."""
        if self._target is not None:
            self._cut_anchor()
        if self.run.length:
            self.document.block(ChunkKind.LIST if LINE in self.run.parts else self.kind, self.run)
        self._renew()

    def _renew(self) -> None:
        self.run = Run()
        self._line = 0
        self._mark = (0, 0)

    def edge(self) -> None:
        """Marks the edge of a block."""
        if self.mode is Mode.FLOW:
            if self.run.length:
                self.flush()
            else:
                self._renew()  # forgets white space and icons before the block
        elif self.mode is Mode.LINES:
            self.run.separate(indented_line(self.depth - 1))
        else:
            self.run.separate(COMMA)

    def soft_edge(self) -> None:
        """Marks the edge of a container, which may hold anything from a word to a section.

        Labels of a diagram or a legend come one a container: short lines stay together in one chunk.
        """
        if self.mode is Mode.FLOW and 0 < self.run.length < self._line + _SHORT_LINE:
            self.run.separate(LINE)
            self._line = self.run.length
        else:
            self.edge()

    def anchor(self, href: str) -> bool:
        """Begins a link; False when it does not lead to another article."""
        target = link_target(href, self.host)
        if target is None or target == self.title:
            return False
        self._target = target
        self._recorded = False
        self._mark = self.run.mark()
        return True

    def end_anchor(self) -> None:
        """Ends the link begun last; one around an image alone is kept without visible text."""
        target = self._target
        if target is not None:
            run = self.run
            if run.length > self._mark[1] or not self._recorded:
                run.link(target, self._mark)
            self._target = None

    def _cut_anchor(self) -> None:
        """Records the part of an open link that lies in the run about to be left."""
        if self._target is not None and self.run.length > self._mark[1]:
            self.run.link(self._target, self._mark)
            self._recorded = True
