"""The code blocks of the documentation, as its readers copy them.

A block of ``sh`` or ``python`` is executed by tests/e2e/test_documentation.py unless a comment on the line above says
otherwise:

``<!-- not run: REASON -->``    what cannot run in a test, with the reason;
``<!-- keeps running -->``      a server: started, waited for, and stopped at the end of the page;
``<!-- exit code N -->``        a command that is shown because it fails;
``<!-- file: PATH -->``         a file of the repository, word for word, which the blocks below find in their folder.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[1]
EXECUTED = frozenset({"sh", "python"})
SHOWN = frozenset({"json", "toml", "text", "cypher"})
"""Languages of blocks that are output, data, or tested by their own tests."""

_NOT_RUN = re.compile(r"<!-- not run: (.+?) -->")
_EXIT_CODE = re.compile(r"<!-- exit code (\d+) -->")
_FILE = re.compile(r"<!-- file: (\S+) -->")
_KEEPS_RUNNING = "<!-- keeps running -->"


@dataclass(frozen=True, slots=True)
class Block:
    """A block: where it begins, what it is, and what the comment above says of it. ``not_run`` is the reason why it is
    left out, None where it runs; ``file`` the path of the file that it is, None where it is none."""

    page: str
    line: int
    language: str
    text: str
    not_run: str | None = None
    keeps_running: bool = False
    exit_code: int = 0
    file: str | None = None

    @property
    def place(self) -> str:
        """For messages."""
        return f"{self.page}:{self.line}"


def blocks(page: str) -> list[Block]:
    """The blocks of a page (its path in the repository), in order. Raises ValueError for one whose language is none of
    those above, and for a comment that no block follows."""
    found: list[Block] = []
    note: str | None = None
    for token in MarkdownIt("commonmark").parse((ROOT / page).read_text("utf-8")):
        if token.type == "html_block" and (comment := _comment(token.content)):
            note = comment
            continue
        if token.type == "code_block":
            raise ValueError(
                f"{page}:{_line(token.map)}: expected a block with a language, got indented code"
            )
        if token.type == "fence":
            found.append(_block(page, _line(token.map), token.info.strip(), token.content, note))
        elif note is not None and token.nesting >= 0:
            raise ValueError(f"{page}:{_line(token.map)}: expected a code block after {note}")
        note = None
    return found


def _comment(html: str) -> str | None:
    text = html.strip()
    known = any(form.fullmatch(text) for form in (_NOT_RUN, _EXIT_CODE, _FILE)) or text == _KEEPS_RUNNING
    return text if known else None


def _line(lines: list[int] | None) -> int:
    return 0 if lines is None else lines[0] + 1


def _block(page: str, line: int, language: str, text: str, note: str | None) -> Block:
    if language not in EXECUTED | SHOWN:
        raise ValueError(
            f"{page}:{line}: expected a block of {', '.join(sorted(EXECUTED | SHOWN))}, got {language!r}"
        )
    reason = _NOT_RUN.fullmatch(note or "")
    code = _EXIT_CODE.fullmatch(note or "")
    file = _FILE.fullmatch(note or "")
    return Block(
        page,
        line,
        language,
        text,
        not_run=reason[1] if reason else None,
        keeps_running=note == _KEEPS_RUNNING,
        exit_code=int(code[1]) if code else 0,
        file=file[1] if file else None,
    )
